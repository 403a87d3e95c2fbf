//! The flushing loop: what is tried again together, what in halves, and what aside, so that no write holds up the others.

use super::{Item, Pipeline, batch::Batch, pause, writer::Writer};
use crate::{driver::Written, logged, task::task};
use std::sync::Arc;
use tokio::{sync::Semaphore, task::JoinSet};

/// How many writes one flush carries at most.
const BATCH: usize = 2_000;
/// How often a batch is tried as a whole while the store seems to be away: it may also be too much at once.
const TOGETHER: u32 = 2;
/// How often a single write is tried in its turn while the store seems to be away: it may also be what waits for a lock.
const IN_TURN: u32 = 3;
/// How often a single write is tried that fails as a statement instead of being refused as an item.
const TRIES: u32 = 4;

/// The writes that are tried aside, one at a time.
struct Aside {
    tasks: JoinSet<()>,
    turn: Arc<Semaphore>,
}

impl Pipeline {
    /// Flushes until the pipeline is closed and the queue is empty.
    pub(crate) async fn run(mut self) {
        let mut items = Vec::new();
        let mut aside = Aside { tasks: JoinSet::new(), turn: Arc::new(Semaphore::new(1)) };
        let mut failures = 0;
        loop {
            tokio::select! {
                biased;
                _ = self.items.recv_many(&mut items, BATCH) => {}
                () = self.closed.cancelled(), if !self.items.is_closed() => self.items.close(),
            }
            if !items.is_empty() {
                flush(&self.writer, items.drain(..), &mut aside, &mut failures).await;
            } else if self.items.is_closed() {
                break;
            }
            while aside.tasks.try_join_next().is_some() {}
        }
        while aside.tasks.join_next().await.is_some() {}
    }
}

/// Writes a batch: again while the store is away; in halves when it fails as a whole, so that one bad write fails
/// alone; and what fails alone goes aside, so that the others need not wait for it.
async fn flush(writer: &Writer, items: impl Iterator<Item = Item>, aside: &mut Aside, failures: &mut u32) {
    let mut parts = Batch::split_by_size(items);
    while let Some(mut part) = parts.pop() {
        let error = match writer.attempt(&mut part).await {
            Ok(written) => {
                *failures = 0;
                part.answer(written);
                continue;
            }
            Err(error) => error,
        };
        *failures += 1;
        let is_away = error.is_unavailable();
        let (writes, tries) = (part.writes.len(), part.tries);
        match writes {
            1 if !is_away && tries >= TRIES => {
                tracing::error!(event = logged::COMMIT_REFUSED, job = %part.writes[0].fence.job, %error, "a write was refused");
                part.answer(vec![Written::Refused(error)]);
                continue;
            }
            1 if is_away && tries >= IN_TURN => {
                let (writer, turn) = (writer.clone(), aside.turn.clone());
                aside.tasks.spawn(task(async move {
                    let _turn = turn.acquire().await;
                    until_answered(&writer, part).await;
                }));
            }
            1 => parts.push(part),
            _ if is_away && tries < TOGETHER => parts.push(part),
            _ => parts.extend(part.halves()),
        }
        tracing::warn!(event = logged::COMMIT_FAILED, writes, failures = *failures, %error, "tried again");
        if is_away || writes == 1 {
            writer.wait(pause(*failures)).await;
        }
    }
}

/// Tries a single write until it is answered.
async fn until_answered(writer: &Writer, mut part: Batch) {
    loop {
        let error = match writer.attempt(&mut part).await {
            Ok(written) => return part.answer(written),
            Err(error) => error,
        };
        if !error.is_unavailable() {
            return part.answer(vec![Written::Refused(error)]);
        }
        tracing::warn!(event = logged::COMMIT_FAILED, writes = 1, failures = part.tries, %error, "tried again");
        writer.wait(pause(part.tries)).await;
    }
}
