//! Claims that fail, come late or cross a cancel; and what a worker holds that cannot end.

use crate::{
    act::{Act, Log, ended, enqueue, in_state, jobs_on},
    scripted::Scripted,
};
use jobs::{
    State,
    driver::{CancelAnswer, Claim, Driver, KnownKind, Lease},
};
use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;

const SHORT: Lease = Lease { duration: Duration::from_millis(600), beat: Duration::from_millis(150) };

#[tokio::test]
async fn a_claim_that_takes_effect_long_after_it_was_given_up_is_handed_back() {
    let driver = Scripted::default();
    let jobs = jobs_on(Arc::new(driver.clone()));
    let worker = jobs.worker().concurrency(1).prefetch(0).lease(SHORT).start().await.unwrap();
    let first = enqueue(&jobs, Act::Sleep(300)).await;
    in_state(&jobs, first, State::Running).await;
    let second = enqueue(&jobs, Act::Ok).await;
    let kinds = [KnownKind { name: "acts".to_owned(), version: 1, queue: "acts".to_owned(), outline: &[] }];
    let late = Claim { worker: worker.id(), queues: vec![("acts".to_owned(), 1)], kinds: Arc::new(kinds) };
    assert_eq!(driver.claim(late).await.unwrap().len(), 1);
    let record = ended(&jobs, second).await;
    assert_eq!((record.state, record.attempt, record.crashes), (State::Completed, 1, 0));
    worker.drain().await;
}

#[tokio::test]
async fn a_claim_that_is_too_much_is_tried_with_less() {
    let driver = Scripted::default();
    driver.script.claims_at_most.store(10, SeqCst);
    let jobs = jobs_on(Arc::new(driver));
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(enqueue(&jobs, Act::Ok).await);
    }
    let worker = jobs.worker().concurrency(100).start().await.unwrap();
    for job in ids {
        ended(&jobs, job).await;
    }
    worker.drain().await;
}

#[tokio::test]
async fn a_job_that_is_cancelled_while_it_is_claimed_does_not_begin() {
    let mut driver = Scripted::default();
    Arc::get_mut(&mut driver.script).unwrap().claim_gate = Semaphore::new(0);
    let (jobs, log) = (jobs_on(Arc::new(driver.clone())), Log::default());
    let worker = jobs.worker().state(log.clone()).start().await.unwrap();
    let job = enqueue(&jobs, Act::Sleep(60_000)).await;
    in_state(&jobs, job, State::Running).await;
    assert_eq!(driver.cancel(job).await.unwrap(), CancelAnswer::Asked);
    while driver.script.cancels_told.load(SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    driver.script.claim_gate.add_permits(1_000);
    assert_eq!(ended(&jobs, job).await.state, State::Cancelled);
    assert_eq!(log.starts(), 0);
    worker.drain().await;
}

#[tokio::test]
async fn a_request_to_cancel_whose_hint_was_lost_is_found_soon() {
    let driver = Scripted::default();
    driver.script.cancels_lost.store(true, SeqCst);
    let jobs = jobs_on(Arc::new(driver.clone()));
    let worker = jobs.worker().start().await.unwrap();
    let job = enqueue(&jobs, Act::UntilCancelled(false)).await;
    in_state(&jobs, job, State::Running).await;
    let began = Instant::now();
    assert_eq!(driver.cancel(job).await.unwrap(), CancelAnswer::Asked);
    assert_eq!(ended(&jobs, job).await.state, State::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}, not with the next renewal in 10 s", began.elapsed());
    worker.drain().await;
}

#[tokio::test]
async fn a_drain_ends_also_if_an_end_cannot_be_written() {
    let driver = Scripted::default();
    *driver.script.stuck.lock().unwrap() = |_| true;
    let jobs = jobs_on(Arc::new(driver));
    let worker = jobs.worker().lease(SHORT).drain_grace("100ms").cancel_grace("100ms").start().await.unwrap();
    let job = enqueue(&jobs, Act::Ok).await;
    in_state(&jobs, job, State::Running).await;
    worker.drain().await;
    let record = in_state(&jobs, job, State::Ready).await;
    assert_eq!((record.attempt, record.crashes), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_whose_ends_cannot_be_written_stops_claiming() {
    let driver = Scripted::default();
    *driver.script.stuck.lock().unwrap() = |_| true;
    let jobs = jobs_on(Arc::new(driver.clone()));
    let mut ids = Vec::new();
    for _ in 0..4_500 {
        ids.push(enqueue(&jobs, Act::Ok).await);
    }
    let worker = jobs.worker().concurrency(10).start().await.unwrap();
    let held = || async { driver.held(worker.id()).await.unwrap().len() };
    while held().await < 4_106 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for _ in 0..20 {
        assert_eq!(held().await, 4_106);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    *driver.script.stuck.lock().unwrap() = |_| false;
    for job in ids {
        ended(&jobs, job).await;
    }
    worker.drain().await;
}
