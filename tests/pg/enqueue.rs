//! Large batches are several statements, and still all or nothing.

use super::driver;
use crate::support::Db;
use jobs::{
    driver::{Driver, JoinTx},
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
