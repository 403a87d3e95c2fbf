//! The attribute macros of the `jobs` crate. Depend on `jobs`, which re-exports them.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod args;
mod errors;
mod expand;
mod fallback;
mod item;
mod job;
mod job_error;
mod outline;
mod signature;
mod validate;

use proc_macro::TokenStream;

/// Makes an `async fn` a job.
#[proc_macro_attribute]
pub fn job(args: TokenStream, item: TokenStream) -> TokenStream {
    job::job(args.into(), item.into()).into()
}

/// Says of an error type what its values ask for.
#[proc_macro_derive(JobError, attributes(job_error))]
pub fn job_error(input: TokenStream) -> TokenStream {
    job_error::job_error(input.into()).into()
}
