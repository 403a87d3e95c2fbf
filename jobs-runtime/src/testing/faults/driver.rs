//! The driver with a point before and after each call that writes or decides. Upstream: `mod`. Downstream: `transaction`.

use super::{Incarnation, transaction};
use crate::{
    driver::{
        CancelAnswer, Change, Claim, Claimed, Driver, Enqueued, EventRecord, Fence, FindEvent, NewEvent, NewJob,
        NewWorker, Operation, Promoted, Published, Rescued, StepRecord, StepTransaction, Tx, WorkerId, Write, Written,
    },
    error::Error,
    id::JobId,
    testing::Overlay,
};
use futures_util::future::BoxFuture;

pub(super) struct Faulty(pub(super) Incarnation);

impl Faulty {
    /// A call of the driver under this one, between its two points.
    fn call<'a, T: Send + 'a>(
        &'a self,
        name: &'static str,
        call: impl FnOnce() -> BoxFuture<'a, Result<T, Error>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, Error>> {
        Box::pin(self.0.call(name, async { call().await }))
    }

    /// A commit, with a point between its writes too: they land item by item.
    async fn committed(&self, worker: WorkerId, writes: &[Write]) -> Result<Vec<Written>, Error> {
        let driver = &self.0.driver;
        let names = writes.iter().map(|write| name(&write.change)).collect::<Vec<_>>().join(", ");
        self.0.point(format!("before commit of {names}")).await?;
        let mut written = Vec::new();
        for (landed, write) in writes.chunks(1).enumerate() {
            written.extend(driver.commit(worker, write).await?);
            self.0.live().await;
            if landed + 1 < writes.len() {
                self.0.point(format!("within commit of {names}, after {}", landed + 1)).await?;
            }
        }
        self.0.point(format!("after commit of {names}")).await?;
        Ok(written)
    }
}

fn name(change: &Change) -> String {
    match change {
        Change::Finish(finish) => format!("finish {}", finish.state),
        Change::Reschedule(_) => "reschedule".to_owned(),
        Change::Progress(_) => "progress".to_owned(),
        Change::Step(step) => format!("{:?} {} {:?}", step.kind, step.id.name, step.status),
        Change::Park(_) => "park".to_owned(),
        Change::Unwind(_) => "unwind".to_owned(),
    }
}

impl Overlay for Faulty {
    fn under(&self) -> &dyn Driver {
        &*self.0.driver
    }

    fn enqueue<'a>(&'a self, jobs: &'a [NewJob], tx: Option<Tx<'a>>) -> BoxFuture<'a, Result<Vec<Enqueued>, Error>> {
        self.call("enqueue", move || self.under().enqueue(jobs, tx))
    }

    fn start_worker(&self, worker: NewWorker) -> BoxFuture<'_, Result<WorkerId, Error>> {
        self.call("start of a worker", move || self.under().start_worker(worker))
    }

    fn stop_worker(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), Error>> {
        self.call("stop of a worker", move || self.under().stop_worker(worker))
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        self.call("claim", move || self.under().claim(claim))
    }

    fn held(&self, worker: WorkerId) -> BoxFuture<'_, Result<Vec<Fence>, Error>> {
        self.call("held", move || self.under().held(worker))
    }

    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> BoxFuture<'a, Result<Vec<Written>, Error>> {
        Box::pin(self.committed(worker, writes))
    }

    fn promote(&self, limit: u32) -> BoxFuture<'_, Result<Promoted, Error>> {
        self.call("promote", move || self.under().promote(limit))
    }

    fn rescue(&self) -> BoxFuture<'_, Result<Rescued, Error>> {
        self.call("rescue", move || self.under().rescue())
    }

    fn purge(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        self.call("purge", move || self.under().purge(limit))
    }

    fn cancel(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        self.call("cancel", move || self.under().cancel(job))
    }

    fn roll_back(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        self.call("roll back", move || self.under().roll_back(job))
    }

    fn steps(&self, job: JobId) -> BoxFuture<'_, Result<Vec<StepRecord>, Error>> {
        self.call("steps", move || self.under().steps(job))
    }

    fn begin_step(
        &self,
        worker: WorkerId,
        fence: Fence,
        tenant: Option<String>,
    ) -> BoxFuture<'_, Result<Box<dyn StepTransaction>, Error>> {
        let begun = self.call("begin of a step", move || self.under().begin_step(worker, fence, tenant));
        Box::pin(async { Ok(transaction::faulty(self.0.clone(), begun.await?)) })
    }

    fn publish<'a>(
        &'a self,
        events: &'a [NewEvent],
        tx: Option<Tx<'a>>,
    ) -> BoxFuture<'a, Result<Vec<Published>, Error>> {
        self.call("publish", move || self.under().publish(events, tx))
    }

    fn find_event(&self, find: FindEvent) -> BoxFuture<'_, Result<Option<EventRecord>, Error>> {
        self.call("find of an event", move || self.under().find_event(find))
    }

    fn purge_events(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        self.call("purge of events", move || self.under().purge_events(limit))
    }

    fn wake(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.call("wake", move || self.under().wake(limit))
    }

    fn operate(&self, job: JobId, operation: Operation) -> BoxFuture<'_, Result<(), Error>> {
        self.call("operate", move || self.under().operate(job, operation))
    }

    fn requeue(&self, job: JobId) -> BoxFuture<'_, Result<(), Error>> {
        self.call("requeue", move || self.under().requeue(job))
    }
}
