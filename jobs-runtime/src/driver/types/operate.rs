//! Jobs and workers as an operator sees them.

use super::{Progress, Stage, StepRef};
use crate::{
    error::{Error, code},
    failure::RecordedFailure,
    id::JobId,
    json::JsonText,
    payload::writer,
    state::State,
};
use chrono::{DateTime, Utc};
use serde::Serialize;

/// What a cancel found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelAnswer {
    /// The job was waiting and has ended as cancelled.
    Cancelled,
    /// The job has not ended yet: its worker is told and no new attempt will start, or it undoes its steps first.
    Asked,
    /// The job had already ended so.
    AlreadyFinal(State),
    /// No job of that id is stored.
    NotFound,
}

/// What an operator says about a run that cannot go on by itself. Never applied to a running job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Answers for a `once` step whose outcome is unknown, or that failed; also for one that is done, while the run is
    /// suspended for `X_STEP_MISMATCH`. A suspended run becomes ready; a dead one stays
    /// dead until it is resumed.
    Resolve(StepRef, Resolution),
    /// Makes a dead run that unwound in part unwind further, every compensation and the replay before them with their
    /// full budgets; or a suspended one ready now.
    Resume,
    /// Says that a compensation is not to run: of a dead run that unwound in part.
    SkipUndo(StepRef),
    /// Says that a step was undone by hand: of a dead run that unwound in part.
    MarkUndone(StepRef),
}

/// What became of a step whose outcome is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// It took effect, and gave this output.
    Done(JsonText),
    /// It did not take effect: it fails with this text.
    Failed(String),
    /// It did not take effect: its record is removed, it runs again.
    Again,
}

impl Resolution {
    /// The step took effect, and gave this output: a value of the type that the step returns.
    ///
    /// # Errors
    /// `X_STEP_OUTPUT_INVALID` if the value holds NUL, a non-finite number or what else JSON cannot carry.
    pub fn done<T: Serialize + ?Sized>(output: &T) -> Result<Self, Error> {
        let text = writer::write(output)
            .map_err(|fault| Error::new(code::STEP_OUTPUT_INVALID, format!("the step's output holds {fault}")))?;
        Ok(Self::Done(JsonText::trusted(text)))
    }
}

/// A job as it is stored, for inspection.
#[derive(Debug, Clone, Serialize)]
pub struct JobRecord {
    /// Its id.
    pub id: JobId,
    /// The name that it was queued under.
    pub kind: String,
    /// The payload's version.
    pub version: u16,
    /// The queue.
    pub queue: String,
    /// The tenant.
    pub tenant: Option<String>,
    /// The state.
    pub state: State,
    /// The priority.
    pub priority: i16,
    /// The running attempt, or the next one, from 1; of an ended job the last one.
    pub attempt: u32,
    /// How many times it took its worker down.
    pub crashes: u16,
    /// The payload.
    pub payload: JsonText,
    /// The output of a completed job.
    pub output: Option<JsonText>,
    /// The last failure.
    pub failure: Option<RecordedFailure>,
    /// The last reported progress.
    pub progress: Option<Progress>,
    /// The caller's own key-value pairs.
    pub metadata: Option<JsonText>,
    /// The `traceparent` of the enqueuing span.
    pub trace: Option<String>,
    /// Who enqueued it.
    pub enqueued_by: Option<String>,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// When a waiting job is due.
    pub due_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
    /// What the run has recorded.
    pub stage: Stage,
    /// The run that spawned it.
    pub parent: Option<JobId>,
    /// Why a suspended job cannot go on by itself.
    pub parked: Option<RecordedFailure>,
    /// Whether a running job was asked to cancel.
    pub cancel_requested: bool,
}

/// Which jobs to list.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    /// Only of this state.
    pub state: Option<State>,
    /// Only of this queue.
    pub queue: Option<String>,
    /// Only of this kind.
    pub kind: Option<String>,
    /// Only of this tenant.
    pub tenant: Option<String>,
    /// Only those that are parked for a reason (`true`), so that a person or another release must help, or only the others
    /// (`false`). The reason is [`JobRecord::parked`].
    pub parked: Option<bool>,
    /// Only those older than this one, for the next page.
    pub before: Option<JobId>,
    /// How many at most. Zero means 100; more than 200 means 200.
    pub limit: u32,
}

/// How many live and dead jobs a kind has in a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// The queue.
    pub queue: String,
    /// The kind.
    pub kind: String,
    /// The state.
    pub state: State,
    /// How many.
    pub jobs: u64,
    /// Whether a worker with a current lease serves the queue and knows the kind.
    pub has_worker: bool,
}

/// A worker with a current lease.
#[derive(Debug, Clone, Serialize)]
pub struct WorkerRecord {
    /// The incarnation.
    pub id: i64,
    /// The name for people.
    pub name: String,
    /// The queues with their concurrency.
    pub queues: Vec<(String, u32)>,
    /// The kinds that it knows.
    pub kinds: Vec<String>,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When its lease ends unless renewed.
    pub lease_until: DateTime<Utc>,
    /// How many jobs it holds.
    pub running: u64,
}
