//! What a driver gives the suite: a fresh store, its clock, its transactions.

use crate::{
    driver::{Driver, Enqueued, JobRecord, NewJob, Tx},
    error::Error,
    id::JobId,
    state::State,
};
use futures_util::future::BoxFuture;
use std::{sync::Arc, time::Duration};

/// A fresh, empty store for one case.
pub trait Fixture: Send + Sync + 'static {
    /// The driver under test.
    fn driver(&self) -> Arc<dyn Driver>;

    /// Another driver on the same store, as another process would have.
    fn second_handle(&self) -> BoxFuture<'_, Arc<dyn Driver>>;

    /// Lets the store's time pass without waiting: moves its clock, or shifts every stored time into the past.
    fn advance(&self, by: Duration) -> BoxFuture<'_, ()>;

    /// Begins a transaction that enqueues can join.
    fn begin(&self) -> BoxFuture<'_, Box<dyn OpenTx>>;
}

/// An open transaction of the store.
pub trait OpenTx: Send {
    /// Borrows it for an enqueue.
    fn tx(&mut self) -> Tx<'_>;

    /// Commits it.
    fn commit(self: Box<Self>) -> BoxFuture<'static, ()>;

    /// Rolls it back.
    fn rollback(self: Box<Self>) -> BoxFuture<'static, ()>;
}

impl dyn Fixture {
    /// Enqueues jobs outside any transaction.
    pub(super) async fn enqueue(&self, jobs: &[NewJob]) -> Vec<Enqueued> {
        self.driver().enqueue(jobs, None).await.expect("an enqueue is accepted")
    }

    /// Enqueues a job that is known to be new.
    pub(super) async fn insert(&self, job: NewJob) -> JobId {
        let answers = self.enqueue(std::slice::from_ref(&job)).await;
        assert!(matches!(answers[..], [Enqueued::Inserted { id }] if id == job.id), "inserted anew, not {answers:?}");
        job.id
    }

    /// Enqueues jobs in a transaction.
    pub(super) async fn enqueue_in(&self, tx: &mut dyn OpenTx, jobs: &[NewJob]) -> Result<Vec<Enqueued>, Error> {
        self.driver().enqueue(jobs, Some(tx.tx())).await
    }

    /// Finds a job that must be stored.
    pub(super) async fn record(&self, job: JobId) -> JobRecord {
        self.find(job).await.expect("the job is stored")
    }

    /// Finds a job.
    pub(super) async fn find(&self, job: JobId) -> Option<JobRecord> {
        self.driver().find(job).await.expect("a find answers")
    }

    /// The state of a job that must be stored.
    pub(super) async fn state(&self, job: JobId) -> State {
        self.record(job).await.state
    }

    /// Everything that is recorded of a job, to be compared.
    pub(super) async fn snapshot(&self, job: JobId) -> Option<serde_json::Value> {
        self.find(job).await.map(|record| serde_json::to_value(record).expect("a record is JSON"))
    }

    /// Lets whole seconds of the store's time pass.
    pub(super) async fn advance_secs(&self, seconds: u64) {
        self.advance(Duration::from_secs(seconds)).await;
    }

    /// Moves all due jobs to `ready`.
    pub(super) async fn promote(&self) -> u32 {
        self.driver().promote(100_000).await.expect("a promotion answers").moved
    }

    /// Purges until nothing is left to purge.
    pub(super) async fn purge_all(&self) {
        while self.driver().purge(10_000).await.expect("a purge answers") > 0 {}
    }
}
