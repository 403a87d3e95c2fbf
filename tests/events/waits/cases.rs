//! Events by the thousand that other systems lost, swapped or doubled.

use super::{Happened, Key, happened, is, key, output, wait_once, wait_twice, worker};
use crate::{fixtures::on_both, support::eventually_within};
use jobs::{
    Enqueued, Event, JobId, Jobs, State,
    driver::{EventId, JobRecord, NewEvent},
};
use serde_json::json;
use std::time::Duration;

const MANY: usize = 1_000;

/// The jobs, once all have settled.
async fn all_settled(jobs: &Jobs, ids: &[JobId]) -> Vec<JobRecord> {
    let mut records = Vec::with_capacity(ids.len());
    for id in ids {
        let settles = eventually_within(Duration::from_secs(60), "the job settles", || async {
            let record = jobs.find(*id).await.expect("it is stored");
            record.state.is_final().then_some(record)
        });
        records.push(settles.await);
    }
    records
}

async fn parked(jobs: &Jobs, ids: &[JobId]) {
    for id in ids {
        is(jobs, *id, State::Suspended).await;
    }
}

fn ids(enqueued: Vec<Enqueued>) -> Vec<JobId> {
    enqueued.iter().map(Enqueued::id).collect()
}

fn keys(what: &str) -> impl Iterator<Item = Key> + use<'_> {
    (0..MANY).map(move |n| key(format!("{what} {n}")))
}

fn events<'a>(what: &'a str, says: &'a str) -> impl Iterator<Item = (String, Happened)> + use<'a> {
    (0..MANY).map(move |n| (format!("{what} {n}"), happened(format!("{says} {n}"))))
}

#[track_caller]
fn each_says(records: &[JobRecord], says: &str) {
    for (n, record) in records.iter().enumerate() {
        assert_eq!(output::<String>(record), format!("{says} {n}"), "{record:?}");
    }
}

#[tokio::test]
async fn of_10000_events_in_one_moment_two_a_key_all_are_seen_once_and_in_order() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let worker = worker(&jobs).await;
        let runs = ids(wait_twice::enqueue_many(&jobs, (0..5_000).map(key)).await.unwrap());
        let twice = (0..5_000).flat_map(|n| [(n, happened(format!("{n} a"))), (n, happened(format!("{n} b")))]);
        let published = jobs.publish_many(twice).await.unwrap();
        let moments: std::collections::HashSet<_> = published.iter().map(|event| event.published_at).collect();
        assert!(moments.len() <= 50, "{} moments", moments.len());
        for (n, record) in all_settled(&jobs, &runs).await.iter().enumerate() {
            assert_eq!(output::<(String, String)>(record), (format!("{n} a"), format!("{n} b")), "{jobs:?}");
        }
        worker.drain().await;
    }
}

#[tokio::test]
async fn events_before_the_wait_are_kept_and_those_after_the_end_are_ignored() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let worker = worker(&jobs).await;
        jobs.publish_many(events("early", "first")).await.unwrap();
        let runs = ids(wait_once::enqueue_many(&jobs, keys("early")).await.unwrap());
        each_says(&all_settled(&jobs, &runs).await, "first");
        jobs.publish_many(events("early", "after the end")).await.unwrap();
        // They are stored, wake nobody and change nothing.
        let mark = wait_once::enqueue(&jobs, key("mark")).await.unwrap().id();
        happened("mark 0").publish(&jobs, "mark").await.unwrap();
        all_settled(&jobs, &[mark]).await;
        let records = all_settled(&jobs, &runs).await;
        each_says(&records, "first");
        assert!(records.iter().all(|record| record.state == State::Completed && record.attempt == 1));
        worker.drain().await;
    }
}

#[tokio::test]
async fn an_event_published_twice_under_its_id_is_taken_once() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let worker = worker(&jobs).await;
        let runs = ids(wait_twice::enqueue_many(&jobs, keys("twice")).await.unwrap());
        let new = |n: usize| NewEvent {
            id: EventId::new(),
            name: Happened::NAME.to_owned(),
            key: format!("twice {n}"),
            tenant: None,
            payload: json!(format!("once {n}")).into(),
            ttl: Duration::from_secs(3_600),
        };
        let first: Vec<NewEvent> = (0..MANY).map(new).collect();
        let driver = jobs.driver();
        let published = driver.publish(&first, None).await.unwrap();
        parked(&jobs, &runs).await;
        assert_eq!(driver.publish(&first, None).await.unwrap(), published);
        parked(&jobs, &runs).await;
        jobs.publish_many(events("twice", "then")).await.unwrap();
        for (n, record) in all_settled(&jobs, &runs).await.iter().enumerate() {
            assert_eq!(output::<(String, String)>(record), (format!("once {n}"), format!("then {n}")), "{jobs:?}");
        }
        worker.drain().await;
    }
}

#[tokio::test]
async fn an_event_for_a_cancelled_run_changes_nothing() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let worker = worker(&jobs).await;
        let runs = ids(wait_once::enqueue_many(&jobs, keys("cancelled")).await.unwrap());
        parked(&jobs, &runs).await;
        for run in &runs {
            jobs.cancel(*run).await.unwrap();
        }
        jobs.publish_many(events("cancelled", "ignored")).await.unwrap();
        for record in all_settled(&jobs, &runs).await {
            assert_eq!((record.state, record.output), (State::Cancelled, None));
        }
        worker.drain().await;
    }
}

#[tokio::test]
async fn another_tenants_event_of_the_same_key_is_invisible() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let worker = worker(&jobs).await;
        let runs = ids(wait_once::enqueue_many(&jobs, keys("shared")).await.unwrap());
        jobs.publish_many(events("shared", "theirs")).tenant("globex").await.unwrap();
        parked(&jobs, &runs).await;
        jobs.publish_many(events("shared", "ours")).tenant("acme").await.unwrap();
        each_says(&all_settled(&jobs, &runs).await, "ours");
        worker.drain().await;
    }
}
