//! Everything that is stored, behind one mutex: the jobs, the indexes over them, the unique keys, the workers.
//! Upstream: the verbs beside it. Downstream: `row`.

use super::{
    events::Events,
    hints::Teller,
    keys::{Keys, TxId},
    row::{Asked, Row},
};
use crate::{
    driver::{ChildEnd, EventRecord, FindEvent, KnownKind, Lease, Stage, StepStatus, Token, Wait, WorkerId},
    error::{Error, code},
    failure::RecordedFailure,
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
    /// The parked runs that wait for an event of a name and key.
    awaiting: BTreeMap<(String, String), BTreeSet<JobId>>,
    pub(super) events: Events,
    pub(super) teller: Teller,
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

    /// A job, to change what no index goes by: its records, its stage, what it was asked.
    pub(super) fn get_mut(&mut self, id: JobId) -> Option<&mut Row> {
        self.jobs.get_mut(&id)
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
                for place in places_of(&row) {
                    if let Some(awaiting) = self.awaiting.get_mut(&place) {
                        awaiting.remove(&id);
                        if awaiting.is_empty() {
                            self.awaiting.remove(&place);
                        }
                    }
                }
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
                for place in places_of(&row) {
                    self.awaiting.entry(place).or_default().insert(id);
                }
            }
        }
        self.jobs.insert(id, row);
    }

    /// Makes a job ready that was taken out, and tells its queue.
    pub(super) fn put_ready(&mut self, mut row: Row, now: DateTime<Utc>) {
        row.make_ready(now);
        self.teller.queue(&row.new.queue);
        self.put(row);
    }

    /// Makes a job that was taken out do what it was asked to while it ran, now that its worker lets it go. Says what
    /// it has become; gives it back if it was asked nothing.
    pub(super) fn put_as_asked(&mut self, mut row: Row, now: DateTime<Utc>, keep: Keep) -> Result<State, Box<Row>> {
        match row.asked {
            None => Err(Box::new(row)),
            Some(Asked::RollBack) if row.stage == Stage::Recorded => {
                row.unwind(&RecordedFailure::rolled_back(), now);
                self.put_ready(row, now);
                Ok(State::Ready)
            }
            Some(_) => {
                self.end(row, State::Cancelled, now, keep);
                Ok(State::Cancelled)
            }
        }
    }

    /// Ends a job that was taken out: frees what its end frees, keeps it as long as it says, tells the run that spawned
    /// it.
    pub(super) fn end(&mut self, mut row: Row, state: State, now: DateTime<Utc>, keep: Keep) {
        row.end(state, now, keep);
        self.keys.ended(&row.new);
        let (id, parent, end) = (row.new.id, row.new.parent, row.child_end());
        if state == State::Dead || keep != Keep::None {
            self.put(row);
        }
        if let Some(parent) = parent {
            self.child_ended(parent, id, &end, now);
        }
    }

    /// Records a child's end with the run that spawned it, and wakes it if it waits for that.
    fn child_ended(&mut self, parent: JobId, child: JobId, end: &ChildEnd, now: DateTime<Utc>) {
        let Some(row) = self.jobs.get_mut(&parent).filter(|row| !row.is_history()) else { return };
        row.steps.child_ended(child, end, now);
        if row.waits.contains(&Wait::Child(child))
            && let Some(row) = self.take(parent)
        {
            self.put_ready(row, now);
        }
    }

    /// Stores an event and makes the runs ready that wait for it.
    pub(super) fn publish(&mut self, event: EventRecord, now: DateTime<Utc>) {
        let place = (event.name.clone(), event.key.clone());
        let awaiting = self.awaiting.get(&place).into_iter().flatten().filter_map(|id| self.jobs.get(id));
        let woken: Vec<JobId> = awaiting
            .filter(|row| {
                let tenant = row.new.tenant.as_ref();
                !event.is_over(now) && row.awaited(&place).any(|wait| event.is_for(tenant, &wait.taken))
            })
            .map(|row| row.new.id)
            .collect();
        for id in woken {
            if let Some(row) = self.take(id) {
                self.put_ready(row, now);
            }
        }
        self.events.add(event);
    }

    /// Whether what a run is about to wait for has happened already.
    pub(super) fn has_happened(&self, row: &Row, wait: &Wait, now: DateTime<Utc>) -> bool {
        match wait {
            Wait::Event(wait) => {
                let find = FindEvent {
                    name: wait.name.clone(),
                    key: wait.key.clone(),
                    tenant: row.new.tenant.clone(),
                    taken: wait.taken.clone(),
                    before: None,
                };
                self.events.find(&find, now).is_some()
            }
            Wait::Child(child) => row.steps.spawn_of(*child).is_some_and(|spawn| spawn.status == StepStatus::Done),
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

/// What a parked run waits for, by name and key.
fn places_of(row: &Row) -> Vec<(String, String)> {
    let events = row.waits.iter().filter_map(|wait| match wait {
        Wait::Event(wait) => Some((wait.name.clone(), wait.key.clone())),
        Wait::Child(_) => None,
    });
    events.collect()
}
