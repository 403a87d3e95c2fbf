//! Understands the options between a name and the rest of a call, and writes the declaration that they make.

use super::call::{Call, Form};
use crate::{
    args::{Retry, Written, distinct, list, retry, try_one, value},
    errors::Errors,
    expand::{located, spec},
};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Ident, Token, ext::IdentExt, parse::ParseStream, spanned::Spanned, token::Paren};

/// The options of a call, each `None` or empty where it is not given.
#[derive(Default)]
pub(super) struct Options {
    pub(super) once: bool,
    pub(super) always: bool,
    pub(super) timeout: Option<Expr>,
    pub(super) retry: Option<Retry>,
    /// Where `retry` stands.
    pub(super) retry_at: Option<Span>,
    pub(super) key: Option<Expr>,
    pub(super) event_key: Option<Expr>,
    pub(super) aliases: Vec<Expr>,
}

pub(super) const ONCE: (&str, &str) = ("once", "`once`");
pub(super) const ALWAYS: (&str, &str) = ("always", "`always`");
pub(super) const TIMEOUT: (&str, &str) = ("timeout", "`timeout = \"10s\"`");
pub(super) const RETRY: (&str, &str) =
    ("retry", "`retry(max_attempts = 3, backoff = exponential(\"1s\", max = \"5m\"))`");
pub(super) const KEY: (&str, &str) = ("key", "`key = item.id`");
pub(super) const EVENT_KEY: (&str, &str) = ("event_key", "`event_key = input.order`");
pub(super) const ALIASES: (&str, &str) = ("aliases", "`aliases = [\"old name\"]`");

/// Reads the options that stand next; says every mistake and leaves the default in its place.
pub(super) fn read(input: ParseStream<'_>, form: &Form, errors: &mut Errors) -> syn::Result<Options> {
    let mut written = Vec::new();
    while is_option(input, form) {
        written.push(try_one(input)?);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    let mut options = Options::default();
    for option in distinct(written, form.options, errors) {
        let result = options.set(option, form, errors);
        errors.keep(result);
    }
    Ok(options)
}

/// Whether an option stands next: `word = …`, a word that is one, or a word that can be nothing else.
fn is_option(input: ParseStream<'_>, form: &Form) -> bool {
    if !input.peek(Ident::peek_any) {
        return false;
    }
    if input.peek2(Token![=]) {
        return !input.peek2(Token![==]) && !input.peek2(Token![=>]) && !names_a_branch(input);
    }
    let ahead = input.fork();
    let Ok(word) = ahead.call(Ident::parse_any) else { return false };
    let has_list = ahead.peek(Paren);
    if has_list && ahead.parse::<proc_macro2::Group>().is_err() {
        return false;
    }
    let known = form.options.iter().any(|(name, _)| word.unraw() == *name);
    match ahead.is_empty() {
        true => known,
        false if ahead.peek(Token![,]) => {
            let _ = ahead.parse::<Token![,]>();
            known || form.takes_flags && !ahead.is_empty()
        }
        false => false,
    }
}

/// Whether what looks like an option is a branch of a race: `pattern = future => …`.
fn names_a_branch(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let read =
        ahead.call(Ident::parse_any).and_then(|_| ahead.parse::<Token![=]>()).and_then(|_| ahead.parse::<Expr>());
    read.is_ok() && ahead.peek(Token![=>])
}

impl Options {
    fn set(&mut self, option: Written, form: &Form, errors: &mut Errors) -> syn::Result<()> {
        let word = option.word();
        let takes = form.options.iter().find(|(name, _)| *name == word).map_or("", |(_, takes)| takes);
        match word.as_str() {
            "once" => {
                value::flag(&option, takes)?;
                self.once = true;
            }
            "always" => {
                value::flag(&option, takes)?;
                self.always = true;
            }
            "timeout" => self.timeout = Some(value::expr(option, takes)?),
            "retry" => {
                self.retry_at = Some(option.name.span());
                self.retry = Some(retry::parse(option, takes, errors)?);
            }
            "key" => self.key = Some(value::expr(option, takes)?),
            "event_key" => self.event_key = Some(value::expr(option, takes)?),
            "aliases" => self.aliases = list(option, takes)?,
            _ => {}
        }
        Ok(())
    }

    /// `Some(text)` of the key, or `None`.
    pub(super) fn key(&self, call: &Call) -> TokenStream {
        text_of(self.key.as_ref(), call)
    }

    /// `Some(text)` of the event's own key, or `None`.
    pub(super) fn event_key(&self, call: &Call) -> TokenStream {
        text_of(self.event_key.as_ref(), call)
    }

    /// The declaration of a step, a `&'static StepSpec`.
    pub(super) fn step_spec(&self, call: &Call) -> TokenStream {
        let mut checks = spec::Checks::default();
        let mut fields = self.common(&mut checks);
        if !self.aliases.is_empty() {
            let aliases: Vec<_> = self.aliases.iter().map(|alias| checks.add(spec::Rule::StepName, alias)).collect();
            fields.push(quote!(aliases: &[#(#aliases),*]));
        }
        if self.once {
            fields.push(quote!(once: true));
        }
        declared(call, &quote!(StepSpec), &checks, &fields)
    }

    /// The declaration of a compensation, a `&'static UndoSpec`.
    pub(super) fn undo_spec(&self, call: &Call) -> TokenStream {
        let mut checks = spec::Checks::default();
        let mut fields = self.common(&mut checks);
        if self.always {
            fields.push(quote!(always: true));
        }
        declared(call, &quote!(UndoSpec), &checks, &fields)
    }

    fn common(&self, checks: &mut spec::Checks) -> Vec<TokenStream> {
        let mut fields = Vec::new();
        if let Some(timeout) = &self.timeout {
            let timeout = checks.add(spec::Rule::Duration, timeout);
            fields.push(quote!(timeout: __job::Some(#timeout)));
        }
        if let Some(retry) = &self.retry {
            let retry = spec::retry(retry, checks).unwrap_or_else(|| quote!(__job::DEFAULT_RETRY));
            fields.push(quote!(retry: __job::Some(#retry)));
        }
        fields
    }
}

fn text_of(key: Option<&Expr>, call: &Call) -> TokenStream {
    match key {
        Some(key) => {
            let private = call.private_at(key.span());
            quote_spanned!(located(key.span())=> #private::steps::key(&(#key)))
        }
        None => {
            let private = &call.private;
            quote!(#private::None)
        }
    }
}

/// A constant of a declaration, in a block of its own: its names meet none of the user's.
fn declared(call: &Call, ty: &TokenStream, checks: &spec::Checks, fields: &[TokenStream]) -> TokenStream {
    let Call { private, name, .. } = call;
    let named = {
        let private = call.private_at(name.span());
        quote_spanned!(located(name.span())=> #private::#ty::new(#name))
    };
    if fields.is_empty() {
        return quote!({ const __SPEC: &#private::#ty = &#named; __SPEC });
    }
    let checks = checks.tokens();
    quote!({
        use #private as __job;
        #checks
        const __SPEC: &__job::#ty = &__job::#ty { #(#fields,)* ..#named };
        __SPEC
    })
}
