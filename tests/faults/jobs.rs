//! The jobs that the tests run, and how to see that they ran.

use jobs::{Job, JobId, Jobs, Registry, Worker, driver::Driver, prelude::*};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;

/// When each number's body ran, each time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs(Arc<Mutex<HashMap<u64, Vec<Instant>>>>);

impl Runs {
    pub(crate) fn add(&self, number: u64) {
        self.0.lock().unwrap().entry(number).or_default().push(Instant::now());
    }

    pub(crate) fn first(&self, number: u64) -> Option<Instant> {
        self.0.lock().unwrap().get(&number).and_then(|runs| runs.first().copied())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn again(&self) -> usize {
        self.0.lock().unwrap().values().filter(|runs| runs.len() > 1).count()
    }
}

/// Notes that it ran.
#[job(queue = "notes", tenant = none, retry(max_attempts = 5, backoff = fixed("100ms")))]
pub(crate) async fn note(ctx: &Ctx, number: u64) -> Result<(), Failure> {
    ctx.state::<Runs>()?.add(number);
    Ok(())
}

/// Holds running bodies until it is opened.
#[derive(Debug, Clone)]
pub(crate) struct Gate(pub(crate) Arc<Semaphore>);

impl Gate {
    pub(crate) fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    pub(crate) fn open(&self) {
        self.0.close();
    }
}

/// Notes that it runs, then waits for the gate.
#[job(queue = "gated", tenant = none, retry(max_attempts = 5, backoff = fixed("100ms")))]
pub(crate) async fn gated(ctx: &Ctx, number: u64) -> Result<(), Failure> {
    ctx.state::<Runs>()?.add(number);
    // Closed means open: every wait ends.
    let _ = ctx.state::<Gate>()?.0.acquire().await;
    Ok(())
}

/// At most one of a key.
#[job(queue = "once", tenant = none, unique(by = [key], while = live))]
pub(crate) async fn once(ctx: &Ctx, input: Keyed) -> Result<(), Failure> {
    ctx.state::<Runs>()?.add(input.key);
    Ok(())
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Keyed {
    pub(crate) key: u64,
    pub(crate) caller: u64,
}

/// A store that knows one job.
pub(crate) fn knowing<J: Job>(driver: &Arc<impl Driver>) -> Jobs {
    Jobs::new(Arc::clone(driver) as Arc<dyn Driver>, Registry::builder().job::<J>().build().unwrap())
}

/// A worker of a store that runs so many jobs at a time.
pub(crate) async fn work(jobs: &Jobs, runs: &Runs, concurrency: u32) -> Worker {
    jobs.worker().state(runs.clone()).concurrency(concurrency).start().await.expect("a worker starts")
}

/// Enqueues a note and waits until it has run: how long that took.
pub(crate) async fn start_delay(jobs: &Jobs, runs: &Runs, number: u64, limit: Duration) -> Duration {
    let asked = Instant::now();
    jobs.enqueue::<note>(number).await.expect("a note is enqueued");
    let ran = crate::support::eventually_within(limit, "a note runs", async || runs.first(number)).await;
    ran.saturating_duration_since(asked)
}

/// Waits until all of these have completed.
pub(crate) async fn all_completed(jobs: &Jobs, ids: &[JobId], limit: Duration) {
    for id in ids {
        crate::support::eventually_within(limit, "a job completes", async || {
            let record = jobs.find(*id).await.ok()?;
            assert!(record.state == State::Completed || !record.state.is_final(), "{record:?}");
            record.state.is_final().then_some(())
        })
        .await;
    }
}
