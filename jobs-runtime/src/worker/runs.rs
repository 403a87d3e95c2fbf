//! Knows every job that a worker holds from its claim to its settlement, so that it can be cancelled. A leaf.

use crate::{
    cancel::{Cancel, CancelReason},
    driver::{Fence, Token},
    id::JobId,
};
use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The claims that are held and the runs under way.
#[derive(Default)]
pub(super) struct Runs(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    held: HashSet<Token>,
    /// Jobs that were asked to cancel, and how, and have no run here: theirs may be about to begin.
    asked: HashMap<JobId, CancelReason>,
    runs: HashMap<Token, (JobId, Cancel)>,
    closed: Option<CancelReason>,
}

impl Runs {
    /// Notes a claim, before anything is done with it.
    pub(super) fn hold(&self, fence: Fence) {
        self.lock().held.insert(fence.token);
    }

    /// Enters the run of a claim. If all were cancelled before, or its job was, it is too.
    pub(super) fn enter(&self, fence: Fence) -> Cancel {
        let cancel = Cancel::default();
        let mut inner = self.lock();
        if let Some(reason) = inner.asked.remove(&fence.job) {
            cancel.cancel(reason);
        }
        if let Some(reason) = inner.closed {
            cancel.cancel(reason);
        }
        inner.runs.insert(fence.token, (fence.job, cancel.clone()));
        cancel
    }

    /// Forgets a claim that has settled or was handed back. Answers how many are held still.
    pub(super) fn leave(&self, fence: Fence) -> usize {
        let mut inner = self.lock();
        inner.held.remove(&fence.token);
        inner.runs.remove(&fence.token);
        inner.asked.remove(&fence.job);
        inner.held.len()
    }

    /// How many claims are held.
    pub(super) fn held(&self) -> usize {
        self.lock().held.len()
    }

    /// Whether a claim is held.
    pub(super) fn knows(&self, fence: Fence) -> bool {
        self.lock().held.contains(&fence.token)
    }

    /// Cancels a job's run, and says whether there is one. A run that is yet to begin is cancelled when it does.
    pub(super) fn cancel(&self, job: JobId, reason: CancelReason) -> bool {
        let mut inner = self.lock();
        let found: Vec<Cancel> = inner.runs.values().filter(|(id, _)| *id == job).map(|run| run.1.clone()).collect();
        if found.is_empty() {
            inner.asked.entry(job).or_insert(reason);
        }
        drop(inner);
        for cancel in &found {
            cancel.cancel(reason);
        }
        !found.is_empty()
    }

    /// Forgets the requests about jobs that the store does not list as asked to cancel: they are no longer held.
    pub(super) fn retain_asked(&self, listed: &[JobId]) {
        self.lock().asked.retain(|job, _| listed.contains(job));
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
