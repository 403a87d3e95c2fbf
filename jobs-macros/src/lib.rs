//! The attribute macros of the `jobs` crate. Depend on `jobs`, which re-exports them.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod args;
mod errors;
mod expand;
mod fallback;
mod item;
mod job;
mod outline;
mod signature;
mod validate;

use proc_macro::TokenStream;

/// Makes an `async fn` a job.
#[proc_macro_attribute]
pub fn job(args: TokenStream, item: TokenStream) -> TokenStream {
    job::job(args.into(), item.into()).into()
}
