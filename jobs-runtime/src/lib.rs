//! The machine behind the `jobs` crate. Depend on `jobs`, which re-exports what users need.
//!
//! The flow runs one way: `registry` → `enqueue` → `driver` → `worker` → `execute` → `settle` → `settled`.

pub mod backoff;
pub mod client;
pub mod clock;
mod ctx;
mod data;
pub mod driver;
pub mod duration;
pub mod enqueue;
pub mod error;
pub mod failure;
mod failure_class;
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
mod tenant;
#[cfg(feature = "testing")]
pub mod testing;

pub use client::Jobs;
pub use ctx::Ctx;
pub use data::{Output, Payload};
pub use driver::{Enqueued, Migrate};
pub use error::Error;
pub use failure::Failure;
pub use failure_class::{Class, JobError};
pub use id::JobId;
pub use job::{Job, JobDef, UniqueKey};
pub use json::JsonText;
pub use registry::Registry;
pub use settled::{FollowUp, Settled};
pub use state::State;
pub use tenant::TenantId;
pub use {schemars, serde, serde_json, uuid};

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
