//! `step!`: runs a body once and keeps what it gave.

use super::{
    call::{Call, Form, missing},
    expanded,
    machine::{self, Machine},
    options::{self, ALIASES, KEY, ONCE, Options, RETRY, TIMEOUT},
    tail::{self, Tail},
};
use crate::expand::located;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Token, parse::ParseStream, spanned::Spanned};

const FORM: Form = Form {
    name: "step",
    written: "`step!(ctx, \"name\", async { … })`, with options before the body",
    options: &[ONCE, TIMEOUT, RETRY, KEY, ALIASES],
    takes_flags: true,
};

/// The future of a step.
pub(crate) fn step(tokens: TokenStream) -> TokenStream {
    expanded(tokens, &FORM, |call, input, errors| {
        let options = options::read(input, &FORM, errors)?;
        if let (true, Some(retry)) = (options.once, &options.retry_at) {
            errors.at(*retry, "a `once` step is never run twice by itself: leave out one of the two");
        }
        let body = body(call, input)?;
        Ok(expand(call, &options, &body))
    })
}

/// What runs.
struct Body {
    /// The place of its first token.
    span: Span,
    /// `async`, at the user's own place, so that the compiler's advice to add `move` fits.
    asyncness: Token![async],
    /// Whether it takes what it names by value.
    moves: Option<Token![move]>,
    /// A future that gives a `Result<_, Failure>`.
    future: TokenStream,
}

fn body(call: &Call, input: ParseStream<'_>) -> syn::Result<Body> {
    if input.is_empty() {
        return Err(missing(call, &FORM, "needs a body"));
    }
    let body: Expr = input.parse()?;
    let span = body.span();
    Ok(match body {
        Expr::Async(block) if block.attrs.is_empty() => {
            let (asyncness, moves) = (block.async_token, block.capture);
            let inner = Tail { private: &call.private, by: "step_result" }.block(block.block);
            Body { span, asyncness, moves, future: quote!(#asyncness #moves #inner) }
        }
        future => Body {
            span,
            asyncness: Token![async](located(span)),
            moves: None,
            future: tail::of_future(&call.private, "step_result", &future),
        },
    })
}

fn expand(call: &Call, options: &Options, body: &Body) -> TokenStream {
    let private = &call.private;
    let Body { span, asyncness, moves, future } = body;
    let (ctx, key, spec) = (call.ctx(), options.key(call), options.step_spec(call));
    // All of it at the body's place: an output that cannot be one is then one error, not one for each part.
    let place = located(*span);
    let begin = {
        let private = call.private_at(*span);
        quote_spanned!(place=> #private::steps::begin)
    };
    let boxed = {
        let private = call.private_at(*span);
        quote_spanned!(place=> #private::boxed)
    };
    let run = match &options.retry {
        None => quote_spanned!(place=> #private::steps::Begin::Run(run) => run.once(#boxed(#future)).await),
        Some(_) => quote_spanned!(place=> #private::steps::Begin::Run(mut run) => loop {
            if let #private::Some(done) = run.attempt(#boxed(#future)).await {
                break done;
            }
        }),
    };
    machine::of(&Machine { private, begin, ctx, key, spec, run, asyncness: *asyncness, moves: *moves })
}
