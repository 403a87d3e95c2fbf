//! What becomes of a run, by how its body ends.

use crate::act::{Act, Log, ended, enqueue, jobs};
use jobs::{State, failure::Stop};

#[tokio::test]
async fn a_job_is_claimed_run_and_settled() {
    let jobs = jobs();
    let worker = jobs.worker().start().await.unwrap();
    let job = enqueue(&jobs, Act::Ok).await;
    assert_eq!(ended(&jobs, job).await.state, State::Completed);
    worker.drain().await;
    assert!(jobs.workers().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_failing_job_runs_its_attempts_and_is_dead() {
    let (jobs, log) = (jobs(), Log::default());
    let worker = jobs.worker().state(log.clone()).start().await.unwrap();
    let job = enqueue(&jobs, Act::Fail).await;
    let record = ended(&jobs, job).await;
    assert_eq!((record.state, record.attempt, log.starts()), (State::Dead, 3, 3));
    let failure = record.failure.unwrap();
    assert_eq!((failure.operator.as_str(), failure.stop), ("as told", Some(Stop::AttemptsExhausted)));
    worker.drain().await;
}
