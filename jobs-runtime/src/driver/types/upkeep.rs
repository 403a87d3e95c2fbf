//! What the upkeep of a store finds.

use crate::id::JobId;
use std::time::Duration;

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outlook {
    /// The queues, of those asked for, that hold ready jobs.
    pub ready: Vec<String>,
    /// How long until the next waiting job is due; zero if some are due now; `None` if none waits.
    pub next_due: Option<Duration>,
    /// Whether a worker's lease has lapsed, so that there is something to rescue.
    pub lapsed: bool,
    /// Whether parked runs may have to be woken that an event or a child's end could not wake by itself.
    pub unwoken: bool,
    /// Whether events have expired that a purge would remove.
    pub expired_events: bool,
}

/// What a promotion moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Promoted {
    /// How many jobs became ready.
    pub moved: u32,
    /// How long until the next waiting job is due; zero if more are due now; `None` if none waits.
    pub next_due: Option<Duration>,
}

/// What a rescue handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rescued {
    /// How many workers' leases had lapsed.
    pub workers: u32,
    /// How many jobs are ready again.
    pub jobs: u32,
    /// How many ended as cancelled.
    pub cancelled: u32,
}

/// A hint that something may be to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// The queue has work.
    Queue(String),
    /// A running job was asked to cancel.
    Cancel(JobId),
    /// A running job was asked to cancel and undo its steps.
    RollBack(JobId),
    /// Parked runs may have to be woken: see [`Outlook::unwoken`].
    Unwoken,
    /// Hints may have been lost: look at everything.
    All,
}
