//! The states of a job and the legal moves between them. `docs/states.md` is drawn from this file.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for its time: enqueued with a delay, or failed and waiting for its next attempt.
    Delayed,
    /// Can be claimed.
    Ready,
    /// Held by a worker.
    Running,
    /// Parked in the middle of its body: a sleep, an event, a child.
    Suspended,
    /// Ended well.
    Completed,
    /// Failed for good and kept for an operator.
    Dead,
    /// Failed for good and not kept (`dead_letter = false`).
    Dropped,
    /// Cancelled.
    Cancelled,
    /// Not started by the time that `expires_after` allowed.
    Expired,
}

impl State {
    /// All states, in the order of a job's life.
    pub const ALL: [Self; 9] = [
        Self::Delayed,
        Self::Ready,
        Self::Running,
        Self::Suspended,
        Self::Completed,
        Self::Dead,
        Self::Dropped,
        Self::Cancelled,
        Self::Expired,
    ];

    /// The states that may follow this one.
    #[must_use]
    pub const fn next(self) -> &'static [Self] {
        match self {
            Self::Delayed => &[Self::Ready, Self::Cancelled],
            Self::Ready => &[Self::Running, Self::Cancelled],
            Self::Running => &[
                Self::Delayed,
                Self::Ready,
                Self::Suspended,
                Self::Completed,
                Self::Dead,
                Self::Dropped,
                Self::Cancelled,
                Self::Expired,
            ],
            Self::Suspended => &[Self::Ready, Self::Cancelled],
            Self::Dead => &[Self::Ready],
            Self::Completed | Self::Dropped | Self::Cancelled | Self::Expired => &[],
        }
    }

    /// Whether the job is done with: it will not run again unless an operator requeues it.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Dead | Self::Dropped | Self::Cancelled | Self::Expired)
    }

    /// What it means, in a line.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Delayed => "waits for its time: enqueued with a delay, or failed and waiting for its next attempt",
            Self::Ready => "can be claimed",
            Self::Running => "held by a worker",
            Self::Suspended => "parked in the middle of its body: a sleep, an event, a child",
            Self::Completed => "ended well",
            Self::Dead => "failed for good and kept for an operator, who may requeue it",
            Self::Dropped => "failed for good and not kept (`dead_letter = false`, or the body asked for it)",
            Self::Cancelled => "cancelled",
            Self::Expired => "not started by the time that `expires_after` allowed",
        }
    }

    /// The name that stands in SQL views, JSON and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delayed => "delayed",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Suspended => "suspended",
            Self::Completed => "completed",
            Self::Dead => "dead",
            Self::Dropped => "dropped",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
