//! Turns a written value into the kind that its option takes, or into an error that says what it takes.

use super::written::{Form, Written};
use syn::{Expr, ExprLit, ExprPath, Ident, Lit, LitStr, Path};

/// Any value: a literal, a constant, an expression.
pub(crate) fn expr(option: Written, takes: &str) -> syn::Result<Expr> {
    match option.form {
        Form::Value(value) => Ok(*value),
        _ => Err(wrong(&option, takes)),
    }
}

/// A text literal.
pub(crate) fn text(option: Written, takes: &str) -> syn::Result<LitStr> {
    match &option.form {
        Form::Value(value) => literal_text(value).ok_or_else(|| wrong(&option, takes)),
        _ => Err(wrong(&option, takes)),
    }
}

/// The path of a job, a fn or a crate.
pub(crate) fn path(option: Written, takes: &str) -> syn::Result<Path> {
    match &option.form {
        Form::Value(value) => as_path(value).cloned().ok_or_else(|| wrong(&option, takes)),
        _ => Err(wrong(&option, takes)),
    }
}

/// One word.
pub(crate) fn word(option: Written, takes: &str) -> syn::Result<Ident> {
    match &option.form {
        Form::Value(value) => as_word(value).cloned().ok_or_else(|| wrong(&option, takes)),
        _ => Err(wrong(&option, takes)),
    }
}

/// A bare name.
pub(crate) fn flag(option: &Written, takes: &str) -> syn::Result<()> {
    match option.form {
        Form::Flag => Ok(()),
        _ => Err(wrong(option, takes)),
    }
}

/// The error of a value of the wrong kind.
pub(crate) fn wrong(option: &Written, takes: &str) -> syn::Error {
    syn::Error::new(option.span(), format!("`{}` is written {takes}", option.word()))
}

/// The word that a value consists of.
pub(crate) fn as_word(value: &Expr) -> Option<&Ident> {
    as_path(value).and_then(Path::get_ident)
}

/// The path that a value consists of.
pub(crate) fn as_path(value: &Expr) -> Option<&Path> {
    match value {
        Expr::Path(ExprPath { attrs, qself: None, path }) if attrs.is_empty() => Some(path),
        Expr::Group(group) => as_path(&group.expr),
        _ => None,
    }
}

/// The text literal that a value consists of.
pub(crate) fn literal_text(value: &Expr) -> Option<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        Expr::Group(group) => literal_text(&group.expr),
        _ => None,
    }
}
