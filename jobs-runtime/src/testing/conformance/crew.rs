//! The jobs that the suite's real workers run, and how a case waits for what becomes of them.

use super::Fixture;
use crate::{
    Registry,
    client::Jobs,
    ctx::Ctx,
    driver::JobRecord,
    failure::Failure,
    id::JobId,
    job::Job,
    settled::{FollowUp, Settled},
    spec::{JobSpec, Need},
    state::State,
    testing::{Act, Acts, Starts},
    worker::{Worker, WorkerBuilder},
};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

/// A store with the suite's jobs, and a list of what was started.
pub(super) struct Crew<'a> {
    store: &'a dyn Fixture,
    pub(super) jobs: Jobs,
    pub(super) starts: Starts,
}

impl<'a> Crew<'a> {
    pub(super) fn new(store: &'a dyn Fixture) -> Self {
        let registry = Registry::builder()
            .job::<Acts>()
            .job::<Followed>()
            .job::<Follower>()
            .job::<Tenanted>()
            .job::<Needy>()
            .build()
            .expect("the suite's jobs agree");
        Self { store, jobs: Jobs::new(store.driver(), registry), starts: Starts::default() }
    }

    /// A worker of the suite's jobs that need nothing.
    pub(super) fn worker(&self) -> WorkerBuilder {
        self.jobs.worker().state(self.starts.clone()).queues(["acts", "follow"])
    }

    pub(super) async fn start(&self) -> Worker {
        self.worker().start().await.expect("the worker starts")
    }

    pub(super) async fn enqueue(&self, acts: &[Act]) -> JobId {
        self.jobs.enqueue::<Acts>(acts.to_vec()).await.expect("accepted").id()
    }

    /// Waits until a job has ended. Time passes whenever the job waits for it.
    pub(super) async fn ended(&self, job: JobId) -> JobRecord {
        self.until(job, |record| record.state.is_final()).await
    }

    /// Waits until a job is as wanted. Time passes whenever the job waits for it.
    pub(super) async fn until(&self, job: JobId, wanted: impl Fn(&JobRecord) -> bool) -> JobRecord {
        let begun = Instant::now();
        loop {
            let record = self.jobs.find(job).await.expect("the job is stored");
            if wanted(&record) {
                return record;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "the job does not become as wanted: {record:?}");
            if record.state == State::Delayed {
                self.store.advance(Duration::from_millis(20)).await;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until the body of a job runs for the given time.
    pub(super) async fn started(&self, job: JobId, times: usize) {
        crate::testing::eventually(|| async { self.starts.of(job) >= times }).await;
    }
}

/// A job with a follow-up for each end, and a hook.
pub(super) struct Followed;

impl Job for Followed {
    type Input = Vec<Act>;
    type Output = u32;
    const SPEC: JobSpec = JobSpec::new("testing.followed")
        .queue("follow")
        .retry(Acts::SPEC.retry)
        .then(FollowUp::to::<Follower>())
        .on_dead(FollowUp::to::<Follower>());

    fn tenant(_: &Vec<Act>) -> Option<String> {
        None
    }

    fn run(ctx: &Ctx, acts: Vec<Act>) -> BoxFuture<'_, Result<u32, Failure>> {
        Acts::run(ctx, acts)
    }

    fn on_settled(ctx: &Ctx, settled: Settled) -> Option<BoxFuture<'_, Result<(), Failure>>> {
        Some(Box::pin(async move {
            ctx.state::<Hooked>()?.0.lock().map_err(|_| Failure::retry("poisoned"))?.push(settled);
            Ok(())
        }))
    }
}

/// What the hook of [`Followed`] was told.
#[derive(Default, Clone)]
pub(super) struct Hooked(pub(super) std::sync::Arc<Mutex<Vec<Settled>>>);

/// The job that follows.
pub(super) struct Follower;

impl Job for Follower {
    type Input = Settled;
    type Output = String;
    const SPEC: JobSpec = JobSpec::new("testing.follower").queue("follow");

    fn tenant(settled: &Settled) -> Option<String> {
        settled.tenant.clone()
    }

    fn run(_: &Ctx, settled: Settled) -> BoxFuture<'_, Result<String, Failure>> {
        Box::pin(async move { Ok(format!("{} is {}", settled.job, settled.state)) })
    }
}

/// A job of a tenant, told by its input.
pub(super) struct Tenanted;

/// The input of [`Tenanted`].
#[derive(Serialize, Deserialize)]
pub(super) struct Org {
    pub(super) org: String,
}

impl Job for Tenanted {
    type Input = Org;
    type Output = String;
    const SPEC: JobSpec = JobSpec::new("testing.tenanted").queue("acts");

    fn tenant(input: &Org) -> Option<String> {
        Some(input.org.clone())
    }

    fn run(ctx: &Ctx, _: Org) -> BoxFuture<'_, Result<String, Failure>> {
        Box::pin(async move {
            ctx.state::<Starts>()?.note(ctx);
            Ok(ctx.tenant().unwrap_or_default().to_owned())
        })
    }
}

/// A job that needs a state.
pub(super) struct Needy;

/// The state that [`Needy`] needs.
pub(super) struct Bank;

impl Job for Needy {
    type Input = ();
    type Output = ();
    const SPEC: JobSpec = JobSpec::new("testing.needy").queue("needy").needs(&[Need::of::<Bank>()]);

    fn tenant((): &()) -> Option<String> {
        None
    }

    fn run(_: &Ctx, (): ()) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }
}
