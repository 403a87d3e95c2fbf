//! Follow-ups: jobs that are written in the statement that settles another.

use super::{Fixture, HandWorker, hand::finish, job, keyed};
use crate::{
    driver::{Change, Claimed, Finish, NewJob, NewUnique, Start, Write, Written},
    spec::{Hold, Keep, OnConflict},
    state::State,
};
use std::time::Duration;

fn ending_with(claimed: &Claimed, state: State, follow_up: &NewJob) -> Write {
    let finish = Finish { follow_up: Some(Box::new(follow_up.clone())), ..finish(state) };
    Write { fence: claimed.fence, change: Change::Finish(finish) }
}

fn landed(written: &[Written]) -> bool {
    written.iter().all(|written| matches!(written, Written::Landed))
}

/// A job that ends, in whatever way, leaves its follow-up ready to be claimed.
pub async fn an_end_writes_its_follow_up(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for end in [State::Completed, State::Dead, State::Dropped] {
        store.insert(job()).await;
        let claimed = worker.claim_one().await;
        let follow_up = NewJob { tenant: Some("acme".to_owned()), priority: 3, ..job() };
        assert!(landed(&worker.commit(&[ending_with(&claimed, end, &follow_up)]).await));
        let next = worker.claim_one().await;
        assert_eq!((next.fence.job, next.fence.attempt, next.priority), (follow_up.id, 1, 3));
        assert_eq!((&next.tenant, &next.payload), (&follow_up.tenant, &follow_up.payload));
        worker.finish(&next, State::Completed).await;
    }
}

/// A follow-up is written also by a job that leaves nothing of itself.
pub async fn a_job_that_keeps_nothing_writes_its_follow_up(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    let next = job();
    let end = Finish { keep: Keep::None, follow_up: Some(Box::new(next.clone())), ..finish(State::Completed) };
    assert!(matches!(worker.write(&claimed, Change::Finish(end)).await, Written::Landed));
    assert_eq!(store.state(next.id).await, State::Ready);
}

/// A delayed follow-up waits for its time.
pub async fn a_follow_up_may_be_delayed(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    let later = NewJob { start: Start::After(Duration::from_secs(10)), ..job() };
    assert!(landed(&worker.commit(&[ending_with(&claimed, State::Completed, &later)]).await));
    assert_eq!(store.state(later.id).await, State::Delayed);
    store.advance_secs(11).await;
    assert_eq!(store.promote().await, 1);
    assert_eq!(worker.claim_one().await.fence.job, later.id);
}

/// A follow-up whose unique key is taken is not written, and the end lands all the same, whatever it says of conflicts.
pub async fn a_taken_key_never_fails_the_end(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let holder = store.insert(NewJob { start: Start::After(Duration::from_secs(60)), ..keyed(1, Hold::Live) }).await;
    for on_conflict in [OnConflict::Existing, OnConflict::Reject] {
        let id = store.insert(job()).await;
        let claimed = worker.claim_one().await;
        let mut twin = keyed(1, Hold::Live);
        twin.unique = twin.unique.map(|unique| NewUnique { on_conflict, ..unique });
        assert!(landed(&worker.commit(&[ending_with(&claimed, State::Completed, &twin)]).await));
        assert_eq!(store.state(id).await, State::Completed);
        assert!(store.find(twin.id).await.is_none());
    }
    assert_eq!(store.state(holder).await, State::Delayed);
}

/// Of several ends in one call whose follow-ups share a key, one writes it.
pub async fn follow_ups_that_share_a_key_are_written_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.enqueue(&[job(), job(), job()]).await;
    let held = worker.claim(3).await;
    let next: Vec<NewJob> = (0..3).map(|_| keyed(1, Hold::Live)).collect();
    let writes: Vec<Write> =
        held.iter().zip(&next).map(|(claimed, next)| ending_with(claimed, State::Completed, next)).collect();
    assert!(landed(&worker.commit(&writes).await));
    let claimed = worker.claim_one().await;
    assert!(next.iter().any(|next| next.id == claimed.fence.job));
}

/// A job whose follow-up has its own key, as one that goes round and round, frees the key for it.
pub async fn an_end_frees_its_key_for_its_follow_up(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(keyed(1, Hold::Live)).await;
    for _ in 0..5 {
        let claimed = worker.claim_one().await;
        let next = keyed(1, Hold::Live);
        assert!(landed(&worker.commit(&[ending_with(&claimed, State::Completed, &next)]).await));
        assert_eq!(store.state(next.id).await, State::Ready);
    }
}

/// An end whose follow-up's key an open transaction holds fails as a whole after a short wait, and lands later.
pub async fn a_key_in_an_open_transaction_is_not_waited_for_long(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    let mut tx = store.begin().await;
    store.enqueue_in(&mut *tx, &[keyed(1, Hold::Live)]).await.expect("the key is free");
    let next = keyed(1, Hold::Live);
    let write = ending_with(&claimed, State::Completed, &next);
    let driver = store.driver();
    let waiting = tokio::time::timeout(Duration::from_secs(8), driver.commit(worker.id, std::slice::from_ref(&write)));
    let refused = waiting.await.expect("it does not wait long").expect_err("the key may be taken");
    assert!(refused.is_unavailable(), "{refused}");
    assert_eq!(store.state(claimed.fence.job).await, State::Running);
    tx.rollback().await;
    assert!(landed(&worker.commit(&[write]).await));
    assert_eq!(store.state(next.id).await, State::Ready);
}
