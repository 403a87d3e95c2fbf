//! Tells the time: the system's, or a test's own. A leaf; the memory driver takes it as its store's clock.

use chrono::{DateTime, TimeDelta, Utc};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// A clock. Clones tell the same time.
///
/// # Examples
/// ```
/// use jobs_runtime::clock::Clock;
/// use std::time::Duration;
/// let clock = Clock::manual();
/// let before = clock.now();
/// clock.advance(Duration::from_secs(3 * 86_400));
/// assert_eq!((clock.now() - before).num_days(), 3);
/// ```
#[derive(Debug, Clone)]
pub struct Clock(Kind);

#[derive(Debug, Clone)]
enum Kind {
    System,
    Manual(Arc<watch::Sender<DateTime<Utc>>>),
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub const fn system() -> Self {
        Self(Kind::System)
    }

    /// A clock that begins at the system's time and stands still until it is advanced.
    #[must_use]
    pub fn manual() -> Self {
        Self::manual_at(Utc::now())
    }

    /// A clock that begins at the given time and stands still until it is advanced.
    #[must_use]
    pub fn manual_at(time: DateTime<Utc>) -> Self {
        Self(Kind::Manual(Arc::new(watch::Sender::new(time))))
    }

    /// Whether the clock moves only when it is advanced.
    #[must_use]
    pub const fn is_manual(&self) -> bool {
        matches!(self.0, Kind::Manual(_))
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        match &self.0 {
            Kind::System => Utc::now(),
            Kind::Manual(time) => *time.borrow(),
        }
    }

    /// Moves a manual clock forward and wakes whoever watches it. The system's clock does not move.
    pub fn advance(&self, by: Duration) {
        if let Kind::Manual(time) = &self.0 {
            time.send_modify(|time| *time = after(*time, by));
        }
    }

    /// Watches the clock for being advanced.
    pub(crate) fn watch(&self) -> Watch {
        match &self.0 {
            Kind::System => Watch(None),
            Kind::Manual(time) => Watch(Some(time.subscribe())),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

/// Waits for a manual clock to be advanced.
pub(crate) struct Watch(Option<watch::Receiver<DateTime<Utc>>>);

impl Watch {
    /// Resolves once the clock has been advanced since the last call; never for the system's clock.
    pub(crate) async fn advanced(&mut self) {
        let told = match &mut self.0 {
            Some(time) => time.changed().await.is_ok(),
            None => false,
        };
        if !told {
            std::future::pending::<()>().await;
        }
    }
}

/// The time that lies so long after another. A sum past the limit of [`duration`](crate::duration) stops there.
pub(crate) fn after(time: DateTime<Utc>, by: Duration) -> DateTime<Utc> {
    let by = TimeDelta::from_std(by.min(crate::duration::MAX)).unwrap_or(TimeDelta::MAX);
    time.checked_add_signed(by).unwrap_or(DateTime::<Utc>::MAX_UTC)
}
