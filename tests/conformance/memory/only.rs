//! What only the memory driver has: a clock in the caller's hand, and listeners that fall behind.

use futures_util::FutureExt;
use jobs::{
    JsonText, State,
    clock::Clock,
    driver::{Change, Driver, EventId, Hint, JoinTx, Memory, NewEvent, Park, Wait, WaitEvent, WorkerId},
    error::code,
    spec::Keep,
    testing::conformance::{HandWorker, QUEUE, job},
};
use std::{sync::Arc, time::Duration};

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn an_advanced_clock_makes_workers_look_at_everything() {
    let memory = Memory::with_clock(Clock::manual());
    let mut hints = memory.hints(WorkerId(1), vec![QUEUE.to_owned()]).await.unwrap();
    assert!(hints.next().now_or_never().is_none());
    memory.clock().advance(DAY);
    assert_eq!(hints.next().await, Hint::All);
    assert!(hints.next().now_or_never().is_none(), "once for each advance");
}

#[tokio::test]
async fn a_listener_that_fell_behind_looks_at_everything() {
    let memory = Memory::new();
    let mut hints = memory.hints(WorkerId(1), vec![QUEUE.to_owned()]).await.unwrap();
    for _ in 0..1_000 {
        memory.enqueue(&[job()], None).await.unwrap();
    }
    assert_eq!(hints.next().await, Hint::All);
}

#[tokio::test]
async fn a_manual_clock_is_the_only_time_that_passes() {
    let memory = Memory::with_clock(Clock::manual());
    let worker = HandWorker::start(Arc::new(memory.clone())).await;
    let before = memory.now().await.unwrap();
    memory.enqueue(&[job()], None).await.unwrap();
    assert_eq!(worker.claim_one().await.claimed_at, before);
    memory.clock().advance(DAY);
    assert_eq!(memory.now().await.unwrap() - before, chrono::TimeDelta::days(1));
}

#[tokio::test]
async fn stores_share_nothing_and_their_clones_share_all() {
    let (one, other) = (Memory::new(), Memory::new());
    let job = job();
    one.enqueue(std::slice::from_ref(&job), None).await.unwrap();
    assert!(one.clone().find(job.id).await.unwrap().is_some());
    assert!(other.find(job.id).await.unwrap().is_none());
}

#[tokio::test]
async fn a_transaction_of_another_store_is_refused() {
    let (one, other) = (Memory::new(), Memory::new());
    let mut transaction = other.begin();
    let refused = one.enqueue(&[job()], Some(transaction.tx())).await.unwrap_err();
    assert_eq!(refused.code(), code::TRANSACTION_FOREIGN);
}

#[tokio::test]
async fn a_time_past_the_calendars_end_stops_there() {
    let clock = Clock::manual();
    for _ in 0..3_000 {
        clock.advance(Duration::MAX);
    }
    let memory = Memory::with_clock(clock);
    memory.enqueue(&[job()], None).await.unwrap();
    assert_eq!(HandWorker::start(Arc::new(memory)).await.driver.counts().await.unwrap()[0].jobs, 1);
}

#[tokio::test]
async fn an_event_that_expires_in_its_transaction_wakes_nobody() {
    let memory = Memory::with_clock(Clock::manual());
    let worker = HandWorker::start(Arc::new(memory.clone())).await;
    memory.enqueue(&[job()], None).await.unwrap();
    let claimed = worker.claim_one().await;
    let (name, key, payload) = ("order.shipped".to_owned(), "7".to_owned(), JsonText::trusted("7"));
    let wait = Wait::Event(WaitEvent { name: name.clone(), key: key.clone(), taken: Vec::new() });
    let park = Park { due_at: None, waits: vec![wait], records: Vec::new(), reason: None, keep: Keep::DEFAULT };
    worker.write(&claimed, Change::Park(Box::new(park))).await;
    let mut tx = memory.begin();
    let event = NewEvent { id: EventId::new(), name, key, tenant: None, payload, ttl: Duration::from_secs(5) };
    memory.publish(&[event], Some(tx.tx())).await.unwrap();
    memory.clock().advance(Duration::from_secs(6));
    tx.commit();
    assert_eq!(memory.find(claimed.fence.job).await.unwrap().unwrap().state, State::Suspended);
}
