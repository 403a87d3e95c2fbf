//! What becomes of a run, by how its body ends.

use crate::act::{Act, Log, ended, enqueue, in_state, jobs, until};
use jobs::{JobId, Jobs, State, Worker, driver::JobRecord, failure::Stop};
use std::time::Duration;

async fn started(jobs: &Jobs, log: &Log) -> Worker {
    jobs.worker().state(log.clone()).cancel_grace("50ms").start().await.unwrap()
}

/// Runs one job to its end, and then another, to show that the worker lives.
async fn outcome(act: Act) -> (JobRecord, usize) {
    let (jobs, log) = (jobs(), Log::default());
    let worker = started(&jobs, &log).await;
    let job = enqueue(&jobs, act).await;
    let record = ended(&jobs, job).await;
    let next = enqueue(&jobs, Act::Ok).await;
    assert_eq!(ended(&jobs, next).await.state, State::Completed);
    worker.drain().await;
    (record, log.starts_of(job))
}

fn failure(record: &JobRecord) -> (&str, &str, Option<Stop>) {
    let failure = record.failure.as_ref().unwrap();
    (&failure.code, &failure.operator, failure.stop)
}

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
    let (record, starts) = outcome(Act::Fail).await;
    assert_eq!((record.state, record.attempt, starts), (State::Dead, 3, 3));
    assert_eq!(failure(&record), ("X_JOB_FAILED", "as told", Some(Stop::AttemptsExhausted)));
}

#[tokio::test]
async fn a_terminal_failure_stops_at_once_and_says_why() {
    let (record, starts) = outcome(Act::Terminal).await;
    assert_eq!((record.state, starts), (State::Dead, 1));
    assert_eq!(failure(&record), ("X_JOB_FAILED", "no use", Some(Stop::Terminal)));
}

#[tokio::test]
async fn a_panic_is_recorded_with_its_text_and_retried() {
    let (record, starts) = outcome(Act::Panic).await;
    assert_eq!((record.state, starts), (State::Dead, 3));
    assert_eq!(failure(&record), ("X_JOB_PANIC", "panic: as told, 1", Some(Stop::AttemptsExhausted)));
}

#[tokio::test]
async fn a_panic_with_a_value_that_is_no_text_is_recorded() {
    let (record, _) = outcome(Act::PanicWith42).await;
    assert_eq!(failure(&record).1, "panic: a value that is not text");
}

#[tokio::test]
async fn a_panic_in_a_drop_is_recorded() {
    let (record, _) = outcome(Act::PanicInDrop).await;
    assert_eq!(failure(&record).1, "panic: a bomb in a drop");
}

#[tokio::test]
async fn a_panic_in_the_drop_of_a_cancelled_body_harms_nobody() {
    let (jobs, log) = (jobs(), Log::default());
    let worker = started(&jobs, &log).await;
    let job = enqueue(&jobs, Act::HangWithBomb).await;
    in_state(&jobs, job, State::Running).await;
    jobs.cancel(job).await.unwrap();
    assert_eq!(ended(&jobs, job).await.state, State::Cancelled);
    let next = enqueue(&jobs, Act::Ok).await;
    assert_eq!(ended(&jobs, next).await.state, State::Completed);
    worker.drain().await;
}

#[tokio::test]
async fn a_snooze_runs_the_same_attempt_again() {
    let (record, starts) = outcome(Act::Snooze(20)).await;
    assert_eq!((record.state, record.attempt, starts), (State::Completed, 1, 2));
}

#[tokio::test]
async fn a_discarded_job_is_dropped() {
    let (record, starts) = outcome(Act::Discard).await;
    assert_eq!((record.state, starts), (State::Dropped, 1));
    assert_eq!(failure(&record).2, Some(Stop::Discarded));
}

#[tokio::test]
async fn a_body_can_cancel_its_job() {
    let (record, starts) = outcome(Act::Cancel).await;
    assert_eq!((record.state, starts), (State::Cancelled, 1));
}

#[tokio::test]
async fn a_running_job_is_told_of_its_cancel_and_ends_as_cancelled() {
    let (jobs, log) = (jobs(), Log::default());
    let worker = started(&jobs, &log).await;
    let job = enqueue(&jobs, Act::UntilCancelled(false)).await;
    in_state(&jobs, job, State::Running).await;
    jobs.cancel(job).await.unwrap();
    let record = ended(&jobs, job).await;
    assert_eq!((record.state, log.starts()), (State::Cancelled, 1));
    assert_eq!(failure(&record).2, Some(Stop::Cancelled));
    worker.drain().await;
}

