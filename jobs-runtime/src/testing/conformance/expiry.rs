//! Expiry: a job that was not started in time is claimed as expired, and only then.

use super::{Fixture, HandWorker, job};
use crate::{
    driver::{NewJob, Start},
    id::JobId,
    state::State,
};
use std::time::Duration;

async fn expiring(store: &dyn Fixture, start: Start) -> JobId {
    store.insert(NewJob { start, expires_after: Some(Duration::from_secs(60)), ..job() }).await
}

/// A job that is claimed in time is not expired.
pub async fn a_job_in_time_is_not_expired(store: &dyn Fixture) {
    expiring(store, Start::Now).await;
    store.advance_secs(50).await;
    assert!(!HandWorker::start(store.driver()).await.claim_one().await.expired);
}

/// A job that was not started in time is claimed as expired, so that its worker ends it unstarted.
pub async fn a_late_job_is_expired(store: &dyn Fixture) {
    let id = expiring(store, Start::Now).await;
    store.advance_secs(61).await;
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.claim_one().await;
    assert!(claimed.expired);
    worker.finish(&claimed, State::Expired).await;
    assert_eq!(store.state(id).await, State::Expired);
}

/// An expired job whose worker died before it could end it is still expired.
pub async fn an_expired_job_stays_expired_after_a_rescue(store: &dyn Fixture) {
    expiring(store, Start::Now).await;
    store.advance_secs(61).await;
    assert!(HandWorker::start(store.driver()).await.claim_one().await.expired);
    store.advance_secs(31).await;
    store.driver().rescue().await.expect("a rescue answers");
    assert!(HandWorker::start(store.driver()).await.claim_one().await.expired);
}

/// Of a delayed job the time counts from when it may start.
pub async fn a_delayed_job_expires_from_its_start(store: &dyn Fixture) {
    expiring(store, Start::After(Duration::from_secs(100))).await;
    store.advance_secs(150).await;
    store.promote().await;
    let worker = HandWorker::start(store.driver()).await;
    let in_time = worker.claim_one().await;
    assert!(!in_time.expired);
    worker.finish(&in_time, State::Completed).await;
    expiring(store, Start::After(Duration::from_secs(100))).await;
    store.advance_secs(161).await;
    store.promote().await;
    assert!(HandWorker::start(store.driver()).await.claim_one().await.expired);
}

/// A job that was started in time never expires later: not by a retry, not by a rescue.
pub async fn a_started_job_never_expires(store: &dyn Fixture) {
    expiring(store, Start::Now).await;
    let worker = HandWorker::start(store.driver()).await;
    worker.retry(&worker.claim_one().await, Duration::from_secs(3_600)).await;
    store.advance_secs(3_601).await;
    store.promote().await;
    let second = HandWorker::start(store.driver()).await;
    assert!(!second.claim_one().await.expired);
    store.advance_secs(61).await;
    store.driver().rescue().await.expect("a rescue answers");
    assert!(!HandWorker::start(store.driver()).await.claim_one().await.expired);
}

/// An operator's requeue of a dead job starts it, however late.
pub async fn a_requeued_job_is_not_expired(store: &dyn Fixture) {
    let id = expiring(store, Start::Now).await;
    let worker = HandWorker::start(store.driver()).await;
    worker.finish(&worker.claim_one().await, State::Dead).await;
    store.advance_secs(86_400).await;
    store.driver().requeue(id).await.expect("a dead job is requeued");
    assert!(!HandWorker::start(store.driver()).await.claim_one().await.expired);
}
