//! Understands the options of `#[event(..)]`.

use crate::{
    args::{Written, distinct, read, value},
    errors::Errors,
};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, LitStr, Path};

/// The options of an event, each `None` where it is not given.
#[derive(Default)]
pub(super) struct Args {
    pub(super) name: Option<LitStr>,
    /// An expression over `self`.
    pub(super) tenant: Option<Expr>,
    pub(super) ttl: Option<Expr>,
    krate: Option<Path>,
}

const OPTIONS: &[(&str, &str)] = &[
    ("name", "`name = \"order.shipped\"`"),
    ("tenant", "`tenant = self.field` or `tenant = none`"),
    ("ttl", "`ttl = \"7d\"`"),
    ("crate", "`crate = ::path::to::jobs`"),
];

/// Understands the options; says every mistake and leaves the default in its place.
pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    let mut is_named = false;
    for option in distinct(read(tokens, errors), OPTIONS, errors) {
        is_named |= option.word() == "name";
        let result = args.set(option);
        errors.keep(result);
    }
    if !is_named {
        errors.at(
            Span::call_site(),
            "`#[event]` needs the name under which events of this type are stored: add `name = \"order.shipped\"`",
        );
    }
    args
}

impl Args {
    fn set(&mut self, option: Written) -> syn::Result<()> {
        let word = option.word();
        let takes = OPTIONS.iter().find(|(name, _)| *name == word).map_or("", |(_, takes)| takes);
        match word.as_str() {
            "name" => self.name = Some(value::text(option, takes)?),
            "tenant" => self.tenant = Some(value::expr(option, takes)?).filter(|value| !is_none(value)),
            "ttl" => self.ttl = Some(value::expr(option, takes)?),
            "crate" => self.krate = Some(value::path(option, takes)?),
            _ => {}
        }
        Ok(())
    }

    /// The path of the facade crate.
    pub(super) fn krate(&self) -> TokenStream {
        match &self.krate {
            Some(path) => quote!(#path),
            None => quote_spanned!(Span::mixed_site()=> ::jobs),
        }
    }
}

fn is_none(value: &Expr) -> bool {
    value::as_word(value).is_some_and(|word| word == "none")
}
