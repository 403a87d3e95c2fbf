//! Writes a run's progress: the latest report, at most once a second, and the last one before the job settles.

use crate::{
    cancel::{Cancel, CancelReason},
    commit::Committer,
    driver::{Change, Fence, Progress, Written},
    task::task,
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// The shortest time between two writes.
const THROTTLE: Duration = Duration::from_secs(1);
/// The longest message, in bytes.
const MESSAGE: usize = 500;

/// The reports of one run. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Progresses(Arc<Inner>);

struct Inner {
    committer: Option<Committer>,
    fence: Fence,
    cancel: Cancel,
    state: Mutex<Reports>,
}

#[derive(Default)]
struct Reports {
    unwritten: Option<Progress>,
    last: Option<Progress>,
    next_write: Option<Instant>,
    writing: bool,
}

impl Progresses {
    /// The reports of a run. Without a committer they are only kept.
    pub(crate) fn new(committer: Option<Committer>, fence: Fence, cancel: Cancel) -> Self {
        Self(Arc::new(Inner { committer, fence, cancel, state: Mutex::default() }))
    }

    /// Keeps the report, and sees to it that it, or a later one, is written soon.
    pub(crate) fn report(&self, mut progress: Progress) {
        progress.message.truncate(progress.message.floor_char_boundary(MESSAGE));
        let mut state = self.lock();
        state.last = Some(progress.clone());
        state.unwritten = Some(progress);
        if state.writing || self.0.committer.is_none() {
            return;
        }
        // Outside of a runtime nothing can be written now; the flush before the settlement will.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            state.writing = true;
            runtime.spawn(task(self.clone().write_throttled()));
        }
    }

    /// Writes what has not been written.
    pub(crate) async fn flush(&self) {
        let unwritten = self.lock().unwritten.take();
        if let Some(progress) = unwritten {
            self.write(progress).await;
        }
    }

    /// The latest report.
    #[cfg(feature = "testing")]
    pub(crate) fn last(&self) -> Option<Progress> {
        self.lock().last.clone()
    }

    async fn write_throttled(self) {
        let next_write = self.lock().next_write;
        if let Some(next_write) = next_write {
            tokio::time::sleep_until(next_write).await;
        }
        while let Some(progress) = self.next() {
            self.write(progress).await;
            tokio::time::sleep(THROTTLE).await;
        }
    }

    /// The report to write now; without one the writer ends.
    fn next(&self) -> Option<Progress> {
        let mut state = self.lock();
        state.writing = state.unwritten.is_some();
        state.next_write = Some(Instant::now() + THROTTLE);
        state.unwritten.take()
    }

    async fn write(&self, progress: Progress) {
        let Some(committer) = &self.0.committer else { return };
        if let Written::Stale = committer.write(self.0.fence, Change::Progress(progress)).await {
            self.0.cancel.cancel(CancelReason::LeaseLost);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Reports> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
