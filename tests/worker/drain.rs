//! A worker ends in good order.

use crate::{
    act::{Act, Log, ended, enqueue, in_state, jobs, jobs_on},
    scripted::Scripted,
};
use jobs::{State, driver::Lease};
use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::{Duration, Instant},
};

#[tokio::test]
async fn what_was_claimed_ahead_goes_back_uncounted_and_nothing_of_it_starts() {
    let (jobs, log) = (jobs(), Log::default());
    let mut ids = Vec::new();
    for _ in 0..50 {
        ids.push(enqueue(&jobs, Act::UntilCancelled(false)).await);
    }
    let worker =
        jobs.worker().state(log.clone()).queue("acts", 4).prefetch(46).drain_grace("200ms").start().await.unwrap();
    for job in &ids {
        in_state(&jobs, *job, State::Running).await;
    }
    let began = Instant::now();
    worker.drain().await;
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(log.starts(), 4);
    for job in ids {
        let record = jobs.find(job).await.unwrap();
        assert_eq!((record.state, record.attempt, record.crashes), (State::Ready, 1, 0));
        assert!(record.failure.is_none());
    }
}

#[tokio::test]
async fn unstarted_jobs_are_back_long_before_the_grace_ends() {
    let jobs = jobs();
    let running = enqueue(&jobs, Act::Sleep(600)).await;
    let worker = jobs.worker().queue("acts", 1).prefetch(5).start().await.unwrap();
    in_state(&jobs, running, State::Running).await;
    let buffered = enqueue(&jobs, Act::Ok).await;
    in_state(&jobs, buffered, State::Running).await;
    let drained = tokio::spawn(async move { worker.drain().await });
    in_state(&jobs, buffered, State::Ready).await;
    assert_eq!(jobs.find(running).await.unwrap().state, State::Running);
    drained.await.unwrap();
    assert_eq!(jobs.find(running).await.unwrap().state, State::Completed);
    assert_eq!(jobs.find(buffered).await.unwrap().state, State::Ready);
}

#[tokio::test]
async fn nothing_is_claimed_once_the_drain_has_begun() {
    let driver = Scripted::default();
    let jobs = jobs_on(Arc::new(driver.clone()));
    let running = enqueue(&jobs, Act::Sleep(300)).await;
    let worker = jobs.worker().start().await.unwrap();
    in_state(&jobs, running, State::Running).await;
    let drained = tokio::spawn(async move { worker.drain().await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let claims = driver.script.claims.load(SeqCst);
    let late = enqueue(&jobs, Act::Ok).await;
    drained.await.unwrap();
    assert_eq!(driver.script.claims.load(SeqCst), claims);
    assert_eq!(jobs.find(late).await.unwrap().state, State::Ready);
    assert_eq!(jobs.find(running).await.unwrap().state, State::Completed);
}

#[tokio::test]
async fn the_lease_is_renewed_until_the_last_job_has_settled() {
    let driver = Scripted::default();
    let jobs = jobs_on(Arc::new(driver.clone()));
    let lease = Lease { duration: Duration::from_millis(400), beat: Duration::from_millis(100) };
    let job = enqueue(&jobs, Act::Sleep(1_200)).await;
    let worker = jobs.worker().lease(lease).start().await.unwrap();
    in_state(&jobs, job, State::Running).await;
    worker.drain().await;
    let record = jobs.find(job).await.unwrap();
    assert_eq!((record.state, record.attempt, record.crashes), (State::Completed, 1, 0));
    assert!(driver.script.renewals.load(SeqCst) >= 8);
}

#[tokio::test]
async fn runs_that_do_not_end_within_the_grace_go_back_uncounted() {
    let (jobs, log) = (jobs(), Log::default());
    let stubborn = enqueue(&jobs, Act::Sleep(60_000)).await;
    let polite = enqueue(&jobs, Act::UntilCancelled(false)).await;
    let worker = jobs.worker().state(log.clone()).drain_grace("50ms").cancel_grace("50ms").start().await.unwrap();
    in_state(&jobs, stubborn, State::Running).await;
    in_state(&jobs, polite, State::Running).await;
    worker.drain().await;
    for job in [stubborn, polite] {
        let record = jobs.find(job).await.unwrap();
        assert_eq!((record.state, record.attempt, record.crashes), (State::Ready, 1, 0));
        assert!(record.failure.is_none());
    }
}

#[tokio::test]
async fn a_worker_with_a_stubborn_run_ends_within_the_grace() {
    let jobs = jobs();
    let job = enqueue(&jobs, Act::Sleep(60_000)).await;
    let worker = jobs.worker().drain_grace("3s").cancel_grace("300ms").start().await.unwrap();
    in_state(&jobs, job, State::Running).await;
    let began = Instant::now();
    worker.drain().await;
    let took = began.elapsed();
    assert!(took > Duration::from_millis(1_900) && took < Duration::from_secs(3), "{took:?}");
    assert_eq!(jobs.find(job).await.unwrap().state, State::Ready);
}

#[tokio::test]
async fn a_cancel_wins_over_the_drain_that_hands_the_job_back() {
    let jobs = jobs();
    let job = enqueue(&jobs, Act::Sleep(60_000)).await;
    let worker = jobs.worker().drain_grace("300ms").cancel_grace("10ms").start().await.unwrap();
    in_state(&jobs, job, State::Running).await;
    let drained = tokio::spawn(async move { worker.drain().await });
    jobs.cancel(job).await.unwrap();
    drained.await.unwrap();
    assert_eq!(jobs.find(job).await.unwrap().state, State::Cancelled);
}

#[tokio::test]
async fn what_finished_before_the_drain_is_flushed_though_the_store_was_away() {
    let driver = Scripted::default();
    driver.script.commits_fail.store(4, SeqCst);
    let jobs = jobs_on(Arc::new(driver));
    let log = Log::default();
    let job = enqueue(&jobs, Act::Ok).await;
    let worker = jobs.worker().state(log.clone()).start().await.unwrap();
    while log.starts() == 0 {
        tokio::task::yield_now().await;
    }
    worker.drain().await;
    assert_eq!(jobs.find(job).await.unwrap().state, State::Completed);
}

#[tokio::test]
async fn an_aborted_worker_hands_nothing_back_and_another_takes_over_when_its_lease_has_lapsed() {
    let (jobs, log) = (jobs(), Log::default());
    let lease = Lease { duration: Duration::from_millis(600), beat: Duration::from_millis(200) };
    let worker = jobs.worker().state(log.clone()).lease(lease).start().await.unwrap();
    let job = enqueue(&jobs, Act::Once(60_000)).await;
    in_state(&jobs, job, State::Running).await;
    worker.abort();
    worker.wait().await;
    assert_eq!(jobs.find(job).await.unwrap().state, State::Running);
    let next = jobs.worker().state(log.clone()).lease(lease).start().await.unwrap();
    let record = ended(&jobs, job).await;
    assert_eq!((record.state, record.attempt, record.crashes, log.starts()), (State::Completed, 1, 1, 2));
    next.drain().await;
}
