//! Computes the wait before the next attempt. Pure: the random part is a parameter.

use crate::duration;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a failed job waits before its next attempt.
///
/// The default is exponential from 1 s, doubled each time, at most 1 h, with equal jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backoff {
    /// How the wait grows with the attempts.
    pub growth: Growth,
    /// The wait after the first failure, and the step of linear growth.
    pub base: Duration,
    /// The longest wait, before and after jitter.
    pub max: Duration,
    /// Whether the wait is spread at random.
    pub jitter: Jitter,
}

/// How a wait grows with the attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// `base * 2^(attempt - 1)`
    Exponential,
    /// `base * attempt`
    Linear,
    /// `base`
    Fixed,
}

/// Whether a wait is spread at random, so that jobs which failed together do not return together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Jitter {
    /// The wait lies evenly between half of the computed wait and all of it ("equal jitter", M. Brooker,
    /// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
    Equal,
    /// The computed wait itself.
    None,
}

impl Backoff {
    /// Doubles from `base` to `max`, with equal jitter.
    ///
    /// # Panics
    /// In a `const` context, at compile time, if a text is not a duration, is zero, or `max` is shorter than `base`.
    #[must_use]
    #[track_caller]
    pub const fn exponential(base: &str, max: &str) -> Self {
        Self::new(Growth::Exponential, duration::must(base), duration::must(max))
    }

    /// Grows by `base` with each attempt to `max`, with equal jitter.
    ///
    /// # Panics
    /// As [`Backoff::exponential`].
    #[must_use]
    #[track_caller]
    pub const fn linear(base: &str, max: &str) -> Self {
        Self::new(Growth::Linear, duration::must(base), duration::must(max))
    }

    /// Waits `base` each time, without jitter.
    ///
    /// # Panics
    /// As [`Backoff::exponential`].
    #[must_use]
    #[track_caller]
    pub const fn fixed(base: &str) -> Self {
        let base = duration::must(base);
        Self::new(Growth::Fixed, base, base).without_jitter()
    }

    /// Builds a backoff from durations, with equal jitter.
    ///
    /// # Panics
    /// If `max` is shorter than `base`.
    #[must_use]
    #[track_caller]
    pub const fn new(growth: Growth, base: Duration, max: Duration) -> Self {
        assert!(max.as_nanos() >= base.as_nanos(), "a backoff's max must not be shorter than its base");
        Self { growth, base, max, jitter: Jitter::Equal }
    }

    /// The same backoff without its random part.
    #[must_use]
    pub const fn without_jitter(self) -> Self {
        Self { jitter: Jitter::None, ..self }
    }

    /// The wait after the given attempt failed (1 is the first), before jitter. Never overflows; never shrinks as
    /// attempts grow; never passes `max`.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use jobs_runtime::backoff::Backoff;
    /// let backoff = Backoff::exponential("1s", "1h");
    /// assert_eq!(backoff.wait_after(1), Duration::from_secs(1));
    /// assert_eq!(backoff.wait_after(4), Duration::from_secs(8));
    /// assert_eq!(backoff.wait_after(u32::MAX), Duration::from_secs(3_600));
    /// assert_eq!(Backoff::linear("10s", "1m").wait_after(3), Duration::from_secs(30));
    /// assert_eq!(Backoff::fixed("5s").wait_after(9), Duration::from_secs(5));
    /// ```
    #[must_use]
    pub fn wait_after(&self, attempt: u32) -> Duration {
        let attempt = attempt.max(1);
        let wait = match self.growth {
            Growth::Exponential => 2u32.checked_pow(attempt - 1).and_then(|factor| self.base.checked_mul(factor)),
            Growth::Linear => self.base.checked_mul(attempt),
            Growth::Fixed => Some(self.base),
        };
        wait.unwrap_or(self.max).min(self.max)
    }

    /// The wait after the given attempt failed, spread by `random`, a number from 0 (inclusive) to 1 (exclusive).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use jobs_runtime::backoff::Backoff;
    /// let backoff = Backoff::exponential("1s", "1h");
    /// assert_eq!(backoff.jittered(2, 0.0), Duration::from_secs(1));
    /// assert_eq!(backoff.jittered(2, 0.5), Duration::from_millis(1_500));
    /// ```
    #[must_use]
    pub fn jittered(&self, attempt: u32, random: f64) -> Duration {
        let wait = self.wait_after(attempt);
        match self.jitter {
            Jitter::Equal => wait / 2 + (wait - wait / 2).mul_f64(random.clamp(0.0, 1.0)),
            Jitter::None => wait,
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::exponential("1s", "1h")
    }
}
