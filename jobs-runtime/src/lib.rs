//! The machine behind the `jobs` crate. Depend on `jobs`, which re-exports what users need.
//!
//! The flow runs one way: `registry` → `enqueue` → `driver` → `worker` → `execute` → `settle` → `settled`.

pub mod backoff;
mod client;
pub mod clock;
mod ctx;
pub mod driver;
pub mod duration;
mod enqueue;
pub mod error;
pub mod failure;
mod id;
mod job;
mod json;
pub mod name;
pub mod outline;
pub mod payload;
pub mod registry;
mod settled;
pub mod spec;
pub mod state;

pub use client::Jobs;
pub use ctx::Ctx;
pub use error::Error;
pub use failure::Failure;
pub use id::JobId;
pub use job::{Job, JobDef, UniqueKey};
pub use json::JsonText;
pub use registry::Registry;
pub use settled::{FollowUp, Settled};
pub use state::State;

/// What generated code names. No part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use futures_util::future::BoxFuture;
    #[cfg(feature = "inventory")]
    pub use inventory;
    pub use schemars;
    pub use serde;
    pub use serde_json;
}
