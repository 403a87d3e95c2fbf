//! Retries and releases: which go on counting, and when the job returns.

use super::{
    Fixture, HandWorker,
    hand::{again, failure, finish},
    job, keyed,
};
use crate::{
    driver::{Change, Finish, NewJob, Reschedule, Start, Written},
    spec::{Hold, Keep},
    state::State,
};
use std::time::Duration;

/// A failed attempt is followed by the next number after the wait, with its failure on record.
pub async fn a_retry_counts_and_waits(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let claimed = worker.claim_one().await;
    worker.retry(&claimed, Duration::from_secs(10)).await;
    let record = store.record(id).await;
    assert_eq!((record.state, record.attempt, record.crashes), (State::Delayed, 2, 0));
    assert_eq!(record.failure, Some(failure("try again")));
    let now = store.driver().now().await.expect("the clock answers");
    let wait = record.due_at.expect("a delayed job is due some time") - now;
    assert!((5_000..=10_000).contains(&wait.num_milliseconds()), "{wait}");
    assert_eq!(worker.claim(1).await.len(), 0);
    store.advance_secs(11).await;
    assert_eq!(store.promote().await, 1);
    let second = worker.claim_one().await;
    assert_eq!((second.fence.job, second.fence.attempt), (id, 2));
    assert_eq!(second.failure, Some(failure("try again")));
}

/// A retry without a wait can be claimed at once.
pub async fn a_retry_without_a_wait_is_ready_at_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    for attempt in 1..=30 {
        let claimed = worker.claim_one().await;
        assert_eq!(claimed.fence.attempt, attempt);
        worker.retry(&claimed, Duration::ZERO).await;
    }
}

/// A release is not counted: the attempt, the crashes and the last failure stay.
pub async fn a_release_is_not_counted(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    worker.retry(&worker.claim_one().await, Duration::ZERO).await;
    for _ in 0..10 {
        let claimed = worker.claim_one().await;
        assert_eq!((claimed.fence.attempt, claimed.crashes), (2, 0));
        assert_eq!(claimed.failure, Some(failure("try again")));
        worker.release(&claimed).await;
        assert_eq!(store.state(id).await, State::Ready);
    }
}

/// A snooze waits without counting.
pub async fn a_snooze_waits_uncounted(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let claimed = worker.claim_one().await;
    let snooze = Change::Reschedule(again(1, Duration::from_secs(20)));
    assert!(matches!(worker.write(&claimed, snooze).await, Written::Landed));
    let record = store.record(id).await;
    assert_eq!((record.state, record.attempt, record.failure), (State::Delayed, 1, None));
}

/// The attempt's number is the worker's word and never starts over by itself, also across rescues and releases.
pub async fn attempts_never_start_over(store: &dyn Fixture) {
    let id = store.insert(job()).await;
    for attempt in 1..=5 {
        HandWorker::start(store.driver()).await.claim_one().await;
        store.advance_secs(31).await;
        store.driver().rescue().await.expect("a rescue answers");
        let worker = HandWorker::start(store.driver()).await;
        worker.release(&worker.claim_one().await).await;
        let claimed = worker.claim_one().await;
        assert_eq!(claimed.fence.attempt, attempt);
        worker.retry(&claimed, Duration::ZERO).await;
        worker.stop().await;
    }
    let record = store.record(id).await;
    assert_eq!((record.attempt, record.crashes), (6, 5));
}

/// A wait of a hundred years is kept, not overflowed.
pub async fn the_longest_wait_is_kept(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let claimed = worker.claim_one().await;
    let forever = Reschedule { delay: crate::duration::MAX, ..again(1, Duration::ZERO) };
    assert!(matches!(worker.write(&claimed, Change::Reschedule(forever)).await, Written::Landed));
    let record = store.record(id).await;
    let wait = record.due_at.expect("a delayed job is due some time") - record.created_at;
    assert!(wait.num_days() >= 36_500, "{wait}");
}

/// A wait, a period or a keeping that is longer than any time can tell stops at the limit, and fails nothing.
pub async fn a_time_past_the_limit_is_the_limit(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut far = keyed(1, Hold::For(Duration::MAX));
    far.expires_after = Some(Duration::MAX);
    store.enqueue(&[far, job(), job()]).await;
    let held = worker.claim(3).await;
    let snoozed = worker.write(&held[0], Change::Reschedule(again(1, Duration::MAX))).await;
    assert!(matches!(snoozed, Written::Landed), "{snoozed:?}");
    worker.retry(&held[1], Duration::MAX).await;
    let kept = Finish { keep: Keep::For(Duration::MAX), ..finish(State::Completed) };
    let kept = worker.write(&held[2], Change::Finish(kept)).await;
    assert!(matches!(kept, Written::Landed), "{kept:?}");
    store.advance_secs(36_499 * 86_400).await;
    assert_eq!((store.promote().await, store.state(held[2].fence.job).await), (0, State::Completed));
    store.enqueue(&[NewJob { start: Start::After(Duration::MAX), ..job() }]).await;
}

/// The failure of a job that has ended is that of its end: one that failed before and completes has none.
pub async fn an_end_without_a_failure_forgets_the_last(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for state in [State::Completed, State::Cancelled, State::Expired, State::Dropped, State::Dead] {
        let claimed = worker.begin(store, job()).await;
        worker.retry(&claimed, Duration::ZERO).await;
        let claimed = worker.claim_one().await;
        worker.landed(&claimed, Change::Finish(Finish { failure: None, ..finish(state) })).await;
        assert_eq!(store.record(claimed.fence.job).await.failure, None, "{state}");
    }
}
