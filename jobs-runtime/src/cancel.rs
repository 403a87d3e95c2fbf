//! Stops a run once, for the reason that came first. A leaf.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};
use tokio_util::sync::CancellationToken;

/// Why a run should stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CancelReason {
    /// The attempt ran longer than its timeout: it fails.
    Timeout,
    /// The worker drains and its grace has ended: the job goes back, uncounted.
    Drain,
    /// The worker no longer owns the job: nothing more is written.
    LeaseLost,
    /// Somebody cancelled the job.
    Cancelled,
    /// Somebody cancelled the job and asked for its steps to be undone.
    RollBack,
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "timeout",
            Self::Drain => "drain",
            Self::LeaseLost => "lease lost",
            Self::Cancelled => "cancelled",
            Self::RollBack => "cancelled, to be undone",
        })
    }
}

/// One run's cancellation. Cheap to clone; the first reason wins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cancel {
    reason: Arc<OnceLock<CancelReason>>,
    token: CancellationToken,
}

impl Cancel {
    /// Cancels the run, and says whether this reason came first.
    pub(crate) fn cancel(&self, reason: CancelReason) -> bool {
        let first = self.reason.set(reason).is_ok();
        self.token.cancel();
        first
    }

    /// The reason that came first.
    pub(crate) fn reason(&self) -> Option<CancelReason> {
        self.reason.get().copied()
    }

    /// Resolves once the run is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.token.cancelled().await;
    }
}
