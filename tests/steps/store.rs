//! A store that answers otherwise than a run hopes: a claim that is gone, records that cannot be read.

use crate::log::{Log, note};
use jobs::{
    Error, JobId, Jobs, State,
    driver::{Change, Driver, Fence, Memory, StepRecord, StepTransaction, WorkerId, Write, Written},
    error::code,
    prelude::*,
    testing::{Overlay, eventually},
};
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A memory store, with what it answers otherwise.
struct Otherwise {
    memory: Memory,
    /// How many step records are answered as stale.
    stale: AtomicU32,
    /// How many reads of a run's records fail.
    unread: AtomicU32,
    reads: AtomicU32,
    /// How many transactions of steps do not begin.
    untaken: AtomicU32,
}

impl Otherwise {
    fn new(stale: u32, unread: u32) -> Arc<Self> {
        let (stale, unread) = (AtomicU32::new(stale), AtomicU32::new(unread));
        Arc::new(Self { memory: Memory::new(), stale, unread, reads: AtomicU32::new(0), untaken: AtomicU32::new(0) })
    }
}

fn takes_one(left: &AtomicU32) -> bool {
    left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
}

/// Its own type, since a foreign `Arc` cannot be an overlay.
struct Shared(Arc<Otherwise>);

impl Overlay for Shared {
    fn under(&self) -> &dyn Driver {
        &self.0.memory
    }

    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> Answer<'a, Vec<Written>> {
        let has_step = writes.iter().any(|write| matches!(write.change, Change::Step(_)));
        if has_step && takes_one(&self.0.stale) {
            return Box::pin(async { Ok(writes.iter().map(|_| Written::Stale).collect()) });
        }
        self.under().commit(worker, writes)
    }

    fn begin_step(
        &self,
        worker: WorkerId,
        fence: Fence,
        tenant: Option<String>,
    ) -> Answer<'_, Box<dyn StepTransaction>> {
        if takes_one(&self.0.untaken) {
            return Box::pin(async { Err(Error::new(code::STORE_UNAVAILABLE, "the test says so")) });
        }
        self.under().begin_step(worker, fence, tenant)
    }

    fn steps(&self, job: JobId) -> Answer<'_, Vec<StepRecord>> {
        self.0.reads.fetch_add(1, SeqCst);
        if takes_one(&self.0.unread) {
            return Box::pin(async { Err(Error::new(code::STORE_UNAVAILABLE, "the test says so")) });
        }
        self.under().steps(job)
    }
}

/// One step, then a failure at first.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("10ms")))]
async fn fails_once(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "step", async {
        note(ctx, "step");
        Ok(())
    })
    .await?;
    note(ctx, format!("attempt {}", ctx.attempt()));
    if ctx.attempt() == 1 { Err(Failure::retry("once more")) } else { Ok(()) }
}

fn jobs(store: &Arc<Otherwise>) -> Jobs {
    let registry = Registry::builder().job::<fails_once>().build().expect("one job");
    Jobs::new(Arc::new(Shared(Arc::clone(store))), registry)
}

async fn in_state(jobs: &Jobs, job: JobId, state: State) {
    eventually(|| async { jobs.find(job).await.is_ok_and(|record| record.state == state) }).await;
}

#[tokio::test]
async fn a_step_whose_claim_is_gone_never_returns() {
    let (store, log) = (Otherwise::new(1, 0), Log::default());
    let jobs = jobs(&store);
    let worker = jobs.worker().state(log.clone()).start().await.expect("it starts");
    let job = jobs.enqueue::<fails_once>(()).await.expect("accepted").id();
    eventually(|| async { log.count("step") == 1 && store.stale.load(SeqCst) == 0 }).await;
    // The store holds the job still: the worker finds that it does not know it, and hands it back.
    worker.drain().await;
    assert_eq!(log.take(), ["step"]);
    assert_eq!(jobs.find(job).await.expect("it is stored").attempt, 1);
}

#[tokio::test]
async fn a_run_whose_records_cannot_be_read_goes_back_uncounted_and_is_read_once_more() {
    let (store, log) = (Otherwise::new(0, 2), Log::default());
    let jobs = jobs(&store);
    let worker = jobs.worker().state(log.clone()).start().await.expect("it starts");
    let job = jobs.enqueue::<fails_once>(()).await.expect("accepted").id();
    in_state(&jobs, job, State::Completed).await;
    assert_eq!(log.take(), ["step", "attempt 1", "attempt 2"]);
    assert_eq!(store.reads.load(SeqCst), 3, "the first attempt has nothing to read");
    worker.drain().await;
}

#[tokio::test]
async fn a_run_whose_records_stay_unreadable_begins_no_body() {
    let (store, log) = (Otherwise::new(0, u32::MAX), Log::default());
    let jobs = jobs(&store);
    let worker = jobs.worker().state(log.clone()).start().await.expect("it starts");
    let job = jobs.enqueue::<fails_once>(()).await.expect("accepted").id();
    eventually(|| async {
        let record = jobs.find(job).await.expect("it is stored");
        store.reads.load(SeqCst) >= 5 && record.state == State::Delayed
    })
    .await;
    assert_eq!(jobs.find(job).await.expect("it is stored").attempt, 2, "no attempt is counted");
    assert_eq!(log.take(), ["step", "attempt 1"]);
    worker.drain().await;
}

/// Nothing but a transaction, in its only attempt.
#[job(tenant = none, retry(max_attempts = 1))]
async fn in_one_attempt(ctx: &Ctx) -> Result<(), Failure> {
    step_tx!(ctx, "move", async |_tx| Ok(())).await?;
    Ok(())
}

#[tokio::test]
async fn a_store_that_does_not_answer_to_a_transaction_costs_no_attempt() {
    let store = Otherwise::new(0, 0);
    store.untaken.store(1, SeqCst);
    let registry = Registry::builder().job::<in_one_attempt>().build().expect("one job");
    let jobs = Jobs::new(Arc::new(Shared(Arc::clone(&store))), registry);
    let worker = jobs.worker().start().await.expect("it starts");
    let job = jobs.enqueue::<in_one_attempt>(()).await.expect("accepted").id();
    eventually(|| async { store.untaken.load(SeqCst) == 0 && in_state_now(&jobs, job).await != State::Running }).await;
    let record = jobs.find(job).await.expect("it is stored");
    assert_eq!((record.state, record.attempt, record.failure), (State::Delayed, 1, None));
    worker.drain().await;
}

async fn in_state_now(jobs: &Jobs, job: JobId) -> State {
    jobs.find(job).await.expect("it is stored").state
}
