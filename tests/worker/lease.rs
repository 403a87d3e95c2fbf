//! A worker keeps its lease whatever its jobs do, and lets go of its runs when it cannot.

use crate::{
    act::{Act, Log, ended, enqueue, in_state, jobs, jobs_on, until},
    scripted::Scripted,
};
use jobs::{CancelReason, State, driver::Lease};
use std::{
    sync::{Arc, Mutex, atomic::Ordering::SeqCst},
    time::{Duration, Instant},
};

const SHORT: Lease = Lease { duration: Duration::from_millis(600), beat: Duration::from_millis(150) };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_that_block_every_thread_for_five_leases_do_not_lose_it() {
    let driver = Scripted::default();
    *driver.script.renewal_takes.lock().unwrap() = Duration::from_millis(100);
    let (jobs, log) = (jobs_on(Arc::new(driver.clone())), Log::default());
    let first = enqueue(&jobs, Act::Block(3_000)).await;
    let second = enqueue(&jobs, Act::Block(3_000)).await;
    let worker = jobs.worker().state(log.clone()).lease(SHORT).start().await.unwrap();
    // Another process, which rescues at every chance.
    let rescuer = std::thread::spawn({
        let jobs = jobs.clone();
        move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let began = Instant::now();
                let mut rescued = 0;
                while began.elapsed() < Duration::from_millis(3_200) {
                    rescued += jobs.driver().rescue().await.unwrap().jobs;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                rescued
            })
        }
    });
    for job in [first, second] {
        let record = ended(&jobs, job).await;
        assert_eq!((record.state, record.attempt, record.crashes), (State::Completed, 1, 0));
    }
    assert_eq!((log.starts(), rescuer.join().unwrap()), (2, 0));
    worker.drain().await;
}

#[tokio::test]
async fn a_worker_that_cannot_renew_cancels_its_runs_before_the_lease_ends_and_begins_anew() {
    let driver = Scripted::default();
    let (jobs, log) = (jobs_on(Arc::new(driver.clone())), Log::default());
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = reports.clone();
    let worker = jobs
        .worker()
        .state(log.clone())
        .lease(SHORT)
        .on_error(move |report| seen.lock().unwrap().push(report.code.clone()))
        .start()
        .await
        .unwrap();
    let first_life = worker.id();
    let job = enqueue(&jobs, Act::UntilCancelled(true)).await;
    in_state(&jobs, job, State::Running).await;
    let failing_since = Instant::now();
    driver.script.renewals_fail.store(true, SeqCst);
    while log.reasons().is_empty() {
        assert!(failing_since.elapsed() < SHORT.duration, "not cancelled before the lease ended");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(log.reasons(), [CancelReason::LeaseLost]);
    // What the body returned was not written: the job is not completed.
    driver.script.renewals_fail.store(false, SeqCst);
    until(&jobs, job, "running anew", |record| record.state == State::Running && log.starts() == 2).await;
    assert_ne!(worker.id(), first_life);
    assert!(reports.lock().unwrap().contains(&"X_WORKER_LOST".to_owned()));
    jobs.cancel(job).await.unwrap();
    // Its body returns `Ok`.
    assert_eq!(ended(&jobs, job).await.state, State::Completed);
    worker.drain().await;
}

#[tokio::test]
async fn an_outage_of_several_leases_is_waited_out() {
    let driver = Scripted::default();
    let (jobs, log) = (jobs_on(Arc::new(driver.clone())), Log::default());
    let worker = jobs.worker().state(log.clone()).lease(SHORT).start().await.unwrap();
    driver.script.renewals_fail.store(true, SeqCst);
    driver.script.begins_fail.store(5, SeqCst);
    let first = worker.id();
    let began = Instant::now();
    while worker.id() == first {
        if began.elapsed() > Duration::from_secs(1) {
            driver.script.renewals_fail.store(false, SeqCst);
        }
        assert!(began.elapsed() < Duration::from_secs(10), "no new incarnation");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    driver.script.renewals_fail.store(false, SeqCst);
    let job = enqueue(&jobs, Act::Ok).await;
    assert_eq!(ended(&jobs, job).await.state, State::Completed);
    worker.drain().await;
}

#[tokio::test]
async fn the_renewals_end_with_the_runtime_of_the_worker() {
    let driver = Scripted::default();
    let jobs = jobs_on(Arc::new(driver.clone()));
    let elsewhere = {
        let jobs = jobs.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let worker = jobs.worker().lease(SHORT).start().await.unwrap();
                let job = enqueue(&jobs, Act::Sleep(60_000)).await;
                in_state(&jobs, job, State::Running).await;
                drop(worker);
                job
            })
        })
    };
    let job = elsewhere.join().unwrap();
    let next = jobs.worker().lease(SHORT).drain_grace("0s").cancel_grace("0s").start().await.unwrap();
    until(&jobs, job, "rescued", |record| record.crashes == 1).await;
    next.drain().await;
}

#[tokio::test]
async fn a_cancel_reaches_a_running_job_by_the_renewal_when_no_hint_comes() {
    let driver = Scripted::default();
    driver.script.no_hints.store(true, SeqCst);
    let jobs = jobs_on(Arc::new(driver));
    let job = enqueue(&jobs, Act::UntilCancelled(false)).await;
    let worker = jobs.worker().lease(SHORT).start().await.unwrap();
    in_state(&jobs, job, State::Running).await;
    jobs.cancel(job).await.unwrap();
    assert_eq!(ended(&jobs, job).await.state, State::Cancelled);
    worker.drain().await;
}

#[tokio::test]
async fn a_cancelled_job_that_waits_for_a_slot_never_starts() {
    let (jobs, log) = (jobs(), Log::default());
    let running = enqueue(&jobs, Act::Sleep(300)).await;
    let buffered = enqueue(&jobs, Act::Ok).await;
    let worker = jobs.worker().state(log.clone()).queue("acts", 1).prefetch(1).start().await.unwrap();
    in_state(&jobs, buffered, State::Running).await;
    jobs.cancel(buffered).await.unwrap();
    assert_eq!(ended(&jobs, buffered).await.state, State::Cancelled);
    assert_eq!(ended(&jobs, running).await.state, State::Completed);
    assert_eq!(log.starts_of(buffered), 0);
    worker.drain().await;
}
