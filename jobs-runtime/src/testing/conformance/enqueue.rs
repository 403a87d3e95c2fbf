//! Enqueues: what they answer, in which order, and what they keep.

use super::{Fixture, HandWorker, hand::of, job, keyed};
use crate::{
    driver::{Enqueued, NewJob, NewUnique, Overrides, Start},
    error::code,
    json::JsonText,
    spec::{Hold, OnConflict},
    state::State,
};
use chrono::TimeDelta;
use std::{collections::HashSet, time::Duration};

/// A batch is answered item by item, in the order of its items.
pub async fn answers_come_in_input_order(store: &dyn Fixture) {
    let jobs: Vec<NewJob> = (0..1_000).map(|number| NewJob { priority: number % 7, ..job() }).rev().collect();
    let answers = store.enqueue(&jobs).await;
    let expected: Vec<Enqueued> = jobs.iter().map(|job| Enqueued::Inserted { id: job.id }).collect();
    assert_eq!(answers, expected);
}

/// An empty batch is answered emptily.
pub async fn an_empty_batch_answers_nothing(store: &dyn Fixture) {
    assert_eq!(store.enqueue(&[]).await, []);
}

/// 10,000 jobs go in one call; 1,000 of them repeat keys of others and are told whose.
pub async fn ten_thousand_with_a_thousand_duplicates_insert_nine_thousand(store: &dyn Fixture) {
    let jobs: Vec<NewJob> = (0..10_000).map(|number| keyed(number % 9_000, Hold::Live)).collect();
    let answers = store.enqueue(&jobs).await;
    assert!(answers[..9_000].iter().all(Enqueued::is_inserted));
    assert!(answers[9_000..].iter().all(|answer| !answer.is_inserted()));
    let expected: Vec<_> = jobs[..9_000].iter().chain(&jobs[..1_000]).map(|job| job.id).collect();
    assert_eq!(answers.iter().map(Enqueued::id).collect::<Vec<_>>(), expected);
    let counts = store.driver().counts().await.expect("counts answer");
    assert_eq!(counts.iter().map(|count| count.jobs).sum::<u64>(), 9_000);
}

/// A batch with one refused item writes nothing of the rest, and names the item.
pub async fn a_refused_item_leaves_nothing_of_its_batch(store: &dyn Fixture) {
    let holder = store.insert(keyed(1, Hold::Live)).await;
    let mut refused = keyed(1, Hold::Live);
    refused.unique = refused.unique.map(|unique| NewUnique { on_conflict: OnConflict::Reject, ..unique });
    let batch = [job(), keyed(2, Hold::Live), refused, job()];
    let error = store.driver().enqueue(&batch, None).await.expect_err("the batch is refused");
    assert_eq!(error.code(), code::JOB_DUPLICATE);
    assert_eq!(error.index(), Some(2));
    assert!(error.detail().contains(&holder.to_string()), "names the holder: {error}");
    for job in &batch {
        assert!(store.find(job.id).await.is_none(), "nothing of the batch is left");
    }
    store.insert(keyed(2, Hold::Live)).await;
}

