//! What a run that is parked waits for, and the decision to unwind.

use super::StepWrite;
use crate::{driver::EventId, failure::RecordedFailure, id::JobId, spec::Keep};
use chrono::{DateTime, Utc};

/// A run that is dropped until something happens. It keeps its attempt; its crashes are forgotten.
///
/// - Before it lands, the store looks whether what it waits for has happened already: then it is ready at once.
/// - If it was asked to cancel or roll back meanwhile, it ends as cancelled, or unwinds, as by a
///   [`Reschedule`](super::Reschedule): nothing is recorded of what it was to wait for.
#[derive(Debug, Clone)]
pub struct Park {
    /// When it is due whatever happens, by the store's clock; `None` for never.
    pub due_at: Option<DateTime<Utc>>,
    /// What makes it ready before.
    pub waits: Vec<Wait>,
    /// What has begun and is not recorded yet: sleeps and waits. A run that unwinds has none: its park is refused.
    pub records: Vec<StepWrite>,
    /// Why it cannot go on, where an operator or another release must help: `X_STEP_UNKNOWN`, `X_STEP_MISMATCH`.
    pub reason: Option<RecordedFailure>,
    /// How long it stays in the history, if it ends as cancelled.
    pub keep: Keep,
}

/// Something that makes a parked run ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// An event that the run may see and has not taken yet.
    Event(WaitEvent),
    /// The end of a child.
    Child(JobId),
}

/// An event that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitEvent {
    /// The event's name.
    pub name: String,
    /// Its key.
    pub key: String,
    /// The events of that name and key that the run has taken already.
    pub taken: Vec<EventId>,
}

/// The decision that a run unwinds. Durable from the moment it lands; the claim stays held.
///
/// The job's stage becomes [`Unwinding`](super::Stage::Unwinding), the failure its own, its crashes are forgotten, and
/// a record of kind [`Unwind`](super::StepKind::Unwind) keeps the failure. From then on the store takes no forward record
/// of the run but those that come with a decision, and the ends of its children.
#[derive(Debug, Clone)]
pub struct Unwind {
    /// What it unwinds from.
    pub failure: RecordedFailure,
    /// Steps of this attempt that failed and are not recorded yet.
    pub records: Vec<StepWrite>,
}
