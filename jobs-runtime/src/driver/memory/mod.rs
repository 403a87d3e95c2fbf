//! Stores jobs in this process: the reference driver, and the embedded default for examples, tests and local work.
//! Upstream: `driver`. Downstream: nothing.
//!
//! One mutex over plain data; every call takes it once and does all its work under it, so that each is atomic by
//! construction. Nothing survives the process.

mod answer;
mod cancel;
mod claim;
mod commit;
mod enqueue;
mod events;
mod hints;
mod keys;
mod lease;
mod operate;
mod row;
mod step_tx;
mod steps;
mod store;
mod tx;
mod upkeep;

pub use tx::Transaction;

use super::{
    CancelAnswer, Capability, Claim, Claimed, Driver, Enqueued, EventRecord, Fence, FindEvent, Hints, JobRecord,
    KindCount, LeaseSession, ListFilter, Migrate, Migrated, NewEvent, NewJob, NewWorker, Operation, Outlook, Promoted,
    Published, Rescued, StepRecord, StepTransaction, Tx, WorkerId, WorkerRecord, Write, Written,
};
use crate::{clock::Clock, error::Error, id::JobId, outline::StoredItem};
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use std::{
    any::Any,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use store::Store;
use tokio::sync::Notify;

/// The memory driver. Clones share one store, as processes share a database.
///
/// # Examples
/// ```
/// use jobs_runtime::{clock::Clock, driver::{Driver, Memory}};
/// let memory = Memory::new();
/// assert_eq!(memory.name(), "memory");
/// let for_tests = Memory::with_clock(Clock::manual());
/// assert!(for_tests.clock().is_manual());
/// ```
#[derive(Clone)]
pub struct Memory(Arc<Shared>);

struct Shared {
    store: Mutex<Store>,
    clock: Clock,
    tx_ended: Notify,
}

impl Memory {
    /// An empty store that goes by the system's clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(Clock::system())
    }

    /// An empty store that goes by the given clock.
    #[must_use]
    pub fn with_clock(clock: Clock) -> Self {
        Self(Arc::new(Shared { store: Mutex::default(), clock, tx_ended: Notify::new() }))
    }

    /// The store's clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Begins a transaction that enqueues can join. Dropped without a commit, it leaves nothing.
    #[must_use]
    pub fn begin(&self) -> Transaction {
        Transaction::begin(self.clone())
    }

    /// Claims one job, whatever its place and whether it is due. `None` if it does not wait.
    #[cfg(feature = "testing")]
    pub(crate) fn claim_job(&self, worker: WorkerId, job: JobId) -> Option<Claimed> {
        claim::claim_job(self, worker, job)
    }

    /// Claims what comes first of all queues and kinds, after what is due was moved.
    #[cfg(feature = "testing")]
    pub(crate) fn claim_next(&self, worker: WorkerId) -> Option<Claimed> {
        upkeep::promote(self, u32::MAX);
        let next = self.lock().0.first_ready();
        next.and_then(|job| self.claim_job(worker, job))
    }

    /// The store and the time, fixed for as long as the guard is held.
    fn lock(&self) -> (MutexGuard<'_, Store>, DateTime<Utc>) {
        let store = self.0.store.lock().unwrap_or_else(PoisonError::into_inner);
        (store, self.0.clock.now())
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memory")
    }
}

impl Driver for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn supports(&self, capability: Capability) -> bool {
        match capability {
            Capability::Transactions | Capability::UniqueKeys => true,
            Capability::TenantTransactions => false,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn own_clock(&self) -> Option<Clock> {
        Some(self.0.clock.clone())
    }

    fn migrate(&self, _mode: Migrate) -> BoxFuture<'_, Result<Migrated, Error>> {
        Box::pin(async { Ok(Migrated { version: 0, applied: 0 }) })
    }

