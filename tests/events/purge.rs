//! Expired events are removed by a durable job: alone, in batches, retried and reported.

use crate::{
    fixtures::{Shipped, on_both, settled, shipped},
    support::eventually,
};
use futures_util::future::BoxFuture;
use jobs::{
    Error, Event, JobId, Jobs, Registry, State, WorkerBuilder,
    driver::{Driver, Enqueued, Lease, Memory, NewJob, Tx},
    error::code,
    failure::Stop,
    testing::{Act, Acts, Overlay},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Semaphore;

const PURGE: &str = "jobs.purge_events";

/// A store whose purge of events fails as often as a test says, and waits for its leave.
#[derive(Clone)]
struct Watched(Arc<Inner>);

struct Inner {
    memory: Memory,
    fails: AtomicU32,
    leave: Semaphore,
    /// How many each purge was asked for and has removed.
    purges: Mutex<Vec<(u32, u64)>>,
    enqueued: Mutex<Vec<JobId>>,
}

impl Watched {
    fn new(fails: u32, leave: usize) -> Self {
        Self(Arc::new(Inner {
            memory: Memory::new(),
            fails: AtomicU32::new(fails),
            leave: Semaphore::new(leave),
            purges: Mutex::default(),
            enqueued: Mutex::default(),
        }))
    }

    fn jobs(&self) -> Jobs {
        let registry = Registry::builder().job::<Acts>().build().expect("it fits");
        Jobs::new(Arc::new(self.clone()), registry)
    }

    fn enqueued(&self) -> Vec<JobId> {
        self.0.enqueued.lock().unwrap().clone()
    }

    fn removed(&self) -> u64 {
        self.0.purges.lock().unwrap().iter().map(|(_, removed)| removed).sum()
    }
}

impl Overlay for Watched {
    fn under(&self) -> &dyn Driver {
        &self.0.memory
    }

    fn enqueue<'a>(&'a self, jobs: &'a [NewJob], tx: Option<Tx<'a>>) -> BoxFuture<'a, Result<Vec<Enqueued>, Error>> {
        Box::pin(async move {
            let answers = self.0.memory.enqueue(jobs, tx).await?;
            let purges = jobs.iter().zip(&answers).filter(|(job, answer)| job.kind == PURGE && answer.is_inserted());
            self.0.enqueued.lock().unwrap().extend(purges.map(|(_, answer)| answer.id()));
            Ok(answers)
        })
    }

    fn purge_events(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        Box::pin(async move {
            self.0.leave.acquire().await.unwrap().forget();
            if self.0.fails.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
                return Err(Error::new(code::STORE_FAILED, "the test says so"));
            }
            let removed = self.0.memory.purge_events(limit).await?;
            self.0.purges.lock().unwrap().push((limit, removed));
            Ok(removed)
        })
    }
}

/// A worker that looks five times a second.
fn watchful(jobs: &Jobs) -> WorkerBuilder {
    jobs.worker().lease(Lease { duration: Duration::from_millis(600), beat: Duration::from_millis(100) })
}

async fn publish_expired(jobs: &Jobs, count: u32) {
    let events = (0..count).map(|n| (n, shipped(n)));
    jobs.publish_many(events).ttl("1ms").await.expect("they are published");
}

#[tokio::test]
async fn expired_events_are_removed_on_both_drivers() {
    let (_db, both) = on_both().await;
    for jobs in both {
        publish_expired(&jobs, 3).await;
        let kept = shipped(4).publish(&jobs, 4).await.expect("it is published");
        let worker = watchful(&jobs).queue("any", 1).start().await.expect("it starts");
        eventually("the purge ends", || async {
            let purges = jobs.list(jobs::driver::ListFilter { kind: Some(PURGE.to_owned()), ..Default::default() });
            let live = !purges.await.expect("the store answers").is_empty();
            let events = jobs.events::<Shipped>().await.expect("the store answers").len();
            (!live && events == 1).then_some(())
        })
        .await;
        worker.drain().await;
        eventually("nothing is left to remove", || async {
            (jobs.driver().purge_events(10).await.expect("the store answers") == 0).then_some(())
        })
        .await;
        assert_eq!(jobs.events::<Shipped>().await.expect("the store answers")[0].id, kept.id);
    }
}

#[tokio::test]
async fn the_purge_goes_on_in_batches_of_5000_until_nothing_is_left() {
    let store = Watched::new(0, 100);
    let jobs = store.jobs();
    publish_expired(&jobs, 12_000).await;
    let worker = watchful(&jobs).start().await.expect("it starts");
    eventually("all are removed", || async { (store.removed() == 12_000).then_some(()) }).await;
    assert_eq!(*store.0.purges.lock().unwrap(), [(5_000, 5_000), (5_000, 5_000), (5_000, 2_000)]);
    worker.drain().await;
}

