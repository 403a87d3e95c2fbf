//! The flushing loop: batches, the retry while the store is away, the split of a batch that the store refuses.

use super::{Item, Pipeline, pause};
use crate::{
    driver::{Write, Written},
    error::{Error, code},
    execute::panic,
    logged,
};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;

/// How many writes one flush carries at most.
const BATCH: usize = 2_000;

/// How often a single write is tried that fails as a statement instead of being refused as an item.
const TRIES: u32 = 4;

impl Pipeline {
    /// Flushes until the pipeline is closed and the queue is empty.
    pub(crate) async fn run(mut self) {
        let mut items = Vec::new();
        loop {
            tokio::select! {
                biased;
                _ = self.items.recv_many(&mut items, BATCH) => {}
                () = self.closed.cancelled(), if !self.items.is_closed() => self.items.close(),
            }
            if items.is_empty() {
                if self.items.is_closed() {
                    return;
                }
                continue;
            }
            let (writes, answers): (Vec<_>, Vec<_>) =
                items.drain(..).map(|Item { write, answer }| (write, answer)).unzip();
            let results = self.flush(writes).await;
            for (answer, written) in answers.into_iter().zip(results) {
                let _ = answer.send(written);
            }
        }
    }

    /// Writes a batch, one answer each: again while the store is away, in halves when it fails as a whole, so that
    /// one bad write fails alone.
    async fn flush(&self, writes: Vec<Write>) -> Vec<Written> {
        let mut answers = Vec::with_capacity(writes.len());
        let mut parts = vec![writes.as_slice()];
        while let Some(part) = parts.pop() {
            match self.commit(part).await {
                Ok(written) => answers.extend(written),
                Err(error) if part.len() == 1 => {
                    tracing::error!(event = logged::COMMIT_REFUSED, job = %part[0].fence.job, %error, "a write was refused");
                    answers.push(Written::Refused(error));
                }
                Err(_) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
            }
        }
        answers
    }

    /// Commits one batch, again and again while the store is away and the lease is held.
    async fn commit(&self, writes: &[Write]) -> Result<Vec<Written>, Error> {
        let mut failures = 0;
        loop {
            let answer = tokio::select! {
                biased;
                () = self.lost.cancelled() => return Ok(stale(writes)),
                answer = AssertUnwindSafe(self.driver.commit(self.worker, writes)).catch_unwind() => answer,
            };
            let error = match answer {
                Ok(Ok(written)) if written.len() == writes.len() => return Ok(written),
                Ok(Ok(written)) => {
                    let text = format!("the driver answered {} of {} writes", written.len(), writes.len());
                    Error::new(code::STORE_FAILED, text)
                }
                Ok(Err(error)) if error.code() == code::WORKER_LOST => return Ok(stale(writes)),
                Ok(Err(error)) => error,
                Err(payload) => {
                    Error::new(code::STORE_FAILED, format!("the driver panicked: {}", panic::text(payload)))
                }
            };
            failures += 1;
            if !error.is_unavailable() && (writes.len() > 1 || failures >= TRIES) {
                return Err(error);
            }
            tracing::warn!(event = logged::COMMIT_FAILED, writes = writes.len(), failures, %error, "tried again");
            tokio::select! {
                () = self.lost.cancelled() => return Ok(stale(writes)),
                () = tokio::time::sleep(pause(failures)) => {}
            }
        }
    }
}

fn stale(writes: &[Write]) -> Vec<Written> {
    writes.iter().map(|_| Written::Stale).collect()
}
