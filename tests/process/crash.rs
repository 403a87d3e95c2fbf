//! A driver that kills its own process at a chosen point of the contract, as SIGKILL would. Downstream: `worker`.

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use jobs::{
    Error, JobId,
    driver::{
        CancelAnswer, Capability, Change, Claim, Claimed, Driver, Enqueued, EventRecord, Fence, FindEvent, Hints,
        JobRecord, KindCount, LeaseSession, ListFilter, Migrate, Migrated, NewEvent, NewJob, NewWorker, Operation,
        Outlook, Promoted, Published, Rescued, StepRecord, StepTransaction, Tx, WorkerId, WorkerRecord, Write, Written,
    },
};
use std::{any::Any, process, process::Command, sync::Arc, thread};

/// Where the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// A claim has committed, and its jobs are known to nobody.
    Claimed,
    /// A job has ended, and its end is not written.
    Finishing,
    /// The end of a job is written, and nobody was told.
    Finished,
}

impl Point {
    /// The point that an environment variable names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Claimed, Self::Finishing, Self::Finished].into_iter().find(|point| format!("{point:?}") == name)
    }
}

/// The driver.
pub(crate) struct Crashing {
    pub(crate) inner: Arc<dyn Driver>,
    pub(crate) at: Point,
}

impl Crashing {
    fn reach(&self, point: Point) {
        if self.at == point {
            let _ = Command::new("kill").args(["-s", "KILL", &process::id().to_string()]).status();
            thread::park();
        }
    }
}

impl Driver for Crashing {
    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(async {
            let claimed = self.inner.claim(claim).await?;
            if !claimed.is_empty() {
                self.reach(Point::Claimed);
            }
            Ok(claimed)
        })
    }

    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> BoxFuture<'a, Result<Vec<Written>, Error>> {
        Box::pin(async move {
            let finishes = writes.iter().any(|write| matches!(write.change, Change::Finish(_)));
            if finishes {
                self.reach(Point::Finishing);
            }
            let written = self.inner.commit(worker, writes).await?;
            if finishes {
                self.reach(Point::Finished);
            }
            Ok(written)
        })
    }

    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn supports(&self, capability: Capability) -> bool {
        self.inner.supports(capability)
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.as_any()
    }

    fn migrate(&self, mode: Migrate) -> BoxFuture<'_, Result<Migrated, Error>> {
        self.inner.migrate(mode)
    }

    fn now(&self) -> BoxFuture<'_, Result<DateTime<Utc>, Error>> {
        self.inner.now()
    }

    fn enqueue<'a>(&'a self, jobs: &'a [NewJob], tx: Option<Tx<'a>>) -> BoxFuture<'a, Result<Vec<Enqueued>, Error>> {
        self.inner.enqueue(jobs, tx)
    }

    fn start_worker(&self, worker: NewWorker) -> BoxFuture<'_, Result<WorkerId, Error>> {
        self.inner.start_worker(worker)
    }

    fn lease_session(&self, worker: WorkerId) -> BoxFuture<'_, Result<Box<dyn LeaseSession>, Error>> {
        self.inner.lease_session(worker)
    }

    fn stop_worker(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), Error>> {
        self.inner.stop_worker(worker)
    }

    fn look<'a>(&'a self, queues: &'a [String]) -> BoxFuture<'a, Result<Outlook, Error>> {
        self.inner.look(queues)
    }

    fn held(&self, worker: WorkerId) -> BoxFuture<'_, Result<Vec<Fence>, Error>> {
        self.inner.held(worker)
    }

    fn promote(&self, limit: u32) -> BoxFuture<'_, Result<Promoted, Error>> {
        self.inner.promote(limit)
    }

    fn rescue(&self) -> BoxFuture<'_, Result<Rescued, Error>> {
        self.inner.rescue()
    }

    fn purge(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        self.inner.purge(limit)
    }

    fn hints(&self, worker: WorkerId, queues: Vec<String>) -> BoxFuture<'_, Result<Box<dyn Hints>, Error>> {
        self.inner.hints(worker, queues)
    }

    fn cancel(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        self.inner.cancel(job)
    }

    fn roll_back(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        self.inner.roll_back(job)
    }

    fn steps(&self, job: JobId) -> BoxFuture<'_, Result<Vec<StepRecord>, Error>> {
        self.inner.steps(job)
    }

    fn begin_step(
        &self,
        worker: WorkerId,
        fence: Fence,
        tenant: Option<String>,
    ) -> BoxFuture<'_, Result<Box<dyn StepTransaction>, Error>> {
        self.inner.begin_step(worker, fence, tenant)
    }

    fn publish<'a>(
        &'a self,
        events: &'a [NewEvent],
        tx: Option<Tx<'a>>,
    ) -> BoxFuture<'a, Result<Vec<Published>, Error>> {
        self.inner.publish(events, tx)
    }

    fn find_event(&self, find: FindEvent) -> BoxFuture<'_, Result<Option<EventRecord>, Error>> {
        self.inner.find_event(find)
    }

    fn events<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<EventRecord>, Error>> {
        self.inner.events(name)
    }

    fn purge_events(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        self.inner.purge_events(limit)
    }

    fn wake(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.inner.wake(limit)
    }

    fn operate(&self, job: JobId, operation: Operation) -> BoxFuture<'_, Result<(), Error>> {
        self.inner.operate(job, operation)
    }

    fn requeue(&self, job: JobId) -> BoxFuture<'_, Result<(), Error>> {
        self.inner.requeue(job)
    }

    fn find(&self, job: JobId) -> BoxFuture<'_, Result<Option<JobRecord>, Error>> {
        self.inner.find(job)
    }

    fn list(&self, filter: ListFilter) -> BoxFuture<'_, Result<Vec<JobRecord>, Error>> {
        self.inner.list(filter)
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<KindCount>, Error>> {
        self.inner.counts()
    }

    fn workers(&self) -> BoxFuture<'_, Result<Vec<WorkerRecord>, Error>> {
        self.inner.workers()
    }
}