#[tokio::test]
async fn a_purge_that_fails_is_tried_again_as_the_same_job() {
    let store = Watched::new(1, 100);
    let jobs = store.jobs();
    publish_expired(&jobs, 3).await;
    let worker = watchful(&jobs).start().await.expect("it starts");
    let retried = eventually("the purge waits for its next attempt", || async {
        let id = *store.enqueued().first()?;
        jobs.find(id).await.ok().filter(|record| record.attempt == 2)
    })
    .await;
    let failure = retried.failure.expect("the failure is recorded");
    assert_eq!((retried.kind.as_str(), failure.code.as_str()), (PURGE, "X_STORE_FAILED"));
    assert!(failure.operator.contains("the test says so"), "{failure:?}");
    eventually("the events are removed", || async { (store.removed() == 3).then_some(()) }).await;
    assert_eq!(store.enqueued().len(), 1);
    worker.drain().await;
}

#[tokio::test]
async fn a_purge_that_fails_for_good_is_dead_and_reported() {
    let store = Watched::new(u32::MAX, 100);
    let jobs = store.jobs();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = reports.clone();
    let worker = jobs.worker().on_error(move |report| seen.lock().unwrap().push(report.clone())).start().await;
    let worker = worker.expect("it starts");
    let purge = jobs.enqueue_dynamic(PURGE, serde_json::Value::Null).queue("acts").max_attempts(1).await;
    let purge = purge.expect("it is known by its name").id();
    let dead = settled(&jobs, purge).await;
    assert_eq!(dead.state, State::Dead);
    assert_eq!(dead.failure.expect("it failed").stop, Some(Stop::AttemptsExhausted));
    let report = eventually("it is reported", || async { reports.lock().unwrap().first().cloned() }).await;
    let about = report.job.expect("it is about the job");
    assert_eq!((about.name.as_str(), about.id, report.code.as_str()), (PURGE, purge, "X_STORE_FAILED"));
    worker.drain().await;
}

#[tokio::test]
async fn one_purge_of_a_queue_lives_at_a_time_however_many_workers_look() {
    let store = Watched::new(0, 0);
    let jobs = store.jobs();
    publish_expired(&jobs, 3).await;
    let mut workers = Vec::new();
    for _ in 0..4 {
        workers.push(watchful(&jobs).start().await.expect("it starts"));
    }
    eventually("a purge is under way", || async { (!store.enqueued().is_empty()).then_some(()) }).await;
    // Each has looked by then.
    let job = jobs.enqueue::<Acts>(vec![Act::Ok]).delay("1s").await.expect("it is enqueued").id();
    settled(&jobs, job).await;
    assert_eq!(store.enqueued().len(), 1);
    store.0.leave.add_permits(100);
    eventually("the events are removed", || async { (store.removed() == 3).then_some(()) }).await;
    for worker in workers {
        worker.drain().await;
    }
}

#[tokio::test]
async fn a_worker_of_any_queue_runs_the_purge_and_no_registry_lists_it() {
    let store = Watched::new(0, 100);
    let jobs = store.jobs();
    assert_eq!(jobs.registry().len(), 1);
    assert_eq!(jobs.registry().iter().map(|job| job.spec.name).collect::<Vec<_>>(), ["testing.acts"]);
    assert!(!jobs.registry().to_string().contains(PURGE), "{}", jobs.registry());
    publish_expired(&jobs, 3).await;
    let worker = watchful(&jobs).queues(["elsewhere"]).start().await.expect("it starts");
    eventually("the events are removed", || async { (store.removed() == 3).then_some(()) }).await;
    let workers = jobs.workers().await.expect("the store answers");
    assert_eq!(workers[0].kinds, [PURGE]);
    worker.drain().await;
}

#[tokio::test]
async fn a_job_of_the_purges_name_is_refused() {
    struct Mine;
    impl jobs::Job for Mine {
        type Input = ();
        type Output = ();
        const SPEC: jobs::spec::JobSpec = jobs::spec::JobSpec::new("jobs.purge_events");
        fn tenant((): &()) -> Option<String> {
            None
        }
        fn run(_: &jobs::Ctx, (): ()) -> BoxFuture<'_, Result<(), jobs::Failure>> {
            Box::pin(async { Ok(()) })
        }
    }
    let error = Registry::builder().job::<Mine>().build().expect_err("the name is taken");
    assert_eq!(error.code(), code::JOB_NAME_TAKEN, "{error}");
    assert!(error.to_string().contains(PURGE), "{error}");
    assert_eq!(Shipped::NAME, "parcel.shipped");
}
