//! What bodies did, for tests to look at.

use jobs::{Ctx, Registry, testing::Harness};
use std::sync::{Arc, Mutex, PoisonError};

/// The notes of all bodies, in order. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.into());
    }

    /// All notes so far, which are forgotten.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many notes there are of this text.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|note| *note == text).count()
    }
}

/// Notes what a body does.
pub(crate) fn note(ctx: &Ctx, text: impl Into<String>) {
    ctx.state::<Log>().expect("the test gives a log").note(text);
}

/// How many such notes there are.
pub(crate) fn count(ctx: &Ctx, text: &str) -> usize {
    ctx.state::<Log>().expect("the test gives a log").count(text)
}

/// A harness with a log.
pub(crate) fn with_log(registry: Registry) -> (Harness, Log) {
    let log = Log::default();
    (Harness::with(registry).state(log.clone()), log)
}

/// A harness of some jobs.
macro_rules! harness {
    ($($job:ty),+) => {
        $crate::log::with_log(jobs::Registry::builder()$(.job::<$job>())+.build().expect("the jobs agree"))
    };
}
pub(crate) use harness;
