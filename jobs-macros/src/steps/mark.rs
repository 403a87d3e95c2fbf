//! `patch!` and `pivot!`: marks in the course of a run.

use super::{
    call::{self, Form},
    expanded,
    options::Options,
};
use crate::{errors::Errors, expand::located};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{
    parse::{ParseStream, Parser},
    spanned::Spanned,
};

const PATCH: Form =
    Form { name: "patch", written: "`patch!(ctx, \"id of the change\")`", options: &[], takes_flags: false };

const PIVOT: Form = Form { name: "pivot", written: "`pivot!(ctx)`", options: &[], takes_flags: false };

/// The future of whether a run takes a change.
pub(crate) fn patch(tokens: TokenStream) -> TokenStream {
    expanded(tokens, &PATCH, |call, _, _| {
        let private = &call.private;
        let (ctx, spec) = (call.ctx(), Options::default().step_spec(call));
        Ok(quote!(#private::steps::patch(#ctx, #spec)))
    })
}

/// The future of the point of no return.
pub(crate) fn pivot(tokens: TokenStream) -> TokenStream {
    let read = |input: ParseStream<'_>| {
        let (private, ctx) = call::context(input, &PIVOT)?;
        call::closed(input, &PIVOT)?;
        Ok(quote_spanned!(located(ctx.span())=> #private::steps::pivot(#private::steps::ctx(#ctx))))
    };
    read.parse2(tokens).unwrap_or_else(|error| {
        let mut errors = Errors::default();
        errors.push(error);
        let errors = errors.to_tokens();
        quote!({ #errors })
    })
}
