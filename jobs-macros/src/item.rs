//! Splits the annotated fn into its head and the tokens of its body. The body is never parsed: it may be mid-edit.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, ExprLit, Lit, Meta, Signature, Visibility,
    parse::{Parse, ParseStream},
};

/// The annotated fn.
pub(crate) struct Item {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl Item {
    /// The attributes that a generated item must carry as well.
    pub(crate) fn attrs_named(&self, name: &str) -> Vec<&Attribute> {
        attrs_named(&self.attrs, name)
    }

    /// The doc comment, each line without its leading space.
    pub(crate) fn doc(&self) -> String {
        let lines: Vec<String> = self.attrs_named("doc").into_iter().filter_map(doc_line).collect();
        lines.join("\n").trim().to_owned()
    }
}

/// The attributes of a name.
pub(crate) fn attrs_named<'a>(attrs: &'a [Attribute], name: &str) -> Vec<&'a Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident(name)).collect()
}

/// The text of one `#[doc = "…"]`.
pub(crate) fn doc_line(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        Meta::NameValue(doc) => match &doc.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                let text = text.value();
                Some(text.strip_prefix(' ').unwrap_or(&text).to_owned())
            }
            _ => None,
        },
        _ => None,
    }
}

/// The name of the fn in tokens that do not parse as one.
pub(crate) fn name_in(tokens: &TokenStream) -> Option<Ident> {
    let mut tokens = tokens.clone().into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))?;
    match tokens.next() {
        Some(TokenTree::Ident(name)) => Some(name),
        _ => None,
    }
}
