//! `step_tx!`: runs a body in a transaction that also writes the step's record.

use super::{
    call::{Call, Form, missing, written},
    expanded,
    machine::{self, Machine},
    options::{self, ALIASES, KEY, ONCE, Options, RETRY, TIMEOUT},
    tail::Tail,
};
use crate::expand::located;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprClosure, Pat, PatType, Token, spanned::Spanned};

const FORM: Form = Form {
    name: "step_tx",
    written: "`step_tx!(ctx, \"name\", async |tx| { … })`, with options before the closure",
    options: &[ONCE, TIMEOUT, RETRY, KEY, ALIASES],
    takes_flags: true,
};

/// The future of a step.
pub(crate) fn step_tx(tokens: TokenStream) -> TokenStream {
    expanded(tokens, &FORM, |call, input, errors| {
        let options = options::read(input, &FORM, errors)?;
        if options.once {
            errors.at(
                call.name.span(),
                "`once` is for effects outside of the database: a `step_tx!` takes effect exactly once without it",
            );
        }
        if input.is_empty() {
            return Err(missing(call, &FORM, "needs a body"));
        }
        let body: Expr = input.parse()?;
        let Expr::Closure(closure) = body else {
            return Err(syn::Error::new(body.span(), written(&FORM, "needs an async closure over its transaction")));
        };
        let Some(asyncness) = closure.asyncness else {
            return Err(syn::Error::new(closure.inputs_begin.span(), written(&FORM, "needs an async closure")));
        };
        let (Some(tx), 1) = (closure.inputs.first(), closure.inputs.len()) else {
            return Err(syn::Error::new(
                closure.inputs_begin.span(),
                written(&FORM, "takes one argument, the transaction"),
            ));
        };
        let body = Body::of(&call.private, asyncness, &closure, tx);
        Ok(expand(call, &options, &body))
    })
}

/// What runs within the transaction.
struct Body<'a> {
    asyncness: Token![async],
    /// Whether it takes what it names by value.
    moves: &'a Option<Token![move]>,
    /// The transaction's name, and its type.
    tx: TokenStream,
    stmts: TokenStream,
}

impl<'a> Body<'a> {
    fn of(private: &TokenStream, asyncness: Token![async], closure: &'a ExprClosure, tx: &Pat) -> Self {
        let tail = Tail { private, by: "step_result" };
        let stmts = match &*closure.body {
            Expr::Block(block) if block.attrs.is_empty() && block.label.is_none() => {
                let stmts = tail.block(block.block.clone()).stmts;
                quote!(#(#stmts)*)
            }
            expr => tail.expr(expr.clone()).to_token_stream(),
        };
        let tx = match tx {
            Pat::Type(PatType { pat, ty, .. }) => quote!(#pat: #ty),
            pat => quote!(#pat: &mut #private::steps::StepTx),
        };
        Self { asyncness, moves: &closure.capture, tx, stmts }
    }
}

fn expand(call: &Call, options: &Options, body: &Body<'_>) -> TokenStream {
    let private = &call.private;
    let site = Span::mixed_site();
    let Body { asyncness, moves, tx, stmts } = body;
    let (ctx, key, spec) = (call.ctx(), options.key(call), options.step_spec(call));
    let begin = {
        let private = call.private_at(asyncness.span());
        quote_spanned!(located(asyncness.span())=> #private::steps::begin_tx)
    };
    let ran = match moves {
        None => quote_spanned!(site=> run.body(#asyncness { let #tx = &mut open; #stmts }).await),
        Some(_) => quote_spanned!(site=> {
            let tx = &mut open;
            run.body(#asyncness #moves { let #tx = tx; #stmts }).await
        }),
    };
    let run = match &options.retry {
        None => quote_spanned!(site=> #private::steps::Begin::Run(mut run) => {
            let mut open = run.open().await?;
            let ran = #ran;
            run.commit(open, ran).await
        }),
        Some(_) => quote_spanned!(site=> #private::steps::Begin::Run(mut run) => loop {
            let mut open = run.open().await?;
            let ran = #ran;
            if let #private::Some(done) = run.attempt(open, ran).await {
                break done;
            }
        }),
    };
    machine::of(&Machine { private, begin, ctx, key, spec, run, asyncness: *asyncness, moves: **moves })
}
