//! Enqueues in the caller's transaction: with it or not at all.

use super::{Fixture, HandWorker, job};
use crate::{
    driver::{Enqueued, NewJob, Start, Tx},
    error::code,
    state::State,
};
use std::time::Duration;

/// What a committed transaction enqueued is there, and can be claimed.
pub async fn a_commit_leaves_its_jobs(store: &dyn Fixture) {
    let (now, later) = (job(), NewJob { start: Start::After(Duration::from_secs(60)), ..job() });
    let mut tx = store.begin().await;
    let answers = store.enqueue_in(&mut *tx, &[now.clone(), later.clone()]).await.expect("accepted");
    assert!(answers.iter().all(Enqueued::is_inserted));
    tx.commit().await;
    assert_eq!((store.state(now.id).await, store.state(later.id).await), (State::Ready, State::Delayed));
    let worker = HandWorker::start(store.driver()).await;
    assert_eq!(worker.claim_one().await.fence.job, now.id);
}

/// A rolled back transaction leaves nothing.
pub async fn a_rollback_leaves_nothing(store: &dyn Fixture) {
    let jobs = [job(), job(), NewJob { start: Start::After(Duration::from_secs(60)), ..job() }];
    let mut tx = store.begin().await;
    store.enqueue_in(&mut *tx, &jobs).await.expect("accepted");
    tx.rollback().await;
    for job in &jobs {
        assert!(store.find(job.id).await.is_none());
    }
    assert_eq!(store.driver().counts().await.expect("counts answer"), []);
}

/// A transaction that is dropped in the middle leaves nothing either.
pub async fn a_dropped_transaction_leaves_nothing(store: &dyn Fixture) {
    let job = job();
    let mut tx = store.begin().await;
    store.enqueue_in(&mut *tx, std::slice::from_ref(&job)).await.expect("accepted");
    drop(tx);
    let worker = HandWorker::start(store.driver()).await;
    assert_eq!(worker.claim(1).await.len(), 0);
    assert!(store.find(job.id).await.is_none());
}

/// Nobody sees or claims what an open transaction enqueued.
pub async fn an_open_transaction_is_unseen(store: &dyn Fixture) {
    let job = job();
    let worker = HandWorker::start(store.driver()).await;
    let mut tx = store.begin().await;
    store.enqueue_in(&mut *tx, std::slice::from_ref(&job)).await.expect("accepted");
    assert!(store.find(job.id).await.is_none());
    assert_eq!(worker.claim(10).await.len(), 0);
    tx.commit().await;
    assert_eq!(worker.claim_one().await.fence.job, job.id);
}

/// Several enqueues of one transaction come together.
pub async fn enqueues_of_one_transaction_commit_together(store: &dyn Fixture) {
    let jobs: Vec<NewJob> = (0..5).map(|_| job()).collect();
    let mut tx = store.begin().await;
    for job in &jobs {
        store.enqueue_in(&mut *tx, std::slice::from_ref(job)).await.expect("accepted");
    }
    assert!(store.find(jobs[0].id).await.is_none());
    tx.commit().await;
    for job in &jobs {
        assert_eq!(store.state(job.id).await, State::Ready);
    }
}

/// A transaction of another kind of store is refused by name.
pub async fn a_foreign_transaction_is_refused(store: &dyn Fixture) {
    let job = job();
    let mut foreign = 0_u8;
    let answer = store.driver().enqueue(std::slice::from_ref(&job), Some(Tx::new(&mut foreign))).await;
    assert_eq!(answer.expect_err("it is refused").code(), code::TRANSACTION_FOREIGN);
    assert!(store.find(job.id).await.is_none());
}
