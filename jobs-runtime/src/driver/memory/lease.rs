//! Begins, renews, ends and lists the workers' leases. Upstream: `mod`. Downstream: `store`.

use super::{
    Memory,
    row::Asked,
    store::{Store, Worker},
};
use crate::{
    clock,
    driver::{LeaseSession, NewWorker, Renewed, WorkerId, WorkerRecord},
    error::Error,
    id::JobId,
    spec::Keep,
    state::State,
};
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;

pub(super) fn start(memory: &Memory, new: NewWorker) -> WorkerId {
    let (mut store, now) = memory.lock();
    let id = store.new_worker();
    let NewWorker { name, lease, queues, kinds } = new;
    let until = clock::after(now, lease.duration);
    store.outlines.extend(kinds.iter().map(|kind| (kind.name.clone(), kind.outline)));
    store.workers.insert(id, Worker { name, lease, queues, kinds, started_at: now, until });
    id
}

pub(super) fn stop(memory: &Memory, worker: WorkerId) {
    let (mut store, now) = memory.lock();
    store.workers.remove(&worker);
    for job in store.held_by(worker) {
        hand_back(&mut store, job, now, Crashed::No);
    }
}

/// Whether a job goes back because its worker died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crashed {
    Yes,
    No,
}

/// Takes a held job from its worker, under the same attempt. Says where it went: `ready`, or `cancelled` if that was
/// asked for.
pub(super) fn hand_back(store: &mut Store, job: JobId, now: DateTime<Utc>, crashed: Crashed) -> Option<State> {
    let mut row = store.take(job)?;
    if crashed == Crashed::Yes {
        row.crashes = row.crashes.saturating_add(1);
    }
    match store.put_as_asked(row, now, Keep::DEFAULT) {
        Ok(state) => Some(state),
        Err(row) => {
            store.put_ready(*row, now);
            Some(State::Ready)
        }
    }
}

/// The session of one worker. It shares the store's mutex, which no call holds for long.
pub(super) struct Session {
    pub(super) memory: Memory,
    pub(super) worker: WorkerId,
}

impl LeaseSession for Session {
    fn renew(&mut self) -> BoxFuture<'_, Result<Renewed, Error>> {
        Box::pin(async {
            let (mut store, now) = self.memory.lock();
            let worker = store.current(self.worker, now)?;
            worker.until = clock::after(now, worker.lease.duration);
            let held = store.held_by(self.worker);
            let asked = |what: Asked| {
                let is_asked = |job: &&JobId| store.get(**job).is_some_and(|row| row.asked == Some(what));
                held.iter().filter(is_asked).copied().collect()
            };
            Ok(Renewed { cancel: asked(Asked::Cancel), roll_back: asked(Asked::RollBack) })
        })
    }
}

pub(super) fn list(memory: &Memory) -> Vec<WorkerRecord> {
    let (store, now) = memory.lock();
    let current = store.workers.iter().filter(|(_, worker)| !worker.has_lapsed(now));
    current
        .map(|(id, worker)| WorkerRecord {
            id: id.0,
            name: worker.name.clone(),
            queues: worker.queues.clone(),
            kinds: worker.kinds.iter().map(|kind| kind.name.clone()).collect(),
            started_at: worker.started_at,
            lease_until: worker.until,
            running: store.held_by(*id).len() as u64,
        })
        .collect()
}
