//! The future of a step: asks whether it is done, and runs it if not. Upstream: `step`, `step_tx`.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Token;

/// The parts of the future.
pub(super) struct Machine<'a> {
    /// The crate's hidden module.
    pub(super) private: &'a TokenStream,
    /// The fn that asks.
    pub(super) begin: TokenStream,
    pub(super) ctx: TokenStream,
    pub(super) key: TokenStream,
    pub(super) spec: TokenStream,
    /// The arm that runs it.
    pub(super) run: TokenStream,
    /// `async`, at the user's own place, so that the compiler's advice to add `move` fits.
    pub(super) asyncness: Token![async],
    /// Whether it takes what it names by value, as the user's body does.
    pub(super) moves: Option<Token![move]>,
}

/// The future. One that moves has its context and key before: neither is to be moved.
pub(super) fn of(machine: &Machine<'_>) -> TokenStream {
    let Machine { private, begin, ctx, key, spec, run, asyncness, moves } = machine;
    let site = Span::mixed_site();
    let (before, ctx, key) = match moves {
        None => (None, ctx, key),
        Some(_) => {
            let before = quote_spanned!(site=> let (ctx, key) = (#ctx, #key););
            (Some(before), &quote_spanned!(site=> ctx), &quote_spanned!(site=> key))
        }
    };
    let future = quote_spanned! { site=>
        #asyncness #moves {
            match #begin(#ctx, #spec, #key).await? {
                #private::steps::Begin::Done(done) => #private::Ok(done),
                #run
            }
        }
    };
    match before {
        None => future,
        Some(_) => quote_spanned!(site=> { #before #future }),
    }
}
