//! Reads options as they are written, `flag`, `name = value` or `name(list)`, and goes on after a bad one.

use crate::errors::Errors;
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use syn::{
    Expr, Ident, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    spanned::Spanned,
};

/// One option, its value not yet understood.
pub(crate) struct Written {
    pub(crate) name: Ident,
    pub(crate) form: Form,
}

/// How an option is written.
pub(crate) enum Form {
    /// `name`
    Flag,
    /// `name = value`
    Value(Box<Expr>),
    /// `name(list)`
    List(Group),
}

impl Written {
    /// The place of the value, or of the name where there is none.
    pub(crate) fn span(&self) -> Span {
        match &self.form {
            Form::Flag => self.name.span(),
            Form::Value(value) => value.span(),
            Form::List(list) => list.span_open(),
        }
    }

    /// The name without `r#`.
    pub(crate) fn word(&self) -> String {
        self.name.unraw().to_string()
    }
}

/// Reads a comma-separated list of options. Each that cannot be read is an error of its own; the others are answered.
pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Vec<Written> {
    let list = |input: ParseStream<'_>| {
        let mut found = Vec::new();
        while !input.is_empty() {
            match one(input) {
                Ok(option) => found.push(option),
                Err(error) => errors.push(error),
            }
            if !input.is_empty() && !input.peek(Token![,]) {
                errors.at(input.span(), "expected `,` between options");
                skip_to_comma(input)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(found)
    };
    match list.parse2(tokens) {
        Ok(found) => found,
        Err(error) => {
            errors.push(error);
            Vec::new()
        }
    }
}

fn one(input: ParseStream<'_>) -> syn::Result<Written> {
    let option = try_one(input);
    if option.is_err() {
        skip_to_comma(input)?;
    }
    option
}

/// Reads one option.
pub(crate) fn try_one(input: ParseStream<'_>) -> syn::Result<Written> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error("expected the name of an option"));
    }
    let name = input.call(Ident::parse_any)?;
    let form = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(syn::Error::new(name.span(), format!("`{name}` has no value after `=`")));
        }
        Form::Value(Box::new(input.parse()?))
    } else if input.peek(syn::token::Paren) {
        Form::List(input.parse()?)
    } else {
        Form::Flag
    };
    Ok(Written { name, form })
}

fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}
