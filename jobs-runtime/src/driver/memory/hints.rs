//! Tells workers at once what a poll would find later. Upstream: the verbs beside it. Downstream: the worker.

use super::{Memory, row::Asked};
use crate::{
    clock::Watch,
    driver::{Hint, Hints, WorkerId},
    id::JobId,
};
use futures_util::future::BoxFuture;
use std::collections::BTreeSet;
use tokio::sync::broadcast;

/// How many hints a slow listener may fall behind before it is told to look at everything.
const BACKLOG: usize = 256;

#[derive(Debug, Clone)]
enum Told {
    Queue(String),
    Cancel(WorkerId, JobId),
    RollBack(WorkerId, JobId),
}

/// Sends hints to all listeners.
#[derive(Debug)]
pub(super) struct Teller(broadcast::Sender<Told>);

impl Default for Teller {
    fn default() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }
}

impl Teller {
    pub(super) fn queue(&self, queue: &str) {
        if self.0.receiver_count() > 0 {
            self.0.send(Told::Queue(queue.to_owned())).ok();
        }
    }

    /// Tells of each queue once.
    pub(super) fn queues<'a>(&self, queues: impl IntoIterator<Item = &'a str>) {
        for queue in queues.into_iter().collect::<BTreeSet<_>>() {
            self.queue(queue);
        }
    }

    pub(super) fn asked(&self, asked: Asked, worker: WorkerId, job: JobId) {
        let told = match asked {
            Asked::Cancel => Told::Cancel(worker, job),
            Asked::RollBack => Told::RollBack(worker, job),
        };
        self.0.send(told).ok();
    }
}

pub(super) fn subscribe(memory: &Memory, worker: WorkerId, queues: Vec<String>) -> Box<dyn Hints> {
    let told = memory.lock().0.teller.0.subscribe();
    Box::new(Listener { told, clock: memory.0.clock.watch(), worker, queues, _keeps_sender: memory.clone() })
}

struct Listener {
    told: broadcast::Receiver<Told>,
    clock: Watch,
    worker: WorkerId,
    queues: Vec<String>,
    _keeps_sender: Memory,
}

impl Listener {
    /// What a message means to this worker, if anything.
    fn hint(&self, told: Result<Told, broadcast::error::RecvError>) -> Option<Hint> {
        match told {
            Ok(Told::Queue(queue)) => self.queues.contains(&queue).then_some(Hint::Queue(queue)),
            Ok(Told::Cancel(worker, job)) => (worker == self.worker).then_some(Hint::Cancel(job)),
            Ok(Told::RollBack(worker, job)) => (worker == self.worker).then_some(Hint::RollBack(job)),
            Err(_) => Some(Hint::All),
        }
    }
}

impl Hints for Listener {
    fn next(&mut self) -> BoxFuture<'_, Hint> {
        Box::pin(async {
            loop {
                let told = tokio::select! {
                    told = self.told.recv() => told,
                    () = self.clock.advanced() => return Hint::All,
                };
                if let Some(hint) = self.hint(told) {
                    return hint;
                }
            }
        })
    }

    fn is_live(&self) -> bool {
        true
    }
}
