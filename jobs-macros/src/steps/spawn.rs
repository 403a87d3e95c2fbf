//! `spawn!`: enqueues a child job, once.

use super::{
    call::{Form, missing, written},
    expanded,
    options::{self, ALIASES, KEY},
};
use crate::expand::located;
use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::{Expr, Path, Token, spanned::Spanned};

const FORM: Form = Form {
    name: "spawn",
    written: "`spawn!(ctx, \"name\", job, input)`, with options before the job",
    options: &[KEY, ALIASES],
    takes_flags: false,
};

/// The future of a child.
pub(crate) fn spawn(tokens: TokenStream) -> TokenStream {
    expanded(tokens, &FORM, |call, input, errors| {
        let options = options::read(input, &FORM, errors)?;
        if input.is_empty() {
            return Err(missing(call, &FORM, "needs a job and its input"));
        }
        let job: Path = input.parse()?;
        if !input.peek(Token![,]) {
            return Err(syn::Error::new(job.span(), written(&FORM, "needs a job and its input")));
        }
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            return Err(syn::Error::new(job.span(), written(&FORM, "needs a job and its input")));
        }
        let value: Expr = input.parse()?;
        let private = call.private_at(job.span());
        let (ctx, key, spec) = (call.ctx(), options.key(call), options.step_spec(call));
        Ok(quote_spanned!(located(job.span())=> #private::steps::spawn::<#job>(#ctx, #spec, #key, #value)))
    })
}