/// A job is stored with all that its enqueue said, and a claim gives it.
pub async fn a_job_keeps_all_that_it_was_enqueued_with(store: &dyn Fixture) {
    let new = NewJob {
        version: 3,
        tenant: Some("Ärzte & Co".to_owned()),
        priority: i16::MIN,
        overrides: Overrides {
            max_attempts: Some(9),
            backoff: Some(crate::backoff::Backoff::fixed("7s")),
            timeout: Some(Duration::from_millis(1_500)),
        },
        metadata: Some(JsonText::trusted(r#"{"z":1,"a":"β"}"#)),
        trace: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
        enqueued_by: Some("alice".to_owned()),
        ..of("odd_queue.name-1", "odd.kind")
    };
    store.insert(new.clone()).await;
    let record = store.record(new.id).await;
    assert_eq!((record.kind, record.version, record.queue), (new.kind.clone(), 3, new.queue.clone()));
    assert_eq!((record.tenant, record.priority, record.state), (new.tenant.clone(), i16::MIN, State::Ready));
    assert_eq!((record.attempt, record.crashes), (1, 0));
    assert_eq!((record.payload, record.metadata), (new.payload.clone(), new.metadata.clone()));
    assert_eq!((record.trace, record.enqueued_by), (new.trace.clone(), new.enqueued_by.clone()));
    let now = store.driver().now().await.expect("the clock answers");
    assert!((now - record.created_at).abs() < TimeDelta::seconds(30), "stamped by the store's clock");
    assert_eq!((record.due_at, record.finished_at, record.cancel_requested), (None, None, false));

    let worker = HandWorker::knowing(store.driver(), "hand", &[("odd.kind", 3)]).await;
    let claimed = worker.try_claim(&[("odd_queue.name-1", 1)]).await.expect("a claim answers").remove(0);
    assert_eq!((claimed.fence.job, claimed.fence.attempt, claimed.crashes), (new.id, 1, 0));
    assert_eq!((claimed.kind, claimed.version, claimed.queue), (new.kind, 3, new.queue));
    assert_eq!((claimed.tenant, claimed.priority, claimed.overrides), (new.tenant, i16::MIN, new.overrides));
    assert_eq!((claimed.payload, claimed.metadata), (new.payload, new.metadata));
    assert_eq!((claimed.trace, claimed.enqueued_by), (new.trace, new.enqueued_by));
    assert_eq!((claimed.failure, claimed.expired), (None, false));
    assert!(claimed.created_at <= claimed.ready_at && claimed.ready_at <= claimed.claimed_at);
}

/// A delay counts from the enqueue by the store's clock; the job is not claimable before it is over.
pub async fn a_delayed_job_waits_for_its_time(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(NewJob { start: Start::After(Duration::from_secs(20)), ..job() }).await;
    let record = store.record(id).await;
    assert_eq!(record.state, State::Delayed);
    let wait = record.due_at.expect("a delayed job is due some time") - record.created_at;
    assert_eq!(wait.num_milliseconds(), 20_000);
    store.advance_secs(10).await;
    assert_eq!((store.promote().await, worker.claim(1).await.len()), (0, 0));
    store.advance_secs(11).await;
    assert_eq!(store.promote().await, 1);
    assert_eq!(worker.claim_one().await.fence.job, id);
}

/// An absolute time is kept to the microsecond; one in the past makes the job ready at once.
pub async fn an_absolute_time_in_the_past_is_ready_at_once(store: &dyn Fixture) {
    let now = store.driver().now().await.expect("the clock answers");
    let past = store.insert(NewJob { start: Start::At(now - TimeDelta::days(3)), ..job() }).await;
    let future = now + TimeDelta::days(3);
    let later = store.insert(NewJob { start: Start::At(future), ..job() }).await;
    assert_eq!(store.state(past).await, State::Ready);
    let due = store.record(later).await.due_at.expect("a delayed job is due some time");
    assert_eq!(due.timestamp_micros(), future.timestamp_micros());
}

/// A job that was enqueued through one handle is claimed through another.
pub async fn two_handles_share_one_store(store: &dyn Fixture) {
    let other = store.second_handle().await;
    let id = store.insert(job()).await;
    assert!(other.find(id).await.expect("a find answers").is_some());
    let claimed = HandWorker::start(other).await.claim_one().await;
    assert_eq!(claimed.fence.job, id);
}

/// Concurrent batches through two handles lose nothing.
pub async fn concurrent_batches_lose_nothing(store: &dyn Fixture) {
    let handles = [store.driver(), store.second_handle().await];
    let tasks = (0..16).map(|number| {
        let driver = handles[number % 2].clone();
        tokio::spawn(async move {
            let jobs: Vec<NewJob> = (0..50).map(|_| job()).collect();
            driver.enqueue(&jobs, None).await.expect("an enqueue is accepted")
        })
    });
    let mut ids = HashSet::new();
    for answers in futures_util::future::join_all(tasks).await {
        ids.extend(answers.expect("no enqueue panics").iter().map(Enqueued::id));
    }
    let worker = HandWorker::start(store.driver()).await;
    let claimed: HashSet<_> = worker.claim(1_000).await.iter().map(|claimed| claimed.fence.job).collect();
    assert_eq!((claimed.len(), claimed), (800, ids));
}
