//! Knows every run of a worker from its start to its settlement, so that it can be cancelled. A leaf.

use crate::{
    cancel::{Cancel, CancelReason},
    driver::{Fence, Token},
    id::JobId,
};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The runs under way.
#[derive(Default)]
pub(super) struct Runs(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    runs: HashMap<Token, (JobId, Cancel)>,
    closed: Option<CancelReason>,
}

impl Runs {
    /// Enters a run. If all were cancelled before, it is too.
    pub(super) fn enter(&self, fence: Fence) -> Cancel {
        let cancel = Cancel::default();
        let mut inner = self.lock();
        if let Some(reason) = inner.closed {
            cancel.cancel(reason);
        }
        inner.runs.insert(fence.token, (fence.job, cancel.clone()));
        cancel
    }

    /// Leaves a run out that has settled.
    pub(super) fn leave(&self, fence: Fence) {
        self.lock().runs.remove(&fence.token);
    }

    /// Whether a claim's run is under way.
    pub(super) fn knows(&self, fence: Fence) -> bool {
        self.lock().runs.contains_key(&fence.token)
    }

    /// Cancels a job's run, and says whether there is one.
    pub(super) fn cancel(&self, job: JobId, reason: CancelReason) -> bool {
        let inner = self.lock();
        let found: Vec<Cancel> = inner.runs.values().filter(|(id, _)| *id == job).map(|run| run.1.clone()).collect();
        drop(inner);
        for cancel in &found {
            cancel.cancel(reason);
        }
        !found.is_empty()
    }

    /// Cancels all runs, and those to come. Answers how many there were.
    pub(super) fn cancel_all(&self, reason: CancelReason) -> usize {
        let mut inner = self.lock();
        inner.closed.get_or_insert(reason);
        let found: Vec<Cancel> = inner.runs.values().map(|run| run.1.clone()).collect();
        drop(inner);
        for cancel in &found {
            cancel.cancel(reason);
        }
        found.len()
    }

    /// How many runs are under way.
    pub(super) fn len(&self) -> usize {
        self.lock().runs.len()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
