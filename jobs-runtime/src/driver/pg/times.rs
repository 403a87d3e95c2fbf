//! Turns durations into the seconds that statements take, and back. A leaf.

use crate::duration;
use std::time::Duration;

/// A duration in seconds. Longer than the limit of [`duration`] it stops there, where no sum with the time overflows.
pub(super) fn seconds(span: Duration) -> f64 {
    span.min(duration::MAX).as_secs_f64()
}

/// The time until something that is due in so many seconds, or was due before.
pub(super) fn wait(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}
