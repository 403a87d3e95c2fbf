//! Shows a run: what it has recorded, laid over the outline of its body. Upstream: `client`. Downstream: `driver`.
//!
//! It reads what is stored and decides nothing: a run whose code is not at hand, or that has ended, is shown the same way.

mod judge;
mod lay;

use crate::{
    client::Jobs,
    driver::{JobRecord, StepKind, StepRecord},
    error::Error,
    failure::RecordedFailure,
    id::JobId,
    outline::StoredItem,
};
use chrono::{DateTime, Utc};
use serde::Serialize;

/// A job, and each step of its run: done, under way, or still to come.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// The job as it is stored.
    pub job: JobRecord,
    /// The steps, waits and sleeps in the order of the source, and what is recorded beyond it (in functions that the body
    /// calls) in the order of starts. Where no outline is known, what is recorded alone.
    pub steps: Vec<TimelineStep>,
    /// Whether the outline of the body is known: from this process's own code, or from what a worker has stored.
    pub has_outline: bool,
    /// What the run unwinds from, or has unwound from.
    pub unwound_from: Option<RecordedFailure>,
    /// How often the job was requeued after it had unwound.
    pub begun_anew: u32,
}

/// A line of the body, or several of a line that carries a key.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TimelineStep {
    /// What it is.
    pub kind: StepKind,
    /// Its name.
    pub name: String,
    /// Its key, where it has one.
    pub key: Option<String>,
    /// The line in the job's file, where the outline has it.
    pub line: Option<u32>,
    /// How far it is.
    #[serde(flatten)]
    pub state: StepState,
    /// What is recorded of it: its output, its failure, its times.
    pub record: Option<StepRecord>,
    /// Its compensation, where it has one.
    pub undo: Option<TimelineUndo>,
}

/// The compensation of a step.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TimelineUndo {
    /// The line in the job's file, where the outline has it.
    pub line: Option<u32>,
    /// How far it is.
    pub state: UndoState,
    /// What is recorded of it: how often it was tried, its failure, its times.
    pub record: Option<StepRecord>,
}

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepState {
    /// Nothing is recorded of it, and it may still come. One in a branch that is not taken stays so until the job ends.
    ToCome,
    /// Nothing is recorded of it, and it never runs: the job has ended, or unwinds.
    NotReached,
    /// It runs. A plain step is recorded only when it is done: of a running job, the first one that comes after all that is
    /// recorded is taken to run.
    Running,
    /// It waits.
    Waiting(WaitsFor),
    /// It failed, and is to be tried again.
    Retrying {
        /// When, if that is recorded of the step: else with the job.
        due_at: Option<DateTime<Utc>>,
    },
    /// It began and left no result. In a live run it runs again, unless a race was decided without it.
    Interrupted,
    /// A `once` step that began and left no result: somebody must say what became of it.
    Unknown,
    /// It failed.
    Failed,
    /// It waited for an event that did not come in time.
    TimedOut,
    /// It is done.
    Done,
    /// It is being undone.
    Undoing,
    /// It was done, and is undone.
    Undone,
    /// Its compensation failed, and is not tried again by itself.
    UndoFailed,
    /// An operator said that its compensation is not to run.
    UndoSkipped,
}

/// What a step waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "waits_for", rename_all = "snake_case")]
#[non_exhaustive]
pub enum WaitsFor {
    /// A time.
    Time {
        /// When it is over.
        until: Option<DateTime<Utc>>,
    },
    /// An event.
    Event {
        /// The event's name, where it is recorded.
        event: Option<String>,
        /// Its key.
        event_key: String,
        /// When the wait times out, if it does.
        until: Option<DateTime<Utc>>,
    },
    /// The end of a child.
    Child {
        /// The child's id.
        child: Option<JobId>,
    },
}

/// How far a compensation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UndoState {
    /// It is declared, and the run does not unwind.
    Declared,
    /// The run unwinds, and it has not been tried. In a dead job it is not tried any more.
    Pending,
    /// It was tried and failed, and is tried again.
    Retrying,
    /// It failed, and is not tried again by itself.
    Failed,
    /// It is done.
    Done,
    /// An operator said that it is not to run.
    Skipped,
}

impl Timeline {
    /// Finds the only step of this name and no key, or the first with one.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&TimelineStep> {
        self.steps.iter().find(|step| step.name == name)
    }
}

impl Jobs {
    /// Shows a job and each step of its run, whether it waits, runs, is dead or in the history. The steps that have not run
    /// yet are known from the outline of its body: of this process's own code, or as the worker that began last had it.
    ///
    /// The job and what its run has recorded are read one after the other: a run that goes on meanwhile may be a step
    /// ahead of its job's state.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND` if no job of that id is stored.
    pub async fn timeline(&self, job: JobId) -> Result<Timeline, Error> {
        let job = self.find(job).await?;
        let records = self.driver().steps(job.id).await?;
        let outline = match self.registry().get(&job.kind) {
            Some(def) => Some(def.spec.outline.iter().map(StoredItem::from).collect()),
            None => self.driver().outline(&job.kind).await?,
        };
        let now = self.driver().now().await?;
        Ok(lay::lay(job, records, outline, now))
    }
}
