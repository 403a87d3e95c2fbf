//! A driver that changes some calls of another. Upstream: tests of faults. Downstream: `driver`.

use crate::{clock::Clock, driver::*, error::Error, id::JobId, outline::StoredItem};
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use std::any::Any;

/// A driver that passes on to another one every call that it does not answer itself.
///
/// It is a [`Driver`] by this alone: a test's own driver writes only the methods that it changes. Each method is that of
/// the [`Driver`], and passes the call on unless written.
///
/// # Examples
/// ```
/// use futures_util::future::BoxFuture;
/// use jobs_runtime::{Error, Jobs, Registry, driver::{Driver, Memory, Migrate, Migrated}, error::code, testing::Overlay};
/// use std::sync::Arc;
///
/// struct NeverMigrated(Memory);
///
/// impl Overlay for NeverMigrated {
///     fn under(&self) -> &dyn Driver {
///         &self.0
///     }
///
///     fn migrate(&self, _: Migrate) -> BoxFuture<'_, Result<Migrated, Error>> {
///         Box::pin(async { Err(Error::new(code::STORE_UNAVAILABLE, "the test says so")) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// let jobs = Jobs::new(Arc::new(NeverMigrated(Memory::new())), Registry::builder().build()?);
/// assert!(jobs.migrate(Migrate::VerifyOnly).await.unwrap_err().is_unavailable());
/// # Ok(()) }
/// ```
#[expect(missing_docs, reason = "the contract documents its methods")]
pub trait Overlay: Send + Sync + 'static {
    /// The driver that answers the other calls.
    fn under(&self) -> &dyn Driver;

    fn name(&self) -> &'static str {
        self.under().name()
    }

    fn supports(&self, capability: Capability) -> bool {
        self.under().supports(capability)
    }

    fn as_any(&self) -> &dyn Any {
        self.under().as_any()
    }

    fn own_clock(&self) -> Option<Clock> {
        self.under().own_clock()
    }

    fn migrate(&self, mode: Migrate) -> BoxFuture<'_, Result<Migrated, Error>> {
        self.under().migrate(mode)
    }

    fn now(&self) -> BoxFuture<'_, Result<DateTime<Utc>, Error>> {
        self.under().now()
    }

    fn enqueue<'a>(&'a self, jobs: &'a [NewJob], tx: Option<Tx<'a>>) -> BoxFuture<'a, Result<Vec<Enqueued>, Error>> {
        self.under().enqueue(jobs, tx)
    }

    fn start_worker(&self, worker: NewWorker) -> BoxFuture<'_, Result<WorkerId, Error>> {
        self.under().start_worker(worker)
    }

    fn lease_session(&self, worker: WorkerId) -> BoxFuture<'_, Result<Box<dyn LeaseSession>, Error>> {
        self.under().lease_session(worker)
    }

    fn stop_worker(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), Error>> {
        self.under().stop_worker(worker)
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        self.under().claim(claim)
    }

    fn look<'a>(&'a self, queues: &'a [String]) -> BoxFuture<'a, Result<Outlook, Error>> {
        self.under().look(queues)
    }

    fn held(&self, worker: WorkerId) -> BoxFuture<'_, Result<Vec<Fence>, Error>> {
        self.under().held(worker)
    }

    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> BoxFuture<'a, Result<Vec<Written>, Error>> {
        self.under().commit(worker, writes)
    }

    fn promote(&self, limit: u32) -> BoxFuture<'_, Result<Promoted, Error>> {
        self.under().promote(limit)
    }

    fn rescue(&self) -> BoxFuture<'_, Result<Rescued, Error>> {
        self.under().rescue()
    }

    fn purge(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        self.under().purge(limit)
    }

    fn hints(&self, worker: WorkerId, queues: Vec<String>) -> BoxFuture<'_, Result<Box<dyn Hints>, Error>> {
        self.under().hints(worker, queues)
    }

    fn cancel(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        self.under().cancel(job)
    }

    fn roll_back(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        self.under().roll_back(job)
    }

    fn steps(&self, job: JobId) -> BoxFuture<'_, Result<Vec<StepRecord>, Error>> {
        self.under().steps(job)
    }

    fn begin_step(
        &self,
        worker: WorkerId,
        fence: Fence,
        tenant: Option<String>,
    ) -> BoxFuture<'_, Result<Box<dyn StepTransaction>, Error>> {
        self.under().begin_step(worker, fence, tenant)
    }

    fn publish<'a>(
        &'a self,
        events: &'a [NewEvent],
        tx: Option<Tx<'a>>,
    ) -> BoxFuture<'a, Result<Vec<Published>, Error>> {
        self.under().publish(events, tx)
    }

    fn find_event(&self, find: FindEvent) -> BoxFuture<'_, Result<Option<EventRecord>, Error>> {
        self.under().find_event(find)
    }

    fn events<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<EventRecord>, Error>> {
        self.under().events(name)
    }

    fn purge_events(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        self.under().purge_events(limit)
    }

    fn wake(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.under().wake(limit)
    }

    fn operate(&self, job: JobId, operation: Operation) -> BoxFuture<'_, Result<(), Error>> {
        self.under().operate(job, operation)
    }

    fn requeue(&self, job: JobId) -> BoxFuture<'_, Result<(), Error>> {
        self.under().requeue(job)
    }

    fn find(&self, job: JobId) -> BoxFuture<'_, Result<Option<JobRecord>, Error>> {
        self.under().find(job)
    }

    fn list(&self, filter: ListFilter) -> BoxFuture<'_, Result<Vec<JobRecord>, Error>> {
        self.under().list(filter)
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<KindCount>, Error>> {
        self.under().counts()
    }

    fn outline<'a>(&'a self, kind: &'a str) -> BoxFuture<'a, Result<Option<Vec<StoredItem>>, Error>> {
        self.under().outline(kind)
    }

    fn workers(&self) -> BoxFuture<'_, Result<Vec<WorkerRecord>, Error>> {
        self.under().workers()
    }
}

