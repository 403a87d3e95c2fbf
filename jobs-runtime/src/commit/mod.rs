//! Gathers every write of a worker and flushes what has gathered each time the previous flush returns.
//! Upstream: `execute`. Downstream: `driver`.
//!
//! There is no timer: at low load a write goes out alone at once, at high load batches grow by themselves.

mod batch;
mod flush;
mod writer;

use crate::driver::{Change, Driver, Fence, WorkerId, Write, Written};
use std::{sync::Arc, time::Duration};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use writer::Writer;

/// How many writes wait at most before the next writer has to.
const QUEUE: usize = 4_096;

/// The sending end of a worker's commit pipeline. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Committer {
    items: mpsc::Sender<Item>,
    worker: WorkerId,
}

/// The flushing end, to be run in a task of its own.
pub(crate) struct Pipeline {
    items: mpsc::Receiver<Item>,
    writer: Writer,
    closed: CancellationToken,
}

struct Item {
    write: Write,
    answer: oneshot::Sender<Written>,
}

impl Committer {
    /// The two ends.
    ///
    /// - Once `lost` is cancelled, nothing is written any more: each write is stale.
    /// - Once `closed` is cancelled, the pipeline flushes what it has and ends, whoever still holds a sending end.
    pub(crate) fn new(
        driver: Arc<dyn Driver>,
        worker: WorkerId,
        lost: CancellationToken,
        closed: CancellationToken,
    ) -> (Self, Pipeline) {
        let (sender, items) = mpsc::channel(QUEUE);
        (Self { items: sender, worker }, Pipeline { items, writer: Writer { driver, worker, lost }, closed })
    }

    /// The worker that writes.
    pub(crate) fn worker(&self) -> WorkerId {
        self.worker
    }

    /// Writes a change and waits until the store has answered. Waits first while the queue is full.
    pub(crate) async fn write(&self, fence: Fence, change: Change) -> Written {
        let (answer, answered) = oneshot::channel();
        let item = Item { write: Write { fence, change }, answer };
        if self.items.send(item).await.is_err() {
            return Written::Stale;
        }
        answered.await.unwrap_or(Written::Stale)
    }
}

/// The wait before a flush that failed is tried again.
fn pause(failures: u32) -> Duration {
    use crate::backoff::{Backoff, Growth};
    let backoff = Backoff::new(Growth::Exponential, Duration::from_millis(50), Duration::from_secs(2));
    backoff.jittered(failures, fastrand::f64())
}
