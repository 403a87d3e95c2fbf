//! Jobs that take their worker down: quarantine, and the isolation of those on their last life.

use crate::act::{Act, Log, ended, enqueue, in_state, jobs};
use jobs::{JobId, Jobs, State, driver::Lease, driver::NewWorker, failure::Stop};
use std::time::Duration;

/// Lets a worker die with all that is ready, so many times.
async fn crash(jobs: &Jobs, times: u32) {
    for _ in 0..times {
        let lease = Lease { duration: Duration::from_millis(1), beat: Duration::from_millis(1) };
        let kinds = vec![jobs::driver::KnownKind {
            name: "acts".to_owned(),
            version: 1,
            queue: "acts".to_owned(),
            outline: &[],
        }];
        let new = NewWorker { name: "doomed".to_owned(), lease, queues: Vec::new(), kinds: kinds.clone() };
        let worker = jobs.driver().start_worker(new).await.unwrap();
        let claim = jobs::driver::Claim { worker, queues: vec![("acts".to_owned(), 100)], kinds: kinds.into() };
        jobs.driver().claim(claim).await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
        jobs.driver().rescue().await.unwrap();
    }
}

async fn crashes(jobs: &Jobs, job: JobId) -> u16 {
    jobs.find(job).await.unwrap().crashes
}

#[tokio::test]
async fn a_job_that_spent_its_crash_budget_is_quarantined_without_a_start() {
    let (jobs, log) = (jobs(), Log::default());
    let job = enqueue(&jobs, Act::Ok).await;
    crash(&jobs, 3).await;
    assert_eq!(crashes(&jobs, job).await, 3);
    let worker = jobs.worker().state(log.clone()).start().await.unwrap();
    let record = ended(&jobs, job).await;
    let failure = record.failure.unwrap();
    assert_eq!((record.state, record.attempt, log.starts()), (State::Dead, 1, 0));
    assert_eq!((failure.code.as_str(), failure.stop), ("X_JOB_QUARANTINED", Some(Stop::Quarantined)));
    assert!(failure.operator.contains("3 times"), "{}", failure.operator);
    worker.drain().await;
}

#[tokio::test]
async fn jobs_on_their_last_life_run_one_at_a_time() {
    let (jobs, log) = (jobs(), Log::default());
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(enqueue(&jobs, Act::Sleep(100)).await);
    }
    crash(&jobs, 2).await;
    let worker = jobs.worker().state(log.clone()).start().await.unwrap();
    for job in ids {
        let record = ended(&jobs, job).await;
        assert_eq!((record.state, record.attempt, record.crashes), (State::Completed, 1, 2));
    }
    assert_eq!((log.most_at_once(), log.starts()), (1, 3));
    worker.drain().await;
}

#[tokio::test]
async fn a_rescued_run_knows_that_it_is_one() {
    let (jobs, log) = (jobs(), Log::default());
    let job = enqueue(&jobs, Act::Rescued).await;
    crash(&jobs, 1).await;
    let worker = jobs.worker().state(log.clone()).start().await.unwrap();
    in_state(&jobs, job, State::Completed).await;
    worker.drain().await;
}