impl<O: Overlay> Driver for O {
    fn name(&self) -> &'static str {
        Overlay::name(self)
    }

    fn supports(&self, capability: Capability) -> bool {
        Overlay::supports(self, capability)
    }

    fn as_any(&self) -> &dyn Any {
        Overlay::as_any(self)
    }

    fn own_clock(&self) -> Option<Clock> {
        Overlay::own_clock(self)
    }

    fn migrate(&self, mode: Migrate) -> BoxFuture<'_, Result<Migrated, Error>> {
        Overlay::migrate(self, mode)
    }

    fn now(&self) -> BoxFuture<'_, Result<DateTime<Utc>, Error>> {
        Overlay::now(self)
    }

    fn enqueue<'a>(&'a self, jobs: &'a [NewJob], tx: Option<Tx<'a>>) -> BoxFuture<'a, Result<Vec<Enqueued>, Error>> {
        Overlay::enqueue(self, jobs, tx)
    }

    fn start_worker(&self, worker: NewWorker) -> BoxFuture<'_, Result<WorkerId, Error>> {
        Overlay::start_worker(self, worker)
    }

    fn lease_session(&self, worker: WorkerId) -> BoxFuture<'_, Result<Box<dyn LeaseSession>, Error>> {
        Overlay::lease_session(self, worker)
    }

    fn stop_worker(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), Error>> {
        Overlay::stop_worker(self, worker)
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Overlay::claim(self, claim)
    }

    fn look<'a>(&'a self, queues: &'a [String]) -> BoxFuture<'a, Result<Outlook, Error>> {
        Overlay::look(self, queues)
    }

    fn held(&self, worker: WorkerId) -> BoxFuture<'_, Result<Vec<Fence>, Error>> {
        Overlay::held(self, worker)
    }

    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> BoxFuture<'a, Result<Vec<Written>, Error>> {
        Overlay::commit(self, worker, writes)
    }

    fn promote(&self, limit: u32) -> BoxFuture<'_, Result<Promoted, Error>> {
        Overlay::promote(self, limit)
    }

    fn rescue(&self) -> BoxFuture<'_, Result<Rescued, Error>> {
        Overlay::rescue(self)
    }

    fn purge(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        Overlay::purge(self, limit)
    }

    fn hints(&self, worker: WorkerId, queues: Vec<String>) -> BoxFuture<'_, Result<Box<dyn Hints>, Error>> {
        Overlay::hints(self, worker, queues)
    }

    fn cancel(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        Overlay::cancel(self, job)
    }

    fn roll_back(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        Overlay::roll_back(self, job)
    }

    fn steps(&self, job: JobId) -> BoxFuture<'_, Result<Vec<StepRecord>, Error>> {
        Overlay::steps(self, job)
    }

    fn begin_step(
        &self,
        worker: WorkerId,
        fence: Fence,
        tenant: Option<String>,
    ) -> BoxFuture<'_, Result<Box<dyn StepTransaction>, Error>> {
        Overlay::begin_step(self, worker, fence, tenant)
    }

    fn publish<'a>(
        &'a self,
        events: &'a [NewEvent],
        tx: Option<Tx<'a>>,
    ) -> BoxFuture<'a, Result<Vec<Published>, Error>> {
        Overlay::publish(self, events, tx)
    }

    fn find_event(&self, find: FindEvent) -> BoxFuture<'_, Result<Option<EventRecord>, Error>> {
        Overlay::find_event(self, find)
    }

    fn events<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<EventRecord>, Error>> {
        Overlay::events(self, name)
    }

    fn purge_events(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        Overlay::purge_events(self, limit)
    }

    fn wake(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        Overlay::wake(self, limit)
    }

    fn operate(&self, job: JobId, operation: Operation) -> BoxFuture<'_, Result<(), Error>> {
        Overlay::operate(self, job, operation)
    }

    fn requeue(&self, job: JobId) -> BoxFuture<'_, Result<(), Error>> {
        Overlay::requeue(self, job)
    }

    fn find(&self, job: JobId) -> BoxFuture<'_, Result<Option<JobRecord>, Error>> {
        Overlay::find(self, job)
    }

    fn list(&self, filter: ListFilter) -> BoxFuture<'_, Result<Vec<JobRecord>, Error>> {
        Overlay::list(self, filter)
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<KindCount>, Error>> {
        Overlay::counts(self)
    }

    fn outline<'a>(&'a self, kind: &'a str) -> BoxFuture<'a, Result<Option<Vec<StoredItem>>, Error>> {
        Overlay::outline(self, kind)
    }

    fn workers(&self) -> BoxFuture<'_, Result<Vec<WorkerRecord>, Error>> {
        Overlay::workers(self)
    }
}
