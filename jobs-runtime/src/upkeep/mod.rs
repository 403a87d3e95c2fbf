//! Looks after the store while a worker lives: promotes what is due, rescues what dead workers held, wakes parked runs
//! that nothing else woke, purges what is over. Upstream: `worker`. Downstream: `driver`.
//!
//! One read, the [`lookout()`], says whether any of it is needed, so that an idle worker costs little.

mod alarm;
mod events;
mod lookout;
mod promote;
mod rescue;
mod retention;
mod wake;

pub(crate) use alarm::Alarm;
pub(crate) use events::{PurgeEvents, purge_events};
pub(crate) use lookout::lookout;
pub(crate) use promote::promote;
pub(crate) use rescue::rescue;
pub(crate) use retention::purge;
pub(crate) use wake::wake;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use tokio::sync::Notify;

/// What the loops tell each other.
pub(crate) struct Signals {
    /// Rings when a waiting job is due.
    pub(crate) due: Alarm,
    /// Told when a lease has lapsed.
    pub(crate) lapsed: Notify,
    /// Told when events have expired.
    pub(crate) expired: Notify,
    /// Told when a look is worth it before its time.
    pub(crate) look: Notify,
    /// Told when a look found parked runs to wake.
    unwoken: Notify,
    nudged: Notify,
    is_unwoken: AtomicBool,
    hints_live: AtomicBool,
    lease: Duration,
}

impl Signals {
    pub(crate) fn new(lease: Duration) -> Self {
        Self {
            due: Alarm::default(),
            lapsed: Notify::new(),
            expired: Notify::new(),
            look: Notify::new(),
            unwoken: Notify::new(),
            nudged: Notify::new(),
            is_unwoken: AtomicBool::new(false),
            hints_live: AtomicBool::new(false),
            lease,
        }
    }

    /// Notes whether hints are proven to arrive.
    pub(crate) fn set_hints_live(&self, live: bool) {
        self.hints_live.store(live, Ordering::Relaxed);
    }

    /// Notes whether a look found parked runs to wake.
    pub(crate) fn set_unwoken(&self, unwoken: bool) {
        self.is_unwoken.store(unwoken, Ordering::Relaxed);
        if unwoken {
            self.unwoken.notify_one();
        }
    }

    /// Notes that there are parked runs to wake that were parked, or whose event came, a moment ago.
    pub(crate) fn nudge(&self) {
        self.nudged.notify_one();
        self.set_unwoken(true);
    }

    /// Whether the last look found parked runs to wake.
    fn is_unwoken(&self) -> bool {
        self.is_unwoken.load(Ordering::Relaxed)
    }

    /// How long until the next look: 5 s, 2 s while hints are not proven to arrive, and never more than a third of the
    /// lease, so that what a dead worker held is found in time. Shortened at random by up to a
    /// twentieth.
    fn pause(&self) -> Duration {
        let longest = if self.hints_live.load(Ordering::Relaxed) { 5_000 } else { 2_000 };
        let longest = Duration::from_millis(longest).min(self.lease / 3);
        longest.mul_f64(1.0 - fastrand::f64() / 20.0)
    }
}
