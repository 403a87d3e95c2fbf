//! Understands `unique(..)`.

use super::{
    distinct, value,
    written::{Form, Written, read},
};
use crate::errors::Errors;
use syn::{Expr, Member, spanned::Spanned};

/// How jobs of one key exclude each other.
pub(crate) struct Unique {
    pub(crate) key: Key,
    pub(crate) hold: Hold,
    pub(crate) reject: bool,
}

/// What the key is made of.
pub(crate) enum Key {
    /// The whole input.
    Input,
    /// `by = [field, other.field]`
    Fields(Vec<Expr>),
    /// `key = expression`
    Text(Expr),
}

/// While what the key is taken.
pub(crate) enum Hold {
    Live,
    Queued,
    Forever,
    For(Expr),
}

const OPTIONS: &[(&str, &str)] = &[
    ("by", "`by = [field, other_field]`"),
    ("key", "`key = input.field`"),
    ("while", "`while = live`, `while = queued` or `while = forever`"),
    ("for", "`for = \"1h\"`"),
    ("on_conflict", "`on_conflict = existing` or `on_conflict = reject`"),
];

pub(super) fn parse(option: Written, errors: &mut Errors) -> syn::Result<Unique> {
    let mut unique = Unique { key: Key::Input, hold: Hold::Live, reject: false };
    let list = match &option.form {
        Form::Flag => return Ok(unique),
        Form::List(list) => list.stream(),
        Form::Value(_) => return Err(value::wrong(&option, "`unique` or `unique(by = [field], while = live)`")),
    };
    let options = distinct(read(list, errors), OPTIONS, errors);
    exclusive(&options, ["by", "key"], "a unique key is made of one of the two", errors);
    exclusive(&options, ["while", "for"], "a unique key is held by one of the two", errors);
    for option in options {
        let result = unique.set(option);
        errors.keep(result);
    }
    Ok(unique)
}

/// Says where two options stand that exclude each other, at the second.
fn exclusive(options: &[Written], pair: [&str; 2], why: &str, errors: &mut Errors) {
    let mut of_pair = options.iter().filter(|option| pair.contains(&option.word().as_str()));
    if let (Some(_), Some(second)) = (of_pair.next(), of_pair.next()) {
        errors.at(second.name.span(), format!("`{}` and `{}` exclude each other: {why}", pair[0], pair[1]));
    }
}

impl Unique {
    fn set(&mut self, option: Written) -> syn::Result<()> {
        let word = option.word();
        let takes = OPTIONS.iter().find(|(name, _)| *name == word).map_or("", |(_, takes)| takes);
        match word.as_str() {
            "by" => self.key = Key::Fields(fields(option, takes)?),
            "key" => self.key = Key::Text(value::expr(option, takes)?),
            "for" => self.hold = Hold::For(value::expr(option, takes)?),
            "while" => {
                let word = value::word(option, takes)?;
                self.hold = match word.to_string().as_str() {
                    "live" => Hold::Live,
                    "queued" => Hold::Queued,
                    "forever" => Hold::Forever,
                    _ => return Err(syn::Error::new(word.span(), format!("unknown `{word}`: it is written {takes}"))),
                };
            }
            _ => {
                let word = value::word(option, takes)?;
                self.reject = match word.to_string().as_str() {
                    "existing" => false,
                    "reject" => true,
                    _ => return Err(syn::Error::new(word.span(), format!("unknown `{word}`: it is written {takes}"))),
                };
            }
        }
        Ok(())
    }
}

/// `[field, other.field]`
fn fields(option: Written, takes: &str) -> syn::Result<Vec<Expr>> {
    let Form::Value(value) = &option.form else { return Err(value::wrong(&option, takes)) };
    let Expr::Array(array) = &**value else { return Err(value::wrong(&option, takes)) };
    if array.elems.is_empty() {
        return Err(syn::Error::new(
            array.span(),
            "`by` names at least one field; leave it out to use the whole input",
        ));
    }
    array
        .elems
        .iter()
        .map(|field| match is_field(field) {
            true => Ok(field.clone()),
            false => Err(syn::Error::new(field.span(), "expected the name of a field of the input, such as `order`")),
        })
        .collect()
}

/// `field` or `field.of.field`
fn is_field(field: &Expr) -> bool {
    match field {
        Expr::Field(inner) => matches!(inner.member, Member::Named(_)) && is_field(&inner.base),
        _ => value::as_word(field).is_some(),
    }
}
