//! The clock of a test: it stands still until the test moves it. Upstream: tests. Downstream: `clock`.

use crate::{clock::Clock, duration::IntoDuration};
use chrono::{DateTime, Utc};

/// The store's clock, in a test's hand. Clones are one clock.
///
/// # Examples
/// ```
/// let app = jobs_runtime::testing::Harness::new()?;
/// let before = app.clock().now();
/// app.clock().advance("3d");
/// assert_eq!((app.clock().now() - before).num_days(), 3);
/// # Ok::<(), jobs_runtime::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TestClock(pub(super) Clock);

impl TestClock {
    /// The time.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.0.now()
    }

    /// Moves the clock forward: delayed jobs become due, leases lapse, keys and histories run out.
    ///
    /// # Panics
    /// If the text is not a duration such as `"90s"` or `"1d12h"`.
    #[track_caller]
    pub fn advance(&self, by: impl IntoDuration) {
        match by.into_duration() {
            Ok(by) => self.0.advance(by),
            Err(error) => panic!("{error}"),
        }
    }
}
