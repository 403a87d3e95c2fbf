//! Reads what the macros of a body have in common: `crate; ctx, "name",`. Downstream: the macro's own options and rest.

use crate::{args::value::literal_text, errors::Errors, expand::located};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{Expr, ExprLit, Lit, LitStr, Token, parse::ParseStream, spanned::Spanned};

/// How a macro is written.
pub(super) struct Form {
    /// Its name.
    pub(super) name: &'static str,
    /// A whole call, for messages.
    pub(super) written: &'static str,
    /// Its options and how each is written.
    pub(super) options: &'static [(&'static str, &'static str)],
    /// Whether a lone word before the rest can only be a misspelt option.
    pub(super) takes_flags: bool,
}

/// The beginning of a call.
pub(super) struct Call {
    /// The crate's hidden module.
    pub(super) private: TokenStream,
    /// The context, as it was written.
    ctx: Expr,
    /// The name.
    pub(super) name: LitStr,
}

impl Call {
    /// The context as a `&Ctx`, checked at its own place.
    pub(super) fn ctx(&self) -> TokenStream {
        let (private, ctx) = (self.private_at(self.ctx.span()), &self.ctx);
        quote_spanned!(located(ctx.span())=> #private::steps::ctx(#ctx))
    }

    /// The crate's hidden module, at the place of a user's token, where an error of what is named is to show.
    pub(super) fn private_at(&self, span: Span) -> TokenStream {
        at(&self.private, span)
    }
}

/// Tokens at the place of a user's, their meaning unchanged.
pub(super) fn at(tokens: &TokenStream, span: Span) -> TokenStream {
    let moved = tokens.clone().into_iter().map(|mut token| {
        token.set_span(token.span().located_at(span));
        token
    });
    moved.collect()
}

/// Reads crate and context alone.
pub(super) fn context(input: ParseStream<'_>, form: &Form) -> syn::Result<(TokenStream, Expr)> {
    let krate = krate(input)?;
    if input.is_empty() {
        return Err(syn::Error::new(Span::call_site(), written(form, "needs the context of its job")));
    }
    let ctx: Expr = input.parse()?;
    if let Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) = ctx {
        return Err(syn::Error::new(ctx.span(), written(form, "begins with the context of its job")));
    }
    Ok((quote!(#krate::__private), ctx))
}

/// Reads the beginning of a call. A name that is none is an error of its own; the rest is still answered.
pub(super) fn open(input: ParseStream<'_>, form: &Form, errors: &mut Errors) -> syn::Result<Call> {
    let (private, ctx) = context(input, form)?;
    if input.is_empty() {
        return Err(syn::Error::new(ctx.span(), written(form, "needs a name")));
    }
    comma(input, form)?;
    if input.is_empty() {
        return Err(syn::Error::new(ctx.span(), written(form, "needs a name")));
    }
    let name: Expr = input.parse()?;
    let name = match literal_text(&name) {
        Some(text) => text,
        None => {
            errors.at(
                name.span(),
                format!(
                    "the name is a text literal, so that it is found in the source and known before the job runs: {}; \
                     what tells runs of one line apart is its `key = …`",
                    form.written
                ),
            );
            LitStr::new("_", name.span())
        }
    };
    if !input.is_empty() {
        comma(input, form)?;
    }
    Ok(Call { private, ctx, name })
}

/// Refuses what follows the last part of a call.
pub(super) fn closed(input: ParseStream<'_>, form: &Form) -> syn::Result<()> {
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
    }
    match input.is_empty() {
        true => Ok(()),
        false => Err(input.error(written(form, "ends here"))),
    }
}

/// The text of a macro that is written another way.
pub(super) fn written(form: &Form, what: &str) -> String {
    format!("`{}!` {what}: it is written {}", form.name, form.written)
}

/// The error of a part that is missing, at the end of what is there.
pub(super) fn missing(call: &Call, form: &Form, what: &str) -> syn::Error {
    syn::Error::new(call.name.span(), written(form, what))
}

fn comma(input: ParseStream<'_>, form: &Form) -> syn::Result<()> {
    match input.peek(Token![,]) {
        true => input.parse::<Token![,]>().map(drop),
        false => Err(input.error(format!("expected `,`: `{}!` is written {}", form.name, form.written))),
    }
}

/// The path that the wrapper passes, up to its `;`.
fn krate(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut path = TokenStream::new();
    while !input.peek(Token![;]) {
        path.extend([input.parse::<TokenTree>()?]);
    }
    input.parse::<Token![;]>()?;
    Ok(path)
}
