//! What a worker refuses to start with, and what it finds.

use crate::{act::jobs, scripted::Scripted};
use jobs::{
    Ctx, Failure, Job, Jobs, Registry,
    driver::{Lease, Memory},
    spec::{Hold, JobSpec, Need, OnConflict, Unique},
};
use std::{future::Future, pin::Pin, sync::Arc, sync::atomic::Ordering::SeqCst, time::Duration};

pub(crate) struct Bank;

struct Needy;

impl Job for Needy {
    type Input = ();
    type Output = ();
    const SPEC: JobSpec = JobSpec::new("needy")
        .needs(&[Need::of::<Bank>()])
        .unique(Unique { hold: Hold::Live, on_conflict: OnConflict::Existing });

    fn tenant((): &()) -> Option<String> {
        None
    }

    fn run(_: &Ctx, (): ()) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send + '_>> {
        Box::pin(async { Ok(()) })
    }
}

fn needy(driver: Arc<dyn jobs::driver::Driver>) -> Jobs {
    Jobs::new(driver, Registry::builder().job::<Needy>().build().unwrap())
}

#[tokio::test]
async fn a_missing_state_is_refused_naming_job_and_type() {
    let error = needy(Arc::new(Memory::new())).worker().start().await.unwrap_err();
    assert_eq!(error.code().name, "X_STATE_MISSING");
    assert!(error.to_string().contains("`needy`") && error.to_string().contains("start::Bank"), "{error}");
}

#[tokio::test]
async fn a_worker_with_its_states_starts() {
    let worker = needy(Arc::new(Memory::new())).worker().state(Bank).start().await.unwrap();
    worker.drain().await;
}

#[tokio::test]
async fn all_findings_are_told_at_once() {
    let driver = Scripted::default();
    driver.script.no_unique_keys.store(true, SeqCst);
    let error = needy(Arc::new(driver))
        .worker()
        .queue("Odd Name", 3)
        .queue("none", 0)
        .drain_grace("soon")
        .lease(Lease { duration: Duration::from_secs(1), beat: Duration::from_secs(1) })
        .start()
        .await
        .unwrap_err();
    assert_eq!(error.code().name, "X_WORKER_CONFIG_INVALID");
    for finding in ["start::Bank", "scripted driver", "`Odd Name`", "`none`", "drain_grace of \"soon\"", "at most half"]
    {
        assert!(error.to_string().contains(finding), "`{finding}` is not in: {error}");
    }
}

#[tokio::test]
async fn a_capability_that_the_driver_lacks_is_refused_naming_job_and_driver() {
    let driver = Scripted::default();
    driver.script.no_unique_keys.store(true, SeqCst);
    let error = needy(Arc::new(driver)).worker().state(Bank).start().await.unwrap_err();
    assert_eq!(error.code().name, "X_DRIVER_UNSUPPORTED");
    assert!(error.to_string().contains("`needy`") && error.to_string().contains("scripted"), "{error}");
}

#[tokio::test]
async fn a_process_that_knows_no_job_is_told_to_link_one() {
    let jobs = Jobs::new(Arc::new(Memory::new()), Registry::builder().build().unwrap());
    let error = jobs.worker().start().await.unwrap_err();
    assert_eq!(error.code().name, "X_JOB_UNKNOWN");
    assert!(error.fix().contains("use the_crate as _;"), "{error}");
}

#[tokio::test]
async fn a_job_that_is_not_registered_cannot_be_chosen() {
    let error = jobs().worker().only::<Needy>().start().await.unwrap_err();
    assert!(error.to_string().contains("X_JOB_UNKNOWN") && error.to_string().contains("`needy`"), "{error}");
}

#[tokio::test]
async fn the_queues_are_those_of_the_registered_jobs_unless_said_otherwise() {
    let jobs = jobs();
    let all = jobs.worker().queue("more", 3).name("all").start().await.unwrap();
    let one = jobs.worker().queue("more", 3).queues(["acts"]).name("one").start().await.unwrap();
    let workers = jobs.workers().await.unwrap();
    let queues = |name: &str| workers.iter().find(|worker| worker.name == name).unwrap().queues.clone();
    assert_eq!(queues("all"), [("acts".to_owned(), 10), ("more".to_owned(), 3)]);
    assert_eq!(queues("one"), [("acts".to_owned(), 10)]);
    all.drain().await;
    one.drain().await;
}

#[tokio::test]
async fn each_start_is_an_incarnation_of_its_own_whatever_the_name() {
    let jobs = jobs();
    let first = jobs.worker().name("pod-0").start().await.unwrap();
    let second = jobs.worker().name("pod-0").start().await.unwrap();
    assert_ne!(first.id(), second.id());
    first.drain().await;
    second.drain().await;
}

#[tokio::test]
async fn the_largest_settings_are_refused_or_kept_and_never_overflow() {
    let longest = Lease { duration: Duration::MAX, beat: Duration::MAX };
    let error = jobs().worker().lease(longest).start().await.unwrap_err();
    assert!(error.to_string().contains("36500d"), "{error}");
    let jobs = jobs();
    let job = crate::act::enqueue(&jobs, crate::act::Act::Ok).await;
    let lease = Lease { duration: jobs::duration::MAX, beat: jobs::duration::MAX / 2 };
    let worker = jobs.worker().concurrency(u32::MAX).prefetch(u32::MAX).lease(lease).start().await.unwrap();
    assert_eq!(crate::act::ended(&jobs, job).await.state, jobs::State::Completed);
    worker.drain().await;
}

#[tokio::test]
async fn a_store_that_is_away_refuses_the_first_start() {
    let driver = Scripted::default();
    driver.script.begins_fail.store(1, SeqCst);
    let error = needy(Arc::new(driver)).worker().state(Bank).start().await.unwrap_err();
    assert!(error.is_unavailable());
}
