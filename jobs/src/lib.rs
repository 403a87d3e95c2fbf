//! Durable, typed, tenant-aware jobs, declared where they are written.

pub use jobs_macros::*;
pub use jobs_runtime::{
    CancelReason, Class, CrossTenant, Ctx, Enqueued, Error, Execution, Failure, FollowUp, Job, JobDef, JobError, JobId,
    Jobs, JsonText, Migrate, Outcome, Output, Payload, Registry, Report, Settled, State, TenantId, UniqueKey, Worker,
    WorkerBuilder, backoff, client, clock, driver, duration, enqueue, error, failure, logged, name, outline, registry,
    report, spec, state,
};
#[doc(no_inline)]
pub use jobs_runtime::{chrono, schemars, serde, serde_json, uuid};

#[cfg(feature = "testing")]
pub use jobs_runtime::{TestCtx, conformance_suite, testing};

pub mod prelude;

/// What generated code names. No part of the public interface.
#[doc(hidden)]
pub use jobs_runtime::__private;