    fn now(&self) -> BoxFuture<'_, Result<DateTime<Utc>, Error>> {
        Box::pin(async { Ok(self.0.clock.now()) })
    }

    fn enqueue<'a>(&'a self, jobs: &'a [NewJob], tx: Option<Tx<'a>>) -> BoxFuture<'a, Result<Vec<Enqueued>, Error>> {
        Box::pin(enqueue::enqueue(self, jobs, tx))
    }

    fn start_worker(&self, worker: NewWorker) -> BoxFuture<'_, Result<WorkerId, Error>> {
        Box::pin(async { Ok(lease::start(self, worker)) })
    }

    fn lease_session(&self, worker: WorkerId) -> BoxFuture<'_, Result<Box<dyn LeaseSession>, Error>> {
        Box::pin(async move { Ok(Box::new(lease::Session { memory: self.clone(), worker }) as Box<dyn LeaseSession>) })
    }

    fn stop_worker(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            lease::stop(self, worker);
            Ok(())
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(async move { claim::claim(self, &claim) })
    }

    fn look<'a>(&'a self, queues: &'a [String]) -> BoxFuture<'a, Result<Outlook, Error>> {
        Box::pin(async { Ok(upkeep::look(self, queues)) })
    }

    fn held(&self, worker: WorkerId) -> BoxFuture<'_, Result<Vec<Fence>, Error>> {
        Box::pin(async move { Ok(claim::held(self, worker)) })
    }

    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> BoxFuture<'a, Result<Vec<Written>, Error>> {
        Box::pin(commit::commit(self, worker, writes))
    }

    fn promote(&self, limit: u32) -> BoxFuture<'_, Result<Promoted, Error>> {
        Box::pin(async move { Ok(upkeep::promote(self, limit)) })
    }

    fn rescue(&self) -> BoxFuture<'_, Result<Rescued, Error>> {
        Box::pin(async { Ok(upkeep::rescue(self)) })
    }

    fn purge(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        Box::pin(async move { Ok(upkeep::purge(self, limit)) })
    }

    fn hints(&self, worker: WorkerId, queues: Vec<String>) -> BoxFuture<'_, Result<Box<dyn Hints>, Error>> {
        Box::pin(async move { Ok(hints::subscribe(self, worker, queues)) })
    }

    fn cancel(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        Box::pin(async move { Ok(cancel::cancel(self, job)) })
    }

    fn roll_back(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        Box::pin(async move { cancel::roll_back(self, job) })
    }

    fn steps(&self, job: JobId) -> BoxFuture<'_, Result<Vec<StepRecord>, Error>> {
        Box::pin(async move { Ok(self.lock().0.get(job).map(|row| row.steps.all()).unwrap_or_default()) })
    }

    fn begin_step(
        &self,
        worker: WorkerId,
        fence: Fence,
        _tenant: Option<String>,
    ) -> BoxFuture<'_, Result<Box<dyn StepTransaction>, Error>> {
        Box::pin(async move {
            let open = step_tx::Open { memory: self.clone(), worker, fence, transaction: self.begin() };
            Ok(Box::new(open) as Box<dyn StepTransaction>)
        })
    }

    fn publish<'a>(
        &'a self,
        events: &'a [NewEvent],
        tx: Option<Tx<'a>>,
    ) -> BoxFuture<'a, Result<Vec<Published>, Error>> {
        Box::pin(async move { events::publish(self, events, tx) })
    }

    fn find_event(&self, find: FindEvent) -> BoxFuture<'_, Result<Option<EventRecord>, Error>> {
        Box::pin(async move {
            let (store, now) = self.lock();
            Ok(store.events.find(&find, now).cloned())
        })
    }

    fn events<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<EventRecord>, Error>> {
        Box::pin(async move {
            let (store, now) = self.lock();
            Ok(store.events.of_name(name, now))
        })
    }

    fn purge_events(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        Box::pin(async move {
            let (mut store, now) = self.lock();
            Ok(store.events.purge(now, limit))
        })
    }

    /// Every event and every end of a child wakes its runs in the call that stores it.
    fn wake(&self, _limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        Box::pin(async { Ok(0) })
    }

    fn operate(&self, job: JobId, operation: Operation) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move { answer::operate(self, job, &operation) })
    }

    fn requeue(&self, job: JobId) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(operate::requeue(self, job))
    }

    fn find(&self, job: JobId) -> BoxFuture<'_, Result<Option<JobRecord>, Error>> {
        Box::pin(async move { Ok(self.lock().0.get(job).map(row::Row::record)) })
    }

    fn list(&self, filter: ListFilter) -> BoxFuture<'_, Result<Vec<JobRecord>, Error>> {
        Box::pin(async move { Ok(operate::list(self, &filter)) })
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<KindCount>, Error>> {
        Box::pin(async { Ok(operate::counts(self)) })
    }

    fn outline<'a>(&'a self, kind: &'a str) -> BoxFuture<'a, Result<Option<Vec<StoredItem>>, Error>> {
        let found = self.lock().0.outlines.get(kind).map(|outline| outline.iter().map(StoredItem::from).collect());
        Box::pin(async { Ok(found) })
    }

    fn workers(&self) -> BoxFuture<'_, Result<Vec<WorkerRecord>, Error>> {
        Box::pin(async { Ok(lease::list(self)) })
    }
}
