//! Everything that is stored, behind one mutex: the jobs, the indexes over them, the unique keys, the workers.
//! Upstream: the verbs beside it. Downstream: `row`.

use super::{
    keys::{Keys, TxId},
    row::Row,
};
use crate::{
    driver::{KnownKind, Lease, Token, WorkerId},
    error::{Error, code},
    id::JobId,
    outline::OutlineItem,
    spec::Keep,
    state::State,
};
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, BTreeSet};

/// The whole store.
#[derive(Debug, Default)]
pub(super) struct Store {
    jobs: BTreeMap<JobId, Row>,
    ready: BTreeMap<String, BTreeSet<Place>>,
    waiting: BTreeSet<(DateTime<Utc>, JobId)>,
    held: BTreeSet<(WorkerId, JobId)>,
    pub(super) keys: Keys,
    pub(super) workers: BTreeMap<WorkerId, Worker>,
    /// The outlines of the kinds that a worker ever knew.
    pub(super) outlines: BTreeMap<String, &'static [OutlineItem]>,
    counter: i64,
}

/// A ready job's place in its queue: by priority, then by when it became ready.
type Place = (i16, u64, JobId);

/// A worker's lease.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) name: String,
    pub(super) lease: Lease,
    pub(super) queues: Vec<(String, u32)>,
    pub(super) kinds: Vec<KnownKind>,
    pub(super) started_at: DateTime<Utc>,
    pub(super) until: DateTime<Utc>,
}

impl Worker {
    /// Whether the lease has ended: from the very moment that it names.
    pub(super) fn has_lapsed(&self, now: DateTime<Utc>) -> bool {
        self.until <= now
    }
}

impl Store {
    /// The jobs, oldest first.
    pub(super) fn jobs(&self) -> impl DoubleEndedIterator<Item = &Row> {
        self.jobs.values()
    }

    /// The jobs older than this one, oldest first.
    pub(super) fn before(&self, id: JobId) -> impl DoubleEndedIterator<Item = &Row> {
        self.jobs.range(..id).map(|(_, row)| row)
    }

    pub(super) fn get(&self, id: JobId) -> Option<&Row> {
        self.jobs.get(&id)
    }

    /// Takes a job out, to be changed and put back.
    pub(super) fn take(&mut self, id: JobId) -> Option<Row> {
        let row = self.jobs.remove(&id)?;
        match row.state {
            State::Ready => {
                let places = self.ready.get_mut(&row.new.queue);
                places.map(|places| places.remove(&(row.new.priority, row.ready.1, id)));
            }
            _ => {
                row.due_at.map(|due| self.waiting.remove(&(due, id)));
                row.held.map(|held| self.held.remove(&(held.worker, id)));
            }
        }
        Some(row)
    }

    /// Puts a job in, or back. A ready one goes to the end of its queue.
    pub(super) fn put(&mut self, mut row: Row) {
        let id = row.new.id;
        match row.state {
            State::Ready => {
                row.ready.1 = self.next().unsigned_abs();
                let place = (row.new.priority, row.ready.1, id);
                self.ready.entry(row.new.queue.clone()).or_default().insert(place);
            }
            _ => {
                row.due_at.map(|due| self.waiting.insert((due, id)));
                row.held.map(|held| self.held.insert((held.worker, id)));
            }
        }
        self.jobs.insert(id, row);
    }

    /// Ends a job that was taken out: frees what its end frees, keeps it as long as it says.
    pub(super) fn end(&mut self, mut row: Row, state: State, now: DateTime<Utc>, keep: Keep) {
        row.end(state, now, keep);
        self.keys.ended(&row.new);
        if state == State::Dead || keep != Keep::None {
            self.put(row);
        }
    }

    /// A queue's ready jobs in the order of claims.
    pub(super) fn ready(&self, queue: &str) -> impl Iterator<Item = &Row> {
        self.ready.get(queue).into_iter().flatten().filter_map(|(_, _, id)| self.jobs.get(id))
    }

    /// The ready job that comes first of all queues.
    #[cfg(feature = "testing")]
    pub(super) fn first_ready(&self) -> Option<JobId> {
        self.ready.values().filter_map(BTreeSet::first).min().map(|(_, _, id)| *id)
    }

    /// The waiting job that is due first.
    pub(super) fn first_due(&self) -> Option<(DateTime<Utc>, JobId)> {
        self.waiting.first().copied()
    }

    /// The jobs that a worker holds.
    pub(super) fn held_by(&self, worker: WorkerId) -> Vec<JobId> {
        let first = (worker, JobId(uuid::Uuid::nil()));
        self.held.range(first..).take_while(|(holder, _)| *holder == worker).map(|(_, job)| *job).collect()
    }

    /// The worker, unless its lease has lapsed.
    pub(super) fn current(&mut self, worker: WorkerId, now: DateTime<Utc>) -> Result<&mut Worker, Error> {
        self.workers.get_mut(&worker).filter(|found| !found.has_lapsed(now)).ok_or_else(|| {
            Error::new(code::WORKER_LOST, format!("the lease of worker {} has lapsed or was ended", worker.0))
        })
    }

    pub(super) fn new_worker(&mut self) -> WorkerId {
        WorkerId(self.next())
    }

    pub(super) fn new_token(&mut self) -> Token {
        Token(self.next())
    }

    pub(super) fn new_tx(&mut self) -> TxId {
        TxId(self.next())
    }

    fn next(&mut self) -> i64 {
        self.counter += 1;
        self.counter
    }
}
