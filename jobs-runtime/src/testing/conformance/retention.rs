//! Retention: how long what has ended stays, and what never leaves by itself.

use super::{Fixture, HandWorker, hand::finish, job};
use crate::{
    driver::{Change, Finish, ListFilter, NewJob, Start, Written},
    id::JobId,
    spec::Keep,
    state::State,
};
use std::time::Duration;

const DAY: u64 = 86_400;

async fn ended(store: &dyn Fixture, state: State, keep: Keep) -> JobId {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let end = Change::Finish(Finish { keep, ..finish(state) });
    assert!(matches!(worker.write(&worker.claim_one().await, end).await, Written::Landed));
    worker.stop().await;
    id
}

/// A finished job stays for its period and leaves after it.
pub async fn a_finished_job_leaves_after_its_period(store: &dyn Fixture) {
    let keep = Keep::For(Duration::from_secs(2 * DAY));
    let mut ids = Vec::new();
    for state in [State::Completed, State::Dropped, State::Cancelled, State::Expired] {
        ids.push((state, ended(store, state, keep).await));
    }
    store.advance_secs(DAY).await;
    store.purge_all().await;
    for (state, id) in &ids {
        assert_eq!(store.state(*id).await, *state, "not before its time");
    }
    store.advance_secs(4 * DAY).await;
    store.purge_all().await;
    for (state, id) in &ids {
        assert!(store.find(*id).await.is_none(), "{state} has left");
    }
}

/// Each job keeps its own period, whatever ended at the same time.
pub async fn each_job_has_its_own_period(store: &dyn Fixture) {
    let short = ended(store, State::Completed, Keep::For(Duration::from_secs(DAY))).await;
    let long = ended(store, State::Completed, Keep::For(Duration::from_secs(60 * DAY))).await;
    store.advance_secs(4 * DAY).await;
    store.purge_all().await;
    assert!(store.find(short).await.is_none());
    assert_eq!(store.state(long).await, State::Completed);
}

/// A job that keeps nothing is gone with its end.
pub async fn a_job_that_keeps_nothing_is_gone_at_once(store: &dyn Fixture) {
    for state in [State::Completed, State::Dropped, State::Cancelled, State::Expired] {
        let id = ended(store, state, Keep::None).await;
        assert!(store.find(id).await.is_none(), "{state} is gone");
    }
    assert_eq!(store.driver().list(ListFilter::default()).await.expect("a list answers").len(), 0);
}

/// A dead job stays until an operator acts, whatever its declaration keeps.
pub async fn a_dead_job_stays(store: &dyn Fixture) {
    let ids = [
        ended(store, State::Dead, Keep::None).await,
        ended(store, State::Dead, Keep::For(Duration::from_secs(60))).await,
    ];
    store.advance_secs(400 * DAY).await;
    store.purge_all().await;
    for id in ids {
        let record = store.record(id).await;
        assert!(record.state == State::Dead && record.failure.is_some());
    }
}

/// What an operator cancelled before it started stays for the default period.
pub async fn a_cancelled_job_stays_for_the_default_period(store: &dyn Fixture) {
    let id = store.insert(job()).await;
    store.driver().cancel(id).await.expect("a cancel answers");
    store.advance_secs(6 * DAY).await;
    store.purge_all().await;
    assert_eq!(store.state(id).await, State::Cancelled);
    store.advance_secs(3 * DAY).await;
    store.purge_all().await;
    assert!(store.find(id).await.is_none());
}

/// Live jobs never leave by a purge, however old.
pub async fn live_jobs_are_never_purged(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let running = store.insert(job()).await;
    worker.claim_one().await;
    let waiting = NewJob { start: Start::After(Duration::from_secs(1_000 * DAY)), ..job() };
    store.enqueue(&[waiting.clone(), job()]).await;
    store.advance_secs(400 * DAY).await;
    store.purge_all().await;
    assert_eq!((store.state(running).await, store.state(waiting.id).await), (State::Running, State::Delayed));
    let counts = store.driver().counts().await.expect("counts answer");
    assert_eq!(counts.iter().map(|count| count.jobs).sum::<u64>(), 3);
}
