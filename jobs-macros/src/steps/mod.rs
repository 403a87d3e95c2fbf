//! The macros of a job's body: `step!`, `sleep!`, `wait_for!`, `compensate!` and the others.
//!
//! The passes of each: `call` (crate, context, name) → `options` → its own rest → expand. The wrappers in `jobs` pass
//! their `$crate`, so that a renamed crate needs no option. Upstream: the body of a job. Downstream: `__private::steps`.

mod call;
mod compensate;
mod machine;
mod mark;
mod options;
mod race;
mod spawn;
mod step;
mod step_tx;
mod tail;
mod wait;

use crate::errors::Errors;
use call::{Call, Form};
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser};

pub(crate) use compensate::compensate;
pub(crate) use mark::{patch, pivot};
pub(crate) use race::race;
pub(crate) use spawn::spawn;
pub(crate) use step::step;
pub(crate) use step_tx::step_tx;
pub(crate) use wait::{sleep, sleep_until, wait_for};

/// Reads a call and writes what it becomes, with the errors before it. Where nothing can be written the errors alone
/// are the answer: the compiler gives it any type, so that none follows from them.
fn expanded(
    tokens: TokenStream,
    form: &Form,
    expand: impl FnOnce(&Call, ParseStream<'_>, &mut Errors) -> syn::Result<TokenStream>,
) -> TokenStream {
    let mut errors = Errors::default();
    let read = |input: ParseStream<'_>| {
        let expansion = call::open(input, form, &mut errors).and_then(|call| {
            let expansion = expand(&call, input, &mut errors)?;
            call::closed(input, form)?;
            Ok(expansion)
        });
        let expansion = errors.keep(expansion);
        // What is left is covered by an error.
        while !input.is_empty() {
            input.parse::<proc_macro2::TokenTree>()?;
        }
        Ok(expansion)
    };
    let expansion = read.parse2(tokens).unwrap_or_default();
    match (errors.is_empty(), expansion) {
        (true, Some(expansion)) => expansion,
        (_, expansion) => {
            let errors = errors.to_tokens();
            quote!({ #errors #expansion })
        }
    }
}
