//! Promotion: due jobs become ready, and the next due time is known.

use super::{Fixture, HandWorker, job};
use crate::driver::{NewJob, Promoted, Start};
use std::time::Duration;

fn after(seconds: u64) -> NewJob {
    NewJob { start: Start::After(Duration::from_secs(seconds)), ..job() }
}

async fn promote(store: &dyn Fixture, limit: u32) -> Promoted {
    store.driver().promote(limit).await.expect("a promotion answers")
}

/// With nothing waiting there is nothing due.
pub async fn nothing_waits_and_nothing_is_due(store: &dyn Fixture) {
    store.insert(job()).await;
    assert_eq!(promote(store, 10).await, Promoted { moved: 0, next_due: None });
}

/// Only what is due is moved, and the rest says when.
pub async fn what_is_due_is_moved_and_the_next_is_told(store: &dyn Fixture) {
    store.enqueue(&[after(10), after(20), after(1_000)]).await;
    let first = promote(store, 10).await;
    assert_eq!(first.moved, 0);
    assert!(first.next_due.is_some_and(|due| (5..=10).contains(&due.as_secs())), "{first:?}");
    store.advance_secs(30).await;
    let second = promote(store, 10).await;
    assert_eq!(second.moved, 2);
    assert!(second.next_due.is_some_and(|due| (900..=970).contains(&due.as_secs())), "{second:?}");
    store.advance_secs(1_000).await;
    assert_eq!(promote(store, 10).await, Promoted { moved: 1, next_due: None });
    assert_eq!(HandWorker::start(store.driver()).await.claim(10).await.len(), 3);
}

/// A limit is kept; what is left is due at once.
pub async fn a_limit_is_kept(store: &dyn Fixture) {
    let jobs: Vec<NewJob> = (0..25).map(|_| after(10)).collect();
    store.enqueue(&jobs).await;
    store.advance_secs(11).await;
    for moved in [10, 10] {
        assert_eq!(promote(store, 10).await, Promoted { moved, next_due: Some(Duration::ZERO) });
    }
    assert_eq!(promote(store, 10).await, Promoted { moved: 5, next_due: None });
}

/// Those that were due first become ready first.
pub async fn earlier_dues_are_moved_first(store: &dyn Fixture) {
    let (late, early) = (after(20), after(10));
    store.enqueue(&[late.clone(), early.clone()]).await;
    store.advance_secs(30).await;
    assert_eq!(promote(store, 1).await.moved, 1);
    let worker = HandWorker::start(store.driver()).await;
    assert_eq!(worker.claim_one().await.fence.job, early.id);
    promote(store, 1).await;
    assert_eq!(worker.claim_one().await.fence.job, late.id);
}

/// Concurrent promotions move each job once.
pub async fn concurrent_promotions_move_each_job_once(store: &dyn Fixture) {
    let jobs: Vec<NewJob> = (0..200).map(|_| after(10)).collect();
    store.enqueue(&jobs).await;
    store.advance_secs(11).await;
    let handles = [store.driver(), store.second_handle().await];
    let promoters = (0..8).map(|number| {
        let driver = handles[number % 2].clone();
        tokio::spawn(async move { driver.promote(1_000).await.expect("a promotion answers").moved })
    });
    let mut moved = 0;
    for promoted in futures_util::future::join_all(promoters).await {
        moved += promoted.expect("no promoter panics");
    }
    moved += store.promote().await;
    assert_eq!(moved, 200);
    assert_eq!(HandWorker::start(store.driver()).await.claim(1_000).await.len(), 200);
}

/// A look never says no to what is there: ready queues, due jobs, lapsed leases.
pub async fn a_look_misses_nothing(store: &dyn Fixture) {
    let queues = ["mail".to_owned(), "other".to_owned()];
    let worker = HandWorker::start(store.driver()).await;
    store.enqueue(&[job(), after(10)]).await;
    let outlook = store.driver().look(&queues).await.expect("a look answers");
    assert!(outlook.ready.contains(&queues[0]), "{outlook:?}");
    assert!(outlook.next_due.is_some_and(|due| due.as_secs() <= 10), "{outlook:?}");
    worker.claim(1).await;
    store.advance_secs(31).await;
    let outlook = store.driver().look(&queues).await.expect("a look answers");
    assert!(outlook.lapsed && outlook.next_due == Some(Duration::ZERO), "{outlook:?}");
}
