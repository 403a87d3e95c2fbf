//! Enqueues in transactions that roll back, and in transactions that commit late.

use super::driver;
use crate::{
    jobs_of_tests::{Runs, gated, knowing, note, start_delay, work},
    support::{Db, eventually_within},
};
use jobs::{
    Jobs, Registry,
    driver::{Driver, Hint, ListFilter, WorkerId},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const POLL: Duration = Duration::from_secs(6);

#[tokio::test]
async fn a_rolled_back_enqueue_leaves_nothing_and_wakes_nobody() {
    let db = Db::new();
    let pool = db.pool(2).await;
    let driver = Arc::new(driver(&db).await);
    let registry = Registry::builder().job::<note>().job::<gated>().build().unwrap();
    let jobs = Jobs::new(Arc::clone(&driver) as Arc<dyn Driver>, registry);
    let mut hints = driver.hints(WorkerId(1), vec!["notes".to_owned(), "gated".to_owned()]).await.unwrap();
    assert_eq!(hints.next().await, Hint::All);

    let mut tx = pool.begin().await.unwrap();
    jobs.enqueue::<note>(1).in_tx(&mut tx).await.unwrap();
    jobs.enqueue_many::<note>(2..500).in_tx(&mut tx).await.unwrap();
    tx.rollback().await.unwrap();
    let mut tx = pool.begin().await.unwrap();
    jobs.enqueue::<note>(1).in_tx(&mut tx).await.unwrap();
    drop(tx);
    // What is told after it is the first that is heard.
    jobs.enqueue::<gated>(1).await.unwrap();
    assert_eq!(hints.next().await, Hint::Queue("gated".to_owned()));
    let stored = jobs.list(ListFilter { queue: Some("notes".to_owned()), ..ListFilter::default() }).await.unwrap();
    assert!(stored.is_empty(), "{stored:?}");
}

#[tokio::test]
async fn a_late_commit_is_found_whatever_ran_meanwhile() {
    let db = Db::new();
    let (pool, runs) = (db.pool(8).await, Runs::default());
    let jobs = knowing::<note>(&Arc::new(driver(&db).await));
    let worker = work(&jobs, &runs, 4).await;
    let mut late = Vec::new();
    for number in 0..8 {
        let mut tx = pool.begin().await.unwrap();
        jobs.enqueue::<note>(number).in_tx(&mut tx).await.unwrap();
        late.push(tx);
    }
    for number in 100..150 {
        start_delay(&jobs, &runs, number, POLL).await;
    }
    assert_eq!(runs.count(), 50, "what is not committed is not seen");
    let mut longest = Duration::ZERO;
    for (number, tx) in late.into_iter().enumerate() {
        tx.commit().await.unwrap();
        let committed = Instant::now();
        eventually_within(POLL, "a late commit runs", async || runs.first(number as u64)).await;
        longest = longest.max(committed.elapsed());
    }
    println!("8 late commits: longest start delay {longest:?}");
    worker.drain().await;
}
