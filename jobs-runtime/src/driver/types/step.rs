//! What is recorded of a run's steps, and how a worker records it.

use super::NewJob;
use crate::{
    driver::EventId,
    error::{Error, code},
    failure::RecordedFailure,
    id::JobId,
    json::JsonText,
    state::State,
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::{fmt::Display, time::Duration};

/// What a run has recorded, and so whether a claim has anything to read before the body begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing yet.
    #[default]
    Fresh = 0,
    /// Steps.
    Recorded = 1,
    /// Steps, and that the point of no return is behind it: it never unwinds.
    PastPivot = 2,
    /// That it unwinds: no step runs forward any more.
    Unwinding = 3,
}

impl Stage {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Fresh, Self::Recorded, Self::PastPivot, Self::Unwinding];

    /// Why a run of this stage takes no such record: none of a step that would run forward once it unwinds.
    pub(crate) fn refusal(self, step: &StepWrite) -> Option<Error> {
        (self == Self::Unwinding && step.kind.is_forward()).then(|| refused_forward(&step.id.name))
    }
}

/// The refusal of a forward record on a run that unwinds.
pub(crate) fn refused_forward(step: &str) -> Error {
    let text = format!("the run unwinds, so nothing is recorded of step `{step}`: no step runs forward any more");
    Error::new(code::JOB_STATE_REFUSED, text)
}

/// Which of a run's records it is. A run has at most one record of an identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StepRef {
    /// The name: 1 to 200 bytes.
    pub name: String,
    /// The key, empty where the step has none: at most 200 bytes.
    pub key: String,
}

/// A step without a key.
impl From<&str> for StepRef {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), key: String::new() }
    }
}

/// A step without a key.
impl From<String> for StepRef {
    fn from(name: String) -> Self {
        Self { name, key: String::new() }
    }
}

/// A step with its key, as `key = …` wrote it.
impl<N: Into<String>, K: Display> From<(N, K)> for StepRef {
    fn from((name, key): (N, K)) -> Self {
        Self { name: name.into(), key: key.to_string() }
    }
}

/// What a record is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// `step!`
    Step = 0,
    /// `step_tx!`
    StepTx = 1,
    /// `sleep!` and `sleep_until!`
    Sleep = 2,
    /// `wait_for!`
    Wait = 3,
    /// `spawn!`: done once the child has ended, with a [`ChildEnd`] as its output. Only the first end counts, and only
    /// while the run is stored as live or dead.
    Spawn = 4,
    /// `race!`: its output is `{"winner", "until"}`, the winner's place from 0 and the last position that had begun by then.
    Race = 5,
    /// A durable value: `ctx.now()`.
    Value = 6,
    /// `patch!`
    Patch = 7,
    /// `pivot!`
    Pivot = 8,
    /// The compensation of the step of the same name and key. The only kind that stands beside another of its identity.
    Undo = 9,
    /// The decision to unwind, with the failure that it unwinds from. Its identity is empty; its position follows all
    /// others at that time.
    Unwind = 10,
    /// How often the job was requeued after it had unwound, in `tries`. Its identity is empty, its position 0.
    Requeue = 11,
}

impl StepKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::Step,
        Self::StepTx,
        Self::Sleep,
        Self::Wait,
        Self::Spawn,
        Self::Race,
        Self::Value,
        Self::Patch,
        Self::Pivot,
        Self::Undo,
        Self::Unwind,
        Self::Requeue,
    ];

    /// Whether it stands for a line of the body, so that no other forward record may share its identity.
    #[must_use]
    pub const fn is_forward(self) -> bool {
        !matches!(self, Self::Undo | Self::Unwind | Self::Requeue)
    }
}

/// How far a recorded step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// It began: a `once` step, one whose compensation is `always`, a child that runs.
    Started = 0,
    /// It waits: a sleep, an event.
    Waiting = 1,
    /// A try failed; another follows.
    Tried = 2,
    /// It failed, and gives that failure to every replay of the same attempt (a `once` step: of every attempt).
    Failed = 3,
    /// It is done and never runs again.
    Done = 4,
    /// An operator said that the compensation is not to run.
    Skipped = 5,
}

impl StepStatus {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Started, Self::Waiting, Self::Tried, Self::Failed, Self::Done, Self::Skipped];
}

/// A recorded step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Its name and key.
    #[serde(flatten)]
    pub id: StepRef,
    /// What it is.
    pub kind: StepKind,
    /// How far it is.
    pub status: StepStatus,
    /// Its place in the order of starts, from 1.
    pub position: u32,
    /// The job's attempt that wrote it last.
    pub attempt: u32,
    /// How many tries have failed.
    #[serde(default)]
    pub tries: u32,
    /// Whether it must not run twice by itself.
    #[serde(default)]
    pub once: bool,
    /// The output of a step; the payload of an event, and while its wait still waits, the event's name as a JSON
    /// string; the [`ChildEnd`] of a child that has ended.
    #[serde(default)]
    pub output: Option<JsonText>,
    /// The failure of a step that failed, or of its last try.
    #[serde(default)]
    pub failure: Option<RecordedFailure>,
    /// When a sleep ends, a wait times out, a step is tried again, or a failure wants its job to be.
    #[serde(default)]
    pub due_at: Option<DateTime<Utc>>,
    /// The event that a wait took.
    #[serde(default)]
    pub event: Option<EventId>,
    /// The child that a spawn made.
    #[serde(default)]
    pub child: Option<JobId>,
    /// When it began, by the store's clock.
    pub started_at: DateTime<Utc>,
    /// When it was done or failed.
    #[serde(default)]
    pub finished_at: Option<DateTime<Utc>>,
}

/// A record to be written. It takes the place of an earlier one of the same identity and kind.
#[derive(Debug, Clone)]
pub struct StepWrite {
    /// Its name and key.
    pub id: StepRef,
    /// What it is.
    pub kind: StepKind,
    /// How far it is.
    pub status: StepStatus,
    /// Its place in the order of starts, from 1. An earlier record keeps its own.
    pub position: u32,
    /// How many tries have failed.
    pub tries: u32,
    /// Whether it must not run twice by itself.
    pub once: bool,
    /// The output.
    pub output: Option<JsonText>,
    /// The failure.
    pub failure: Option<RecordedFailure>,
    /// When it is due, by the store's clock.
    pub due_at: Option<DateTime<Utc>>,
    /// The event that a wait took.
    pub event: Option<EventId>,
    /// How long ago it began. An earlier record keeps its own start.
    pub age: Duration,
    /// The child to be written with the record, all or nothing. Its `parent` is the run.
    pub child: Option<Box<NewJob>>,
}

impl StepWrite {
    /// A record with nothing but its identity and status.
    #[must_use]
    pub fn new(id: StepRef, kind: StepKind, status: StepStatus, position: u32) -> Self {
        Self {
            id,
            kind,
            status,
            position,
            tries: 0,
            once: false,
            output: None,
            failure: None,
            due_at: None,
            event: None,
            age: Duration::ZERO,
            child: None,
        }
    }
}

/// How a child ended: the output of the record of its spawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildEnd {
    /// `completed`, `dead`, `dropped`, `cancelled` or `expired`.
    pub state: State,
    /// The output of one that completed.
    pub output: Option<JsonText>,
    /// The failure of one that did not.
    pub failure: Option<RecordedFailure>,
}
