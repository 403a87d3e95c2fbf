//! Measures how fast a queue starts jobs, to say how many are worth holding ahead. A leaf.

use std::time::Duration;
use tokio::time::Instant;

/// How much of a queue's work is held ahead: what it starts in this time. Slow jobs are thus left to other workers.
const AHEAD: Duration = Duration::from_millis(200);
/// The most that is held ahead.
const MOST: u32 = 1_000;
/// The shortest time that is measured.
const WINDOW: Duration = Duration::from_millis(10);

/// The pace of one queue.
pub(super) struct Rate {
    fixed: Option<u32>,
    since: Instant,
    started: u32,
    per_second: f64,
}

impl Rate {
    /// A pace of nothing yet; or a fixed number to hold ahead.
    pub(super) fn new(fixed: Option<u32>) -> Self {
        Self { fixed, since: Instant::now(), started: 0, per_second: 0.0 }
    }

    /// Counts a start.
    pub(super) fn started(&mut self) {
        self.started = self.started.saturating_add(1);
    }

    /// How many jobs to hold ahead now.
    pub(super) fn ahead(&mut self) -> u32 {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        let elapsed = self.since.elapsed();
        if elapsed >= WINDOW {
            let now = f64::from(self.started) / elapsed.as_secs_f64();
            self.per_second = (self.per_second + now) / 2.0;
            self.started = 0;
            self.since = Instant::now();
        }
        ((self.per_second * AHEAD.as_secs_f64()) as u32).min(MOST)
    }
}
