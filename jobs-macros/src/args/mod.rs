//! Understands the options of `#[job(..)]`. Upstream: the attribute's tokens. Downstream: `validate`.

mod nearest;
pub(crate) mod retry;
mod unique;
pub(crate) mod value;
mod written;

use crate::errors::Errors;
use proc_macro2::{Span, TokenStream};
pub(crate) use retry::{Backoff, Growth, Retry};
use std::collections::HashSet;
use syn::{Expr, Ident, LitStr, Path, Token, Type, parse::Parser, punctuated::Punctuated};
pub(crate) use unique::{Hold, Key, Unique};
use value::wrong;
pub(crate) use written::{Form, Written, read, try_one};

/// The options of a job, each `None` or empty where it is not given.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) name: Option<LitStr>,
    pub(crate) aliases: Vec<Expr>,
    pub(crate) version: Option<Expr>,
    pub(crate) queue: Option<Expr>,
    pub(crate) priority: Option<Expr>,
    pub(crate) tenant: Option<Tenant>,
    pub(crate) unique: Option<Unique>,
    pub(crate) retry: Retry,
    pub(crate) timeout: Option<Expr>,
    pub(crate) expires_after: Option<Expr>,
    pub(crate) keep: Option<Keep>,
    pub(crate) dead_letter: Option<Expr>,
    pub(crate) crash_budget: Option<Expr>,
    pub(crate) needs: Vec<Type>,
    pub(crate) then: Option<Path>,
    pub(crate) on_dead: Option<Path>,
    pub(crate) on_settled: Option<Path>,
    pub(crate) upgrade: Option<Path>,
    pub(crate) schema: bool,
    pub(crate) handle: Option<Ident>,
    pub(crate) krate: Option<Path>,
    pub(crate) allow_nondeterminism: bool,
}

/// Whose a job is.
pub(crate) enum Tenant {
    /// `tenant = none`
    None,
    /// An expression over the input.
    Of(Expr),
    /// An option that could not be understood: the error is said, no second one is due.
    Unclear,
}

/// How long a finished job stays in the history.
pub(crate) enum Keep {
    /// `keep = none`
    None,
    /// `keep = "30d"`
    For(Expr),
}

/// Every option of `#[job]` and how it is written. The order is that of the documentation.
const OPTIONS: &[(&str, &str)] = &[
    ("name", "`name = \"mail.send\"`"),
    ("aliases", "`aliases = [\"old.name\"]`"),
    ("version", "`version = 2`"),
    ("queue", "`queue = \"mail\"`"),
    ("priority", "`priority = -10`"),
    ("tenant", "`tenant = input.field` or `tenant = none`"),
    ("unique", "`unique` or `unique(by = [field], while = live)`"),
    ("retry", "`retry(max_attempts = 5, backoff = exponential(\"1s\", max = \"5m\"))`"),
    ("timeout", "`timeout = \"30s\"`"),
    ("expires_after", "`expires_after = \"1h\"`"),
    ("keep", "`keep = \"30d\"` or `keep = none`"),
    ("dead_letter", "`dead_letter = false`"),
    ("crash_budget", "`crash_budget = 3`"),
    ("needs", "`needs(Type, Other)`"),
    ("then", "`then = other_job`"),
    ("on_dead", "`on_dead = other_job`"),
    ("on_settled", "`on_settled = path::to::a_fn`"),
    ("upgrade", "`upgrade = path::to::a_fn`"),
    ("schema", "`schema`"),
    ("handle", "`handle = Name`"),
    ("crate", "`crate = ::path::to::jobs`"),
    ("allow", "`allow(nondeterminism)`"),
];

/// Understands the options; says every mistake and leaves the default in its place.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    for option in distinct(read(tokens, errors), OPTIONS, errors) {
        let is_tenant = option.word() == "tenant";
        let result = args.set(option, errors);
        if errors.keep(result).is_none() && is_tenant {
            args.tenant = Some(Tenant::Unclear);
        }
    }
    args
}

