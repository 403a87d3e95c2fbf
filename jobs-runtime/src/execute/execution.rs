//! What one run of a job came to.

use crate::{
    failure::{RecordedFailure, Stop},
    id::JobId,
};
use std::{fmt, time::Duration};

/// One run of a job, as it ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Execution {
    /// The job's id.
    pub job: JobId,
    /// How the run ended.
    pub outcome: Outcome,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// How long the body ran; zero if it was not started.
    pub duration: Duration,
    /// The failure, if it failed.
    pub error: Option<RecordedFailure>,
    /// How long the job waits before it runs again, if it does; of a parked run at the latest.
    pub resume_after: Option<Duration>,
    /// Why no further attempt follows, if none does.
    pub stop: Option<Stop>,
    /// How many steps ran.
    pub steps_run: u32,
    /// How many steps were answered from their record.
    pub steps_replayed: u32,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The body returned `Ok`.
    Completed,
    /// The attempt failed; another follows.
    Retried,
    /// The job failed for good and is kept for an operator.
    Dead,
    /// The job failed for good and is not kept.
    Dropped,
    /// The job was cancelled, from outside or by its body.
    Cancelled,
    /// The job was not started by the time that `expires_after` allows.
    Expired,
    /// The body asked to run again later; no attempt is counted.
    Snoozed,
    /// The body waits: it was let go of until something happens, or until somebody answers.
    Parked,
    /// The job was handed back by a drain, or because the store refused every form of its end; no attempt is counted.
    Interrupted,
    /// The job was refused before its body: its payload belongs to another tenant. It is dead.
    Refused,
    /// The worker no longer owned the job: nothing was written.
    Stale,
}

impl Outcome {
    /// The name that stands in logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Retried => "retried",
            Self::Dead => "dead",
            Self::Dropped => "dropped",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Snoozed => "snoozed",
            Self::Parked => "parked",
            Self::Interrupted => "interrupted",
            Self::Refused => "refused",
            Self::Stale => "stale",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
