//! The commit pipeline: batches, outages, refusals.

use crate::{
    act::{Act, ended, enqueue, in_state, jobs_on},
    scripted::Scripted,
    settled::Described,
};
use jobs::{
    Jobs, Registry, State,
    driver::{Change, Finish},
};
use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};
use tokio::sync::Semaphore;

#[tokio::test]
async fn what_gathers_while_a_flush_is_under_way_goes_out_together() {
    let mut driver = Scripted::default();
    Arc::get_mut(&mut driver.script).unwrap().gate = Semaphore::new(0);
    let jobs = jobs_on(Arc::new(driver.clone()));
    let worker = jobs.worker().queue("acts", 200).start().await.unwrap();
    let mut ids = vec![enqueue(&jobs, Act::Ok).await];
    // The first flush waits at the gate, and with it what gathers behind it.
    driver.script.at_gate.notified().await;
    for _ in 0..199 {
        ids.push(enqueue(&jobs, Act::Ok).await);
    }
    for job in &ids {
        in_state(&jobs, *job, State::Running).await;
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    driver.script.gate.add_permits(2);
    for job in ids {
        assert_eq!(ended(&jobs, job).await.state, State::Completed);
    }
    let batches = driver.script.batches.lock().unwrap().clone();
    assert_eq!(batches, [1, 199]);
    driver.script.gate.add_permits(100);
    worker.drain().await;
}

#[tokio::test]
async fn a_write_goes_out_alone_and_at_once_when_nothing_else_is_to_be_written() {
    let driver = Scripted::default();
    let jobs = jobs_on(Arc::new(driver.clone()));
    let worker = jobs.worker().start().await.unwrap();
    for _ in 0..5 {
        let job = enqueue(&jobs, Act::Ok).await;
        ended(&jobs, job).await;
    }
    assert_eq!(*driver.script.batches.lock().unwrap(), [1; 5]);
    worker.drain().await;
}

#[tokio::test]
async fn a_write_is_tried_again_while_the_store_is_away() {
    let driver = Scripted::default();
    driver.script.commits_fail.store(4, SeqCst);
    let jobs = jobs_on(Arc::new(driver.clone()));
    let worker = jobs.worker().start().await.unwrap();
    let job = enqueue(&jobs, Act::Ok).await;
    let record = ended(&jobs, job).await;
    assert_eq!((record.state, record.attempt), (State::Completed, 1));
    assert_eq!(driver.script.batches.lock().unwrap().len(), 5);
    worker.drain().await;
}

#[tokio::test]
async fn a_statement_that_fails_or_panics_is_tried_again() {
    let driver = Scripted::default();
    driver.script.commits_break.store(2, SeqCst);
    driver.script.commits_panic.store(1, SeqCst);
    let jobs = jobs_on(Arc::new(driver));
    let worker = jobs.worker().start().await.unwrap();
    let job = enqueue(&jobs, Act::Ok).await;
    assert_eq!(ended(&jobs, job).await.state, State::Completed);
    worker.drain().await;
}

#[tokio::test]
async fn an_output_that_the_store_refuses_makes_a_death_that_says_so_and_the_rest_lands() {
    let driver = Scripted::default();
    *driver.script.refuse.lock().unwrap() =
        |write| matches!(&write.change, Change::Finish(Finish { output: Some(_), .. }));
    let registry = Registry::builder().job::<crate::act::Acts>().job::<Described>().build().unwrap();
    let jobs = Jobs::new(Arc::new(driver), registry);
    let refused = jobs.enqueue::<Described>("plain".to_owned()).await.unwrap().id();
    let other = enqueue(&jobs, Act::Ok).await;
    let worker = jobs.worker().start().await.unwrap();
    assert_eq!(ended(&jobs, other).await.state, State::Completed);
    let record = ended(&jobs, refused).await;
    assert_eq!((record.state, record.failure.unwrap().code.as_str()), (State::Dead, "X_JOB_OUTPUT_INVALID"));
    worker.drain().await;
}

#[tokio::test]
async fn a_failure_whose_text_the_store_refuses_is_recorded_barely() {
    let driver = Scripted::default();
    *driver.script.refuse.lock().unwrap() = |write| match &write.change {
        Change::Finish(finish) => finish.failure.as_ref().is_some_and(|failure| failure.operator == "no use"),
        _ => false,
    };
    let jobs = jobs_on(Arc::new(driver));
    let job = enqueue(&jobs, Act::Terminal).await;
    let worker = jobs.worker().start().await.unwrap();
    let record = ended(&jobs, job).await;
    assert_eq!(record.state, State::Dead);
    assert_eq!(record.failure.unwrap().operator, "the store refused the failure's own text");
    worker.drain().await;
}

#[tokio::test]
async fn jobs_whose_claim_was_not_answered_are_handed_back_and_run() {
    let driver = Scripted::default();
    driver.script.claims_lost.store(1, SeqCst);
    let jobs = jobs_on(Arc::new(driver));
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(enqueue(&jobs, Act::Ok).await);
    }
    let worker = jobs.worker().start().await.unwrap();
    for job in ids {
        let record = ended(&jobs, job).await;
        assert_eq!((record.state, record.attempt, record.crashes), (State::Completed, 1, 0));
    }
    worker.drain().await;
}
