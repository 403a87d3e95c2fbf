//! Understands `retry(..)`.

use super::{
    distinct, value,
    value::wrong,
    written::{Form, Written, read},
};
use crate::errors::Errors;
use syn::{Expr, Ident, spanned::Spanned};

/// Attempts and the waits between them.
#[derive(Default)]
pub(crate) struct Retry {
    pub(crate) max_attempts: Option<Expr>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) without_jitter: bool,
}

/// The waits.
pub(crate) struct Backoff {
    pub(crate) growth: Growth,
    pub(crate) base: Expr,
    pub(crate) max: Option<Expr>,
}

/// How a wait grows with the attempts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    Exponential,
    Linear,
    Fixed,
}

const OPTIONS: &[(&str, &str)] = &[
    ("max_attempts", "`max_attempts = 5`"),
    ("backoff", "`backoff = exponential(\"1s\", max = \"5m\")`, `linear(\"10s\", max = \"5m\")` or `fixed(\"5s\")`"),
    ("jitter", "`jitter = none`"),
];

pub(crate) fn parse(option: Written, takes: &str, errors: &mut Errors) -> syn::Result<Retry> {
    let Form::List(list) = &option.form else { return Err(wrong(&option, takes)) };
    let mut retry = Retry::default();
    for option in distinct(read(list.stream(), errors), OPTIONS, errors) {
        let result = retry.set(option);
        errors.keep(result);
    }
    Ok(retry)
}

impl Retry {
    fn set(&mut self, option: Written) -> syn::Result<()> {
        let word = option.word();
        let takes = OPTIONS.iter().find(|(name, _)| *name == word).map_or("", |(_, takes)| takes);
        match word.as_str() {
            "max_attempts" => self.max_attempts = Some(value::expr(option, takes)?),
            "backoff" => self.backoff = Some(backoff(option, takes)?),
            _ => {
                let span = option.span();
                match value::word(option, takes)? {
                    word if word == "none" => self.without_jitter = true,
                    _ => return Err(syn::Error::new(span, format!("`jitter` is written {takes}"))),
                }
            }
        }
        Ok(())
    }
}

fn backoff(option: Written, takes: &str) -> syn::Result<Backoff> {
    let Form::Value(value) = &option.form else { return Err(wrong(&option, takes)) };
    let Expr::Call(call) = &**value else { return Err(wrong(&option, takes)) };
    let word = value::as_word(&call.func).ok_or_else(|| wrong(&option, takes))?;
    let growth = growth(word, takes)?;
    let mut args = call.args.iter();
    let base = match args.next() {
        Some(Expr::Assign(_)) | None => {
            return Err(syn::Error::new(word.span(), format!("`{word}` begins with its first wait: {takes}")));
        }
        Some(base) => base.clone(),
    };
    let max = args.next().map(|arg| max(arg, growth)).transpose()?;
    match args.next() {
        Some(extra) => Err(syn::Error::new(extra.span(), format!("one value too many: `backoff` is written {takes}"))),
        None => Ok(Backoff { growth, base, max }),
    }
}

fn growth(word: &Ident, takes: &str) -> syn::Result<Growth> {
    match word.to_string().as_str() {
        "exponential" => Ok(Growth::Exponential),
        "linear" => Ok(Growth::Linear),
        "fixed" => Ok(Growth::Fixed),
        _ => Err(syn::Error::new(word.span(), format!("unknown backoff `{word}`: it is written {takes}"))),
    }
}

fn max(arg: &Expr, growth: Growth) -> syn::Result<Expr> {
    let named = match arg {
        Expr::Assign(assign) if value::as_word(&assign.left).is_some_and(|word| word == "max") => Some(&assign.right),
        _ => None,
    };
    match named {
        _ if growth == Growth::Fixed => {
            Err(syn::Error::new(arg.span(), "`fixed` takes one wait: it never grows, so it has no `max`"))
        }
        Some(max) => Ok((**max).clone()),
        None => Err(syn::Error::new(arg.span(), "expected `max = \"5m\"`")),
    }
}
