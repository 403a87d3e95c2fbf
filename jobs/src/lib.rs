//! Durable, typed, tenant-aware jobs, declared where they are written.

pub use jobs_macros::*;
pub use jobs_runtime::{
    Class, Ctx, Enqueued, Error, Failure, FollowUp, Job, JobDef, JobError, JobId, Jobs, JsonText, Migrate, Output,
    Payload, Registry, Settled, State, TenantId, UniqueKey, backoff, client, clock, driver, duration, enqueue, error,
    failure, name, outline, registry, spec, state,
};
#[doc(no_inline)]
pub use jobs_runtime::{schemars, serde, serde_json, uuid};

#[cfg(feature = "testing")]
pub use jobs_runtime::{conformance_suite, testing};

pub mod prelude;

/// What generated code names. No part of the public interface.
#[doc(hidden)]
pub use jobs_runtime::__private;
