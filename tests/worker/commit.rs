//! The commit pipeline: batches, outages, refusals.

use crate::{
    act::{Act, ended, enqueue, in_state, jobs_on},
    scripted::Scripted,
    settled::Described,
};
use jobs::{
    JobId, Jobs, Registry, State, Worker,
    driver::{Change, Finish, Lease, Reschedule},
};
use std::{
    sync::{Arc, Mutex, atomic::Ordering::SeqCst},
    time::Duration,
};
use tokio::sync::Semaphore;

/// The jobs and codes of a worker's reports.
type Told = Arc<Mutex<Vec<(Option<JobId>, String)>>>;

async fn reporting(jobs: &Jobs) -> (Told, Worker) {
    let told = Told::default();
    let seen = told.clone();
    let worker = jobs.worker().on_error(move |report| {
        seen.lock().unwrap().push((report.job.as_ref().map(|job| job.id), report.code.clone()));
    });
    (told, worker.start().await.unwrap())
}

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

#[tokio::test]
async fn an_end_that_landed_without_an_answer_is_told_as_it_landed() {
    let driver = Scripted::default();
    driver.script.commits_lost.store(1, SeqCst);
    let jobs = jobs_on(Arc::new(driver.clone()));
    let (told, worker) = reporting(&jobs).await;
    let job = enqueue(&jobs, Act::Terminal).await;
    assert_eq!(ended(&jobs, job).await.state, State::Dead);
    worker.drain().await;
    assert_eq!(driver.script.batches.lock().unwrap().len(), 2, "it was tried again");
    assert_eq!(*told.lock().unwrap(), [(Some(job), "X_JOB_FAILED".to_owned())]);
}

#[tokio::test]
async fn a_write_that_is_stuck_holds_up_no_other() {
    let driver = Scripted::default();
    *driver.script.stuck.lock().unwrap() =
        |write| matches!(&write.change, Change::Finish(Finish { state: State::Dead, .. }));
    let jobs = jobs_on(Arc::new(driver.clone()));
    let stuck = enqueue(&jobs, Act::Terminal).await;
    let mut others = Vec::new();
    for _ in 0..30 {
        others.push(enqueue(&jobs, Act::Ok).await);
    }
    let worker = jobs.worker().start().await.unwrap();
    for job in others {
        assert_eq!(ended(&jobs, job).await.state, State::Completed);
    }
    assert_eq!(jobs.find(stuck).await.unwrap().state, State::Running);
    *driver.script.stuck.lock().unwrap() = |_| false;
    assert_eq!(ended(&jobs, stuck).await.state, State::Dead);
    worker.drain().await;
}

#[tokio::test]
async fn a_job_whose_end_is_refused_is_buried() {
    let driver = Scripted::default();
    *driver.script.refuse.lock().unwrap() =
        |write| matches!(&write.change, Change::Finish(Finish { state: State::Dropped, .. }));
    let jobs = jobs_on(Arc::new(driver));
    let (told, worker) = reporting(&jobs).await;
    let job = enqueue(&jobs, Act::Discard).await;
    let record = ended(&jobs, job).await;
    assert_eq!((record.state, record.failure.unwrap().code.as_str()), (State::Dead, "X_JOB_FAILED"));
    worker.drain().await;
    let expected = ["X_STORE_FAILED", "X_JOB_FAILED"].map(|code| (Some(job), code.to_owned()));
    assert_eq!(*told.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_job_whose_every_end_is_refused_is_handed_back_and_reported() {
    let driver = Scripted::default();
    *driver.script.refuse.lock().unwrap() = |write| matches!(&write.change, Change::Finish(_));
    let jobs = jobs_on(Arc::new(driver));
    let (told, worker) = reporting(&jobs).await;
    let job = enqueue(&jobs, Act::Ok).await;
    let record = in_state(&jobs, job, State::Delayed).await;
    assert_eq!((record.attempt, record.crashes, record.failure), (1, 0, None));
    worker.drain().await;
    assert_eq!(*told.lock().unwrap(), [(Some(job), "X_STORE_FAILED".to_owned())]);
}

#[tokio::test]
async fn a_retry_whose_failure_is_refused_is_counted_without_it() {
    let driver = Scripted::default();
    *driver.script.refuse.lock().unwrap() =
        |write| matches!(&write.change, Change::Reschedule(Reschedule { failure: Some(_), .. }));
    let jobs = jobs_on(Arc::new(driver));
    let job = enqueue(&jobs, Act::Fail).await;
    let worker = jobs.worker().start().await.unwrap();
    let record = ended(&jobs, job).await;
    assert_eq!((record.state, record.attempt), (State::Dead, 3));
    worker.drain().await;
}

#[tokio::test]
async fn a_job_of_which_nothing_can_be_written_goes_back_once_the_store_takes_it() {
    let driver = Scripted::default();
    *driver.script.refuse.lock().unwrap() = |_| true;
    let jobs = jobs_on(Arc::new(driver.clone()));
    let lease = Lease { duration: Duration::from_millis(600), beat: Duration::from_millis(150) };
    let job = enqueue(&jobs, Act::Fail).await;
    let told = Told::default();
    let seen = told.clone();
    let report = move |report: &jobs::Report| seen.lock().unwrap().push((None, report.code.clone()));
    let worker = jobs.worker().lease(lease).on_error(report).start().await.unwrap();
    while told.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(jobs.find(job).await.unwrap().state, State::Running);
    *driver.script.refuse.lock().unwrap() = |_| false;
    let record = ended(&jobs, job).await;
    assert_eq!((record.state, record.attempt, record.crashes), (State::Dead, 3, 0));
    assert_eq!(told.lock().unwrap()[0].1, "X_STORE_FAILED");
    worker.drain().await;
}
