//! The machine behind the `jobs` crate. Depend on `jobs`, which re-exports what users need.
//!
//! The flow runs one way: `registry` → `enqueue` → `driver` → `worker` → `execute` → `settle` → `settled`.

pub mod backoff;
mod cancel;
pub mod client;
pub mod clock;
mod commit;
mod ctx;
mod data;
pub mod driver;
pub mod duration;
pub mod enqueue;
pub mod error;
pub mod events;
pub mod execute;
pub mod failure;
mod failure_class;
mod id;
mod job;
mod json;
pub mod logged;
pub mod name;
pub mod outline;
pub mod payload;
pub mod registry;
pub mod replay;
pub mod report;
mod saga;
mod settle;
mod settled;
pub mod spec;
pub mod state;
pub mod steps;
mod task;
mod tenant;
#[cfg(feature = "testing")]
pub mod testing;
pub mod timeline;
mod upkeep;
pub mod worker;

pub use cancel::CancelReason;
pub use client::Jobs;
#[cfg(feature = "testing")]
pub use ctx::TestCtx;
pub use ctx::{CrossTenant, Ctx};
pub use data::{Output, Payload};
pub use driver::{Enqueued, Migrate, Resolution};
pub use error::Error;
pub use events::Event;
pub use execute::{Execution, Outcome};
pub use failure::Failure;
pub use failure_class::{Class, JobError};
pub use id::JobId;
pub use job::{Job, JobDef, UniqueKey};
pub use json::JsonText;
pub use registry::Registry;
pub use report::Report;
pub use settled::{FollowUp, Settled};
pub use state::State;
pub use steps::{Child, StepError, StepOutput, StepTx};
pub use tenant::TenantId;
pub use worker::{Worker, WorkerBuilder};
pub use {chrono, schemars, serde, serde_json, uuid};

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
