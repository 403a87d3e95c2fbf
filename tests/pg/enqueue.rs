//! Large batches are several statements, and still all or nothing.

use super::driver;
use crate::support::Db;
use jobs::{
    State,
    driver::{Driver, Enqueued, JoinTx, NewJob},
    error::code,
    spec::{Hold, OnConflict},
    testing::conformance::{job, keyed},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_late_in_a_large_batch_leaves_nothing_in_the_callers_transaction() {
    let db = Db::new();
    let driver = driver(&db).await;
    let mut rejecting = keyed(1, Hold::Live);
    rejecting.unique.as_mut().expect("a key").on_conflict = OnConflict::Reject;
    driver.enqueue(&[keyed(1, Hold::Live)], None).await.expect("accepted");
    let batch: Vec<_> = (0..6_000).map(|_| job()).chain([rejecting]).collect();
    let mut tx = driver.pool().begin().await.expect("a transaction");
    let refused = driver.enqueue(&batch, Some(tx.tx())).await.expect_err("the key is taken");
    assert_eq!((refused.code(), refused.index()), (code::JOB_DUPLICATE, Some(6_000)));
    driver.enqueue(&[job()], Some(tx.tx())).await.expect("the transaction goes on");
    tx.commit().await.expect("committed");
    let counts = driver.counts().await.expect("counts answer");
    assert_eq!(counts.iter().map(|count| count.jobs).sum::<u64>(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_batch_joins_the_callers_transaction() {
    let db = Db::new();
    let driver = driver(&db).await;
    let batch: Vec<_> = (0..11_000).map(|_| job()).collect();
    let mut tx = driver.pool().begin().await.expect("a transaction");
    let answers = driver.enqueue(&batch, Some(tx.tx())).await.expect("accepted");
    assert!(answers.iter().zip(&batch).all(|(answer, job)| answer.id() == job.id && answer.is_inserted()));
    tx.rollback().await.expect("rolled back");
    assert!(driver.counts().await.expect("counts answer").is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_batches_of_the_same_keys_in_other_orders_do_not_deadlock() {
    let db = Db::new();
    let driver = driver(&db).await;
    for _ in 0..3 {
        let up: Vec<_> = (0..6_000).map(|key| keyed(key, Hold::Live)).collect();
        let down: Vec<_> = (0..6_000).rev().map(|key| keyed(key, Hold::Live)).collect();
        let in_a_transaction = async |batch: &[NewJob]| {
            let mut tx = driver.pool().begin().await.expect("a transaction");
            let answers = driver.enqueue(batch, Some(tx.tx())).await.expect("no deadlock");
            assert_eq!(answers.len(), 6_000);
            tx.rollback().await.expect("rolled back");
        };
        tokio::join!(in_a_transaction(&up), in_a_transaction(&down));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_was_freed_after_the_callers_snapshot_is_taken() {
    let db = Db::new();
    let driver = driver(&db).await;
    let holder = keyed(1, Hold::Live);
    driver.enqueue(std::slice::from_ref(&holder), None).await.expect("accepted");
    let mut tx = driver.pool().begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ").await.expect("a transaction");
    sqlx::query("SELECT FROM jobs.ready").fetch_all(&mut *tx).await.expect("a snapshot");
    driver.cancel(holder.id).await.expect("a cancel");
    let first = keyed(1, Hold::Live);
    let answers = driver.enqueue(std::slice::from_ref(&first), Some(tx.tx())).await.expect("the key is free");
    assert!(answers[0].is_inserted());
    let second = driver.enqueue(&[keyed(1, Hold::Live)], Some(tx.tx())).await.expect("the key is taken");
    assert_eq!(second, [Enqueued::Existing { id: first.id, state: Some(State::Ready) }]);
    tx.commit().await.expect("committed");
}
