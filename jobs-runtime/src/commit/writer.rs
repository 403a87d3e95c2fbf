//! Sends one batch to the store, once, and makes sure of what its answer means. Upstream: `flush`. Downstream: `driver`.

use super::{batch::Batch, pause};
use crate::{
    driver::{Claim, Driver, WorkerId, Written},
    error::{Error, code},
    execute::panic,
};
use futures_util::FutureExt;
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Writes in the name of one worker. Cheap to clone.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) driver: Arc<dyn Driver>,
    pub(super) worker: WorkerId,
    pub(super) lost: CancellationToken,
}

impl Writer {
    /// Tries a batch once. Once the lease is lost, everything is stale.
    pub(super) async fn attempt(&self, batch: &mut Batch) -> Result<Vec<Written>, Error> {
        let writes = batch.writes.as_slice();
        let stale = || writes.iter().map(|_| Written::Stale).collect();
        let answer = tokio::select! {
            biased;
            () = self.lost.cancelled() => return Ok(stale()),
            answer = AssertUnwindSafe(self.driver.commit(self.worker, writes)).catch_unwind() => answer,
        };
        let error = match answer {
            Ok(Ok(written)) if written.len() == writes.len() => {
                return Ok(if batch.unsure { self.made_sure(written).await } else { written });
            }
            Ok(Ok(written)) => {
                let text = format!("the driver answered {} of {} writes", written.len(), writes.len());
                Error::new(code::STORE_FAILED, text)
            }
            Ok(Err(error)) if error.code() == code::WORKER_LOST => return Ok(stale()),
            Ok(Err(error)) => error,
            Err(payload) => Error::new(code::STORE_FAILED, format!("the driver panicked: {}", panic::text(payload))),
        };
        batch.tries += 1;
        batch.unsure = true;
        Err(error)
    }

    /// Judges what is stale when it is tried again: it may be stale because an earlier try landed and only the answer
    /// was lost. It is so if the lease is still held: a lease that has lapsed cannot be renewed, so it was held all the
    /// time, and while it is nobody but this worker moves its jobs.
    async fn made_sure(&self, mut written: Vec<Written>) -> Vec<Written> {
        let is_stale = |written: &Written| matches!(written, Written::Stale);
        if written.iter().any(is_stale) && self.holds_lease().await {
            written.iter_mut().filter(|written| is_stale(written)).for_each(|written| *written = Written::Landed);
        }
        written
    }

    async fn holds_lease(&self) -> bool {
        for failures in 1.. {
            let nothing = Claim { worker: self.worker, queues: Vec::new(), kinds: Arc::new([]) };
            let answer = tokio::select! {
                biased;
                () = self.lost.cancelled() => return false,
                answer = self.driver.claim(nothing) => answer,
            };
            match answer {
                Ok(_) => return true,
                Err(error) if error.is_unavailable() => self.wait(pause(failures)).await,
                Err(_) => return false,
            }
        }
        false
    }

    /// Waits, but not beyond the lease.
    pub(super) async fn wait(&self, pause: Duration) {
        let _ = tokio::time::timeout(pause, self.lost.cancelled()).await;
    }
}
