//! Cancels: what each state answers, and that no new attempt starts after one was acknowledged.

use super::{Fixture, HandWorker, hand::again, job};
use crate::{
    driver::{CancelAnswer, Change, NewJob, Rescued, Start, Written},
    id::JobId,
    state::State,
};
use std::time::Duration;

async fn cancel(store: &dyn Fixture, job: JobId) -> CancelAnswer {
    store.driver().cancel(job).await.expect("a cancel answers")
}

/// A job that can be claimed ends at once.
pub async fn a_ready_job_is_cancelled_at_once(store: &dyn Fixture) {
    let id = store.insert(job()).await;
    assert_eq!(cancel(store, id).await, CancelAnswer::Cancelled);
    let record = store.record(id).await;
    assert!(record.state == State::Cancelled && record.finished_at.is_some());
    assert_eq!(HandWorker::start(store.driver()).await.claim(1).await.len(), 0);
}

/// A job that waits, for its time or for its next attempt, ends at once and is never promoted.
pub async fn a_waiting_job_is_cancelled_at_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let retried = store.insert(job()).await;
    worker.retry(&worker.claim_one().await, Duration::from_secs(10)).await;
    let delayed = store.insert(NewJob { start: Start::After(Duration::from_secs(10)), ..job() }).await;
    for id in [retried, delayed] {
        assert_eq!(cancel(store, id).await, CancelAnswer::Cancelled);
    }
    store.advance_secs(11).await;
    assert_eq!((store.promote().await, worker.claim(1).await.len()), (0, 0));
    let record = store.record(delayed).await;
    assert_eq!((record.state, record.due_at), (State::Cancelled, None));
}

/// A running job's worker is asked; its next renewal lists the job.
pub async fn a_running_job_is_asked_to_stop(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.enqueue(&[job(), job()]).await;
    let held = worker.claim(2).await;
    assert_eq!(worker.renew().await.expect("renewed").cancel, []);
    let id = held[0].fence.job;
    assert_eq!(cancel(store, id).await, CancelAnswer::Asked);
    assert_eq!(cancel(store, id).await, CancelAnswer::Asked);
    let record = store.record(id).await;
    assert_eq!((record.state, record.cancel_requested), (State::Running, true));
    assert_eq!(worker.renew().await.expect("renewed").cancel, [id]);
    worker.finish(&held[0], State::Cancelled).await;
    assert_eq!(worker.renew().await.expect("renewed").cancel, []);
    assert_eq!(cancel(store, id).await, CancelAnswer::AlreadyFinal(State::Cancelled));
}

/// An ended job says how it ended; an unknown one that it is unknown.
pub async fn an_ended_job_says_how_it_ended(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for end in State::ALL.into_iter().filter(|state| state.is_final()) {
        let id = store.insert(job()).await;
        worker.finish(&worker.claim_one().await, end).await;
        let before = store.snapshot(id).await;
        assert_eq!(cancel(store, id).await, CancelAnswer::AlreadyFinal(end));
        assert_eq!(store.snapshot(id).await, before);
    }
    assert_eq!(cancel(store, JobId::new()).await, CancelAnswer::NotFound);
}

/// A job that was asked to cancel and completes first stays completed.
pub async fn a_completion_beats_a_cancel_request(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let claimed = worker.claim_one().await;
    cancel(store, id).await;
    worker.finish(&claimed, State::Completed).await;
    assert_eq!(store.state(id).await, State::Completed);
}

/// A job that was asked to cancel and fails, snoozes or is handed back ends as cancelled instead of waiting again.
pub async fn a_cancel_request_beats_a_retry(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for (attempt, delay) in [(2, Duration::from_secs(5)), (2, Duration::ZERO), (1, Duration::ZERO)] {
        let id = store.insert(job()).await;
        let claimed = worker.claim_one().await;
        cancel(store, id).await;
        let written = worker.write(&claimed, Change::Reschedule(again(attempt, delay))).await;
        assert!(matches!(written, Written::Cancelled), "cancelled, not {written:?}");
        let record = store.record(id).await;
        assert!(record.state == State::Cancelled && record.finished_at.is_some() && record.due_at.is_none());
        assert_eq!(record.attempt, 1, "no further attempt was begun");
    }
    store.advance_secs(10).await;
    assert_eq!((store.promote().await, worker.claim(1).await.len()), (0, 0));
}

/// A job that was asked to cancel and whose worker died ends as cancelled at the rescue.
pub async fn a_rescue_cancels_what_was_asked_to(store: &dyn Fixture) {
    store.enqueue(&[job(), job()]).await;
    let held = HandWorker::start(store.driver()).await.claim(2).await;
    cancel(store, held[0].fence.job).await;
    store.advance_secs(31).await;
    assert_eq!(cancel(store, held[0].fence.job).await, CancelAnswer::Asked, "its worker may still not know");
    let rescued = store.driver().rescue().await.expect("a rescue answers");
    assert_eq!(rescued, Rescued { workers: 1, jobs: 1, cancelled: 1 });
    assert_eq!(store.state(held[0].fence.job).await, State::Cancelled);
    assert_eq!(store.state(held[1].fence.job).await, State::Ready);
}

/// A job that was asked to cancel ends as cancelled when its worker ends its lease.
pub async fn a_stopping_worker_cancels_what_was_asked_to(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    worker.claim_one().await;
    cancel(store, id).await;
    worker.stop().await;
    assert_eq!(store.state(id).await, State::Cancelled);
}

/// A request that was met does not hang on: the requeued job runs.
pub async fn a_request_ends_with_its_run(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let claimed = worker.claim_one().await;
    cancel(store, id).await;
    worker.finish(&claimed, State::Dead).await;
    store.driver().requeue(id).await.expect("a dead job is requeued");
    assert!(!store.record(id).await.cancel_requested);
    worker.release(&worker.claim_one().await).await;
    assert_eq!(store.state(id).await, State::Ready);
}

/// Whoever wins the race of a cancel and a claim: a cancelled job was never claimed, a claimed one is asked.
pub async fn a_cancel_and_a_claim_never_both_win(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let other = store.second_handle().await;
    for _ in 0..50 {
        let id = store.insert(job()).await;
        let (claimed, answer) = tokio::join!(worker.claim(1), other.cancel(id));
        match answer.expect("a cancel answers") {
            CancelAnswer::Cancelled => assert_eq!(claimed.len(), 0),
            CancelAnswer::Asked => {
                let written = worker.write(&claimed[0], Change::Reschedule(again(2, Duration::ZERO))).await;
                assert!(matches!(written, Written::Cancelled), "cancelled, not {written:?}");
            }
            answer => panic!("cancelled or asked, not {answer:?}"),
        }
        assert_eq!(store.state(id).await, State::Cancelled);
        assert_eq!(worker.claim(1).await.len(), 0, "no new attempt starts");
    }
}
