//! `sleep!`, `sleep_until!` and `wait_for!`: what a parked run waits for.

use super::{
    call::{Call, Form, missing},
    expanded,
    options::{self, ALIASES, EVENT_KEY, KEY},
};
use crate::{args::value::literal_text, expand::located};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Expr, parse::ParseStream, spanned::Spanned};

const SLEEP: Form = Form {
    name: "sleep",
    written: "`sleep!(ctx, \"name\", \"1h\")`, with options before the time",
    options: &[KEY, ALIASES],
    takes_flags: true,
};

const SLEEP_UNTIL: Form = Form {
    name: "sleep_until",
    written: "`sleep_until!(ctx, \"name\", time)`, with options before the time",
    options: &[KEY, ALIASES],
    takes_flags: true,
};

const WAIT_FOR: Form = Form {
    name: "wait_for",
    written: "`wait_for!(ctx, \"name\", key = input.order, timeout = \"3d\")`, where the timeout may be left out",
    options: &[KEY, EVENT_KEY, ("timeout", "`timeout = \"3d\"`"), ALIASES],
    takes_flags: true,
};

/// The future of a sleep of some length.
pub(crate) fn sleep(tokens: TokenStream) -> TokenStream {
    expanded(tokens, &SLEEP, |call, input, errors| {
        let options = options::read(input, &SLEEP, errors)?;
        let length = length(call, &time(call, input, &SLEEP)?);
        let private = &call.private;
        let (ctx, key, spec) = (call.ctx(), options.key(call), options.step_spec(call));
        Ok(quote!(#private::steps::sleep(#ctx, #spec, #key, #length)))
    })
}

/// The future of a sleep up to some time.
pub(crate) fn sleep_until(tokens: TokenStream) -> TokenStream {
    expanded(tokens, &SLEEP_UNTIL, |call, input, errors| {
        let options = options::read(input, &SLEEP_UNTIL, errors)?;
        let time = time(call, input, &SLEEP_UNTIL)?;
        let private = &call.private;
        let (ctx, key, spec) = (call.ctx(), options.key(call), options.step_spec(call));
        Ok(quote!(#private::steps::sleep_until(#ctx, #spec, #key, #time)))
    })
}

/// The future of an event.
pub(crate) fn wait_for(tokens: TokenStream) -> TokenStream {
    expanded(tokens, &WAIT_FOR, |call, input, errors| {
        let mut options = options::read(input, &WAIT_FOR, errors)?;
        let timeout = options.timeout.take().map(|timeout| length(call, &timeout));
        if options.key.is_none() && options.event_key.is_none() {
            return Err(missing(call, &WAIT_FOR, "needs the `key` under which the event is published"));
        }
        let (key, event) = (options.key(call), options.event_key(call));
        let (ctx, spec) = (call.ctx(), options.step_spec(call));
        let private = call.private_at(call.name.span());
        let span = located(call.name.span());
        Ok(match timeout {
            None => quote_spanned!(span=> #private::steps::wait_for(#ctx, #spec, #key, #event)),
            Some(timeout) => {
                quote_spanned!(span=> #private::steps::wait_for_within(#ctx, #spec, #key, #event, #timeout))
            }
        })
    })
}

fn time(call: &Call, input: ParseStream<'_>, form: &Form) -> syn::Result<Expr> {
    match input.is_empty() {
        true => Err(missing(call, form, "needs a time")),
        false => input.parse(),
    }
}

/// A `Duration`: a text is read while compiling, anything else is one already.
fn length(call: &Call, time: &Expr) -> TokenStream {
    let private = call.private_at(time.span());
    match literal_text(time) {
        Some(text) => quote_spanned!(located(text.span())=> {
            const LENGTH: #private::Duration = #private::duration::must(#text);
            LENGTH
        }),
        None => quote!(#time),
    }
}
