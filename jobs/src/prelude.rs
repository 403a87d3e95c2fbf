//! What most files with jobs use: `use jobs::prelude::*;`.

pub use crate::{
    Ctx, Enqueued, Event, Failure, Job, JobError, Jobs, Migrate, Registry, Settled, State, StepError, compensate,
    event, job, patch, pivot, race, sleep, sleep_until, spawn, step, step_tx, wait_for,
};
#[doc(no_inline)]
pub use crate::{
    schemars::JsonSchema,
    serde::{Deserialize, Serialize},
    uuid::Uuid,
};