/// Refuses options that do not exist or stand twice; answers the others.
pub(crate) fn distinct(options: Vec<Written>, valid: &[(&str, &str)], errors: &mut Errors) -> Vec<Written> {
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for option in options {
        let word = option.word();
        if !valid.iter().any(|(name, _)| *name == word) {
            let names: Vec<String> = valid.iter().map(|(name, _)| format!("`{name}`")).collect();
            let perhaps = nearest::nearest(&word, valid.iter().map(|(name, _)| *name));
            let perhaps = perhaps.map(|name| format!(", perhaps `{name}`")).unwrap_or_default();
            let text = format!("unknown option `{word}`{perhaps}; the valid options are {}", names.join(", "));
            errors.at(option.name.span(), text);
        } else if !seen.insert(word.clone()) {
            errors.at(option.name.span(), format!("option `{word}` is given more than once"));
        } else {
            kept.push(option);
        }
    }
    kept
}

impl Args {
    fn set(&mut self, option: Written, errors: &mut Errors) -> syn::Result<()> {
        let word = option.word();
        let takes = OPTIONS.iter().find(|(name, _)| *name == word).map_or("", |(_, takes)| takes);
        match word.as_str() {
            "name" => self.name = Some(value::text(option, takes)?),
            "aliases" => self.aliases = list(option, takes)?,
            "version" => self.version = Some(value::expr(option, takes)?),
            "queue" => self.queue = Some(value::expr(option, takes)?),
            "priority" => self.priority = Some(value::expr(option, takes)?),
            "tenant" => self.tenant = Some(tenant(value::expr(option, takes)?)),
            "unique" => self.unique = Some(unique::parse(option, errors)?),
            "retry" => self.retry = retry::parse(option, takes, errors)?,
            "timeout" => self.timeout = Some(value::expr(option, takes)?),
            "expires_after" => self.expires_after = Some(value::expr(option, takes)?),
            "keep" => self.keep = Some(keep(value::expr(option, takes)?)),
            "dead_letter" => self.dead_letter = Some(value::expr(option, takes)?),
            "crash_budget" => self.crash_budget = Some(value::expr(option, takes)?),
            "needs" => self.needs = types(option, takes)?,
            "then" => self.then = Some(value::path(option, takes)?),
            "on_dead" => self.on_dead = Some(value::path(option, takes)?),
            "on_settled" => self.on_settled = Some(value::path(option, takes)?),
            "upgrade" => self.upgrade = Some(value::path(option, takes)?),
            "schema" => {
                value::flag(&option, takes)?;
                self.schema = true;
            }
            "handle" => self.handle = Some(value::word(option, takes)?),
            "crate" => self.krate = Some(value::path(option, takes)?),
            "allow" => {
                allow(&option, takes)?;
                self.allow_nondeterminism = true;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Args {
    /// The path of the facade crate.
    pub(crate) fn krate(&self) -> TokenStream {
        match &self.krate {
            Some(path) => quote::quote!(#path),
            None => quote::quote_spanned!(Span::mixed_site()=> ::jobs),
        }
    }
}

fn tenant(value: Expr) -> Tenant {
    match value::as_word(&value) {
        Some(word) if word == "none" => Tenant::None,
        _ => Tenant::Of(value),
    }
}

fn keep(value: Expr) -> Keep {
    match value::as_word(&value) {
        Some(word) if word == "none" => Keep::None,
        _ => Keep::For(value),
    }
}

/// `name = [a, b]`
pub(crate) fn list(option: Written, takes: &str) -> syn::Result<Vec<Expr>> {
    match &option.form {
        Form::Value(value) => match &**value {
            Expr::Array(array) => Ok(array.elems.iter().cloned().collect()),
            _ => Err(wrong(&option, takes)),
        },
        _ => Err(wrong(&option, takes)),
    }
}

/// `name(A, B)`
fn types(option: Written, takes: &str) -> syn::Result<Vec<Type>> {
    match &option.form {
        Form::List(list) => {
            Ok(Punctuated::<Type, Token![,]>::parse_terminated.parse2(list.stream())?.into_iter().collect())
        }
        _ => Err(wrong(&option, takes)),
    }
}

fn allow(option: &Written, takes: &str) -> syn::Result<()> {
    let Form::List(list) = &option.form else { return Err(wrong(option, takes)) };
    let words = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(list.stream())?;
    match words.iter().find(|word| *word != "nondeterminism") {
        Some(word) => Err(syn::Error::new(word.span(), "the only warning to allow is `nondeterminism`")),
        None if words.is_empty() => Err(wrong(option, takes)),
        None => Ok(()),
    }
}
