//! Stops a run once, for the reason that came first. A leaf.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
pub(crate) struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    told: Mutex<Told>,
    token: CancellationToken,
}

#[derive(Debug, Default)]
struct Told {
    reason: Option<CancelReason>,
    /// The first reason that came after it and stops a run that unwinds, too.
    later: Option<CancelReason>,
    /// Whether it is the cancellation of a run that unwinds.
    unwinds: bool,
    /// The cancellation that took the place of this one.
    successor: Option<Cancel>,
}

impl Cancel {
    /// Cancels the run, and says whether this reason came first. A run that unwinds cannot be cancelled by anybody: only
    /// its timeout, a drain and the end of its lease stop it.
    pub(crate) fn cancel(&self, reason: CancelReason) -> bool {
        let mut told = self.told();
        if let Some(successor) = told.successor.clone() {
            drop(told);
            return successor.cancel(reason);
        }
        if told.unwinds && matches!(reason, CancelReason::Cancelled | CancelReason::RollBack) {
            return false;
        }
        if told.reason.is_some() {
            if matches!(reason, CancelReason::Drain | CancelReason::LeaseLost) {
                told.later.get_or_insert(reason);
            }
            return false;
        }
        told.reason = Some(reason);
        drop(told);
        self.0.token.cancel();
        true
    }

    /// The cancellation of the run from here on, as one that unwinds. The body that ran forward stays cancelled, if it
    /// was.
    ///
    /// # Errors
    /// The reason that stops the run all the same.
    pub(crate) fn unwinding(&self) -> Result<Self, CancelReason> {
        let mut told = self.told();
        let stops = |reason: &CancelReason| matches!(reason, CancelReason::Drain | CancelReason::LeaseLost);
        if let Some(reason) = told.reason.filter(stops).or(told.later) {
            return Err(reason);
        }
        let successor =
            Self(Arc::new(Inner { told: Mutex::new(Told { unwinds: true, ..Told::default() }), ..Inner::default() }));
        told.successor = Some(successor.clone());
        Ok(successor)
    }

    /// The reason that came first.
    pub(crate) fn reason(&self) -> Option<CancelReason> {
        self.told().reason
    }

    /// Resolves once the run is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.0.token.cancelled().await;
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cancel, CancelReason};

    #[test]
    fn a_run_that_unwinds_is_stopped_by_a_drain_and_not_by_a_cancel() {
        let forward = Cancel::default();
        assert!(forward.cancel(CancelReason::RollBack));
        let unwinding = forward.unwinding().unwrap();
        for reason in [CancelReason::Cancelled, CancelReason::RollBack] {
            assert!(!forward.cancel(reason));
            assert_eq!(unwinding.reason(), None);
        }
        assert!(forward.cancel(CancelReason::Drain), "who knows the first one reaches the second");
        assert_eq!(unwinding.reason(), Some(CancelReason::Drain));
        assert_eq!(forward.reason(), Some(CancelReason::RollBack), "the body that ran forward stays as it was");
    }

    #[test]
    fn a_drain_that_came_too_late_for_the_body_stops_the_unwinding() {
        let cancel = Cancel::default();
        cancel.cancel(CancelReason::Timeout);
        assert!(!cancel.cancel(CancelReason::Drain));
        assert!(!cancel.cancel(CancelReason::LeaseLost));
        assert_eq!(cancel.reason(), Some(CancelReason::Timeout));
        assert_eq!(cancel.unwinding().unwrap_err(), CancelReason::Drain);
    }

    #[test]
    fn a_drain_that_came_first_lets_nothing_unwind() {
        let cancel = Cancel::default();
        cancel.cancel(CancelReason::LeaseLost);
        assert_eq!(cancel.unwinding().unwrap_err(), CancelReason::LeaseLost);
    }
}