#[tokio::test]
async fn a_body_that_completes_in_spite_of_its_cancel_has_completed() {
    let (jobs, log) = (jobs(), Log::default());
    let worker = started(&jobs, &log).await;
    let job = enqueue(&jobs, Act::UntilCancelled(true)).await;
    in_state(&jobs, job, State::Running).await;
    jobs.cancel(job).await.unwrap();
    assert_eq!(ended(&jobs, job).await.state, State::Completed);
    worker.drain().await;
}

#[tokio::test]
async fn a_body_that_ignores_its_timeout_is_dropped_after_the_grace_and_its_attempt_fails() {
    let (jobs, log) = (jobs(), Log::default());
    let worker = started(&jobs, &log).await;
    let job: JobId =
        jobs.enqueue::<crate::act::Acts>(Act::Sleep(60_000)).timeout("50ms").max_attempts(1).await.unwrap().id();
    let record = ended(&jobs, job).await;
    let text = "the attempt ran longer than its timeout of 50ms";
    assert_eq!((record.state, failure(&record)), (State::Dead, ("X_JOB_TIMEOUT", text, Some(Stop::AttemptsExhausted))));
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_blocks_its_thread_past_the_grace_is_left_behind_and_its_job_goes_on() {
    let (jobs, log) = (jobs(), Log::default());
    let worker = started(&jobs, &log).await;
    let job = jobs.enqueue::<crate::act::Acts>(Act::Block(2_500)).timeout("50ms").max_attempts(1).await.unwrap().id();
    let record = ended(&jobs, job).await;
    assert_eq!((record.state, failure(&record).0), (State::Dead, "X_JOB_TIMEOUT"));
    let next = enqueue(&jobs, Act::Ok).await;
    assert_eq!(ended(&jobs, next).await.state, State::Completed);
    worker.drain().await;
    assert_eq!(worker.abandoned(), 1);
    // What the body returned in the end changed nothing.
    assert_eq!(jobs.find(job).await.unwrap().state, State::Dead);
}

#[tokio::test]
async fn progress_shows_while_the_job_runs_and_its_last_report_stays() {
    let (jobs, log) = (jobs(), Log::default());
    let worker = started(&jobs, &log).await;
    let job = enqueue(&jobs, Act::Progress(100, 300)).await;
    let running = until(&jobs, job, "reporting", |record| record.progress.is_some()).await;
    assert_eq!(running.state, State::Running);
    let record = ended(&jobs, job).await;
    let progress = record.progress.unwrap();
    assert_eq!((progress.done, progress.total, progress.message.as_str()), (100, Some(100), "step 100"));
    worker.drain().await;
}

#[tokio::test]
async fn a_payload_that_does_not_decode_fails_before_the_body_and_keeps_its_bytes() {
    let (jobs, log) = (jobs(), Log::default());
    let job = enqueue(&jobs, Act::Ok).await;
    let bad = crate::act::enqueue_raw(&jobs, r#"{"Sleep": "long"}"#).await;
    let worker = started(&jobs, &log).await;
    assert_eq!(ended(&jobs, job).await.state, State::Completed);
    let record = ended(&jobs, bad).await;
    assert_eq!((record.state, record.attempt, log.starts_of(bad)), (State::Dead, 3, 0));
    assert_eq!(failure(&record).0, "X_PAYLOAD_UNREADABLE");
    assert!(failure(&record).1.contains("`Sleep`"), "{:?}", record.failure);
    assert_eq!(record.payload.as_str(), r#"{"Sleep": "long"}"#);
    worker.drain().await;
}

#[tokio::test]
async fn a_job_past_its_time_ends_as_expired_without_a_start() {
    let (jobs, log) = (jobs(), Log::default());
    let job = jobs.enqueue::<crate::act::Acts>(Act::Ok).expires_after("1ms").await.unwrap().id();
    tokio::time::sleep(Duration::from_millis(5)).await;
    let worker = started(&jobs, &log).await;
    assert_eq!(ended(&jobs, job).await.state, State::Expired);
    assert_eq!(log.starts(), 0);
    worker.drain().await;
}

#[tokio::test]
async fn a_thousand_jobs_run_within_their_queues_concurrency() {
    let (jobs, log) = (jobs(), Log::default());
    let ids = jobs.enqueue_many::<crate::act::Acts>((0..1_000).map(|_| Act::Sleep(1))).await.unwrap();
    let worker = jobs.worker().state(log.clone()).queue("acts", 50).start().await.unwrap();
    for job in ids {
        assert_eq!(ended(&jobs, job.id()).await.state, State::Completed);
    }
    assert_eq!(log.starts(), 1_000);
    assert!(log.most_at_once() <= 50, "{} ran at once", log.most_at_once());
    worker.drain().await;
}
