//! What a worker writes about a job that it holds. Every write carries its fence.

use super::{Fence, NewJob, Park, StepWrite, Unwind};
use crate::{error::Error, failure::RecordedFailure, json::JsonText, spec::Keep, state::State};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One write by a worker about a job that it holds.
#[derive(Debug, Clone)]
pub struct Write {
    /// The claim under which it writes.
    pub fence: Fence,
    /// What it writes.
    pub change: Change,
}

/// What a worker can write about a job. A test enumerates the variants and proves that each is fenced.
#[derive(Debug, Clone)]
pub enum Change {
    /// The job has ended.
    Finish(Finish),
    /// The job goes back to wait.
    Reschedule(Reschedule),
    /// The job reports how far it is.
    Progress(Progress),
    /// A step is recorded. That it waits replaces no record of its end. On a run that unwinds, a record that stands for a
    /// line of the body ([`StepKind::is_forward`](super::StepKind::is_forward)) is refused.
    Step(Box<StepWrite>),
    /// The run is parked.
    Park(Box<Park>),
    /// The run begins to unwind. It stays held.
    Unwind(Box<Unwind>),
}

/// The end of a job.
#[derive(Debug, Clone)]
pub struct Finish {
    /// `completed`, `dead`, `dropped`, `cancelled` or `expired`.
    pub state: State,
    /// The output of a completed job.
    pub output: Option<JsonText>,
    /// The failure of a job that did not complete.
    pub failure: Option<RecordedFailure>,
    /// How long it stays in the history. Dead jobs stay until an operator acts.
    pub keep: Keep,
    /// A job to be written in the same statement.
    pub follow_up: Option<Box<NewJob>>,
}

/// A job that goes back to wait. If it was asked to cancel meanwhile, it ends as cancelled instead; if it was asked to roll
/// back and has recorded something, it becomes ready and unwinds, under the attempt that it had.
#[derive(Debug, Clone)]
pub struct Reschedule {
    /// How long it waits; zero makes it ready at once.
    pub delay: Duration,
    /// The number of its next attempt: the same for a drain or snooze, one more after a failure.
    pub attempt: u32,
    /// The failure of the attempt, if it failed.
    pub failure: Option<RecordedFailure>,
    /// How long it stays in the history, if it ends as cancelled.
    pub keep: Keep,
}

/// How far a job is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// How much there is; `None` if unknown.
    pub total: Option<u64>,
    /// What it is doing.
    pub message: String,
}

/// What became of a write.
#[derive(Debug)]
pub enum Written {
    /// It landed.
    Landed,
    /// A reschedule or a park found that the job was asked to cancel: it ended as cancelled. A step with a child found
    /// the same: nothing was written, and the job is still held.
    Cancelled,
    /// The fence no longer matches, or the worker's lease has lapsed: nothing was changed.
    Stale,
    /// The store refused this item: nothing was changed, the job is still held. A step whose child's unique key is
    /// taken is refused with `X_JOB_DUPLICATE`; a forward record of a run that unwinds, alone or with a park, with
    /// `X_JOB_STATE_REFUSED`.
    Refused(Error),
}
