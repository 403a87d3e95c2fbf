//! What is checked of an event before it is written, what is stored of it, and that it joins the caller's transaction.

use crate::fixtures::{Shipped, on_both, shipped};
use jobs::{
    Error, Event, Jobs,
    driver::{EventId, EventRecord, Memory, MemoryTx, pg::Pg},
    error::code,
    events,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// An event of a tenant, that may hold anything.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    org: String,
    text: String,
    value: f64,
}

impl Event for Measured {
    const NAME: &'static str = "measured";

    fn tenant(&self) -> Option<String> {
        Some(self.org.clone())
    }
}

fn measured(text: impl Into<String>, value: f64) -> Measured {
    Measured { org: "acme".to_owned(), text: text.into(), value }
}

fn memory() -> Jobs {
    Jobs::memory().expect("the jobs of this program fit together")
}

async fn listed(jobs: &Jobs) -> Vec<EventRecord> {
    let mut all = jobs.events::<Shipped>().await.expect("the store answers");
    all.extend(jobs.events::<Measured>().await.expect("the store answers"));
    all
}

#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, Error>, says: &[&str]) {
    let error = answer.expect_err("it is outside the limits");
    assert_eq!(error.code(), code::EVENT_INVALID, "{error}");
    for text in says {
        assert!(error.to_string().contains(text), "{text} is not in {error}");
    }
}

#[tokio::test]
async fn a_key_is_1_to_200_bytes_of_text() {
    let jobs = memory();
    refused(shipped(1).publish(&jobs, "").await, &["`parcel.shipped`", "blank key", "200"]);
    refused(shipped(1).publish(&jobs, " \t").await, &["blank key"]);
    refused(shipped(1).publish(&jobs, "ä".repeat(101)).await, &["key of 202 bytes", "limit is 200"]);
    refused(shipped(1).publish(&jobs, "a\0b").await, &["key that holds NUL"]);
    assert!(listed(&jobs).await.is_empty());
    shipped(1).publish(&jobs, "ä".repeat(100)).await.expect("200 bytes are allowed");
    shipped(1).publish(&jobs, 4711).await.expect("what can be displayed is a key");
    assert_eq!(listed(&jobs).await[0].key, "4711");
}

#[tokio::test]
async fn a_payload_is_stored_exactly_or_refused() {
    let jobs = memory();
    refused(measured("a\0b", 1.0).publish(&jobs, 1).await, &["`measured`", "NUL", "text"]);
    refused(measured("a", f64::NAN).publish(&jobs, 1).await, &["payload", "value"]);
    refused(measured("a", f64::INFINITY).publish(&jobs, 1).await, &["payload", "value"]);
    let around = serde_json::to_string(&measured("", 1.5)).expect("it encodes").len();
    let full = events::MAX_PAYLOAD - around;
    refused(measured("a".repeat(full + 1), 1.5).publish(&jobs, 1).await, &["payload of 262145 bytes", "262144"]);
    assert!(listed(&jobs).await.is_empty());
    measured("a".repeat(full), 1.5).publish(&jobs, 1).await.expect("256 KiB are allowed");
    measured("€\u{10ffff}\"\\", f64::MAX).publish(&jobs, 2).await.expect("it is text");
    let read: Measured = listed(&jobs).await[0].payload.decode().expect("it decodes");
    assert_eq!((read.text.as_str(), read.value), ("€\u{10ffff}\"\\", f64::MAX));
}

#[tokio::test]
async fn a_lifetime_is_longer_than_zero_and_at_most_36500_days() {
    let jobs = memory();
    refused(shipped(1).publish(&jobs, 1).ttl("0s").await, &["`ttl`", "zero"]);
    refused(shipped(1).publish(&jobs, 1).ttl("36501d").await, &["`ttl`", "36500d"]);
    refused(shipped(1).publish(&jobs, 1).ttl("soon").await, &["`ttl`", "\"soon\""]);
    refused(shipped(1).publish(&jobs, 1).ttl(Duration::MAX).await, &["`ttl`"]);
    assert!(listed(&jobs).await.is_empty());
    let lives = |published: jobs::driver::Published| (published.expires_at - published.published_at).num_days();
    assert_eq!(lives(measured("", 1.0).publish(&jobs, 1).await.expect("defaults")), 7);
    assert_eq!(lives(shipped(1).publish(&jobs, 1).await.expect("its type's own")), 3);
    assert_eq!(lives(shipped(1).publish(&jobs, 1).ttl("36500d").await.expect("the limit")), 36_500);
}

#[tokio::test]
async fn a_tenant_is_text_and_never_another_than_the_types_own() {
    let jobs = memory();
    refused(shipped(1).publish(&jobs, 1).tenant(" ").await, &["blank tenant", "128"]);
    refused(shipped(1).publish(&jobs, 1).tenant("a".repeat(129)).await, &["tenant of 129 bytes"]);
    refused(shipped(1).publish(&jobs, 1).tenant("a\0").await, &["tenant that holds NUL"]);
    let other = measured("", 1.0).publish(&jobs, 1).tenant("globex").await;
    assert!(!format!("{other:?}").contains("globex") && !format!("{other:?}").contains("acme"), "{other:?}");
    refused(other, &["for one tenant", "another"]);
    let own_is_bad = Measured { org: String::new(), ..measured("", 1.0) };
    refused(own_is_bad.publish(&jobs, 1).await, &["blank tenant"]);
    assert!(listed(&jobs).await.is_empty());
    shipped(1).publish(&jobs, 1).tenant("acme").await.expect("a tenant may be stated");
    measured("", 1.0).publish(&jobs, 1).tenant("acme").await.expect("it is the type's own");
    shipped(1).publish(&jobs, 1).await.expect("an event may be everybody's");
    let tenants: Vec<_> = listed(&jobs).await.into_iter().map(|event| event.tenant).collect();
    assert_eq!(tenants, [None, Some("acme".to_owned()), Some("acme".to_owned())]);
}

#[tokio::test]
async fn a_name_from_outside_is_checked_and_its_payload_too() {
    let jobs = memory();
    refused(jobs.publish_dynamic("Shipped", 1, json!({})).await, &["`Shipped`", "a-z"]);
    refused(jobs.publish_dynamic("", 1, json!({})).await, &["empty"]);
    refused(jobs.publish_dynamic("measured", 1, json!({"text": "a\0b"})).await, &["NUL"]);
    refused(jobs.events_named("Shipped").await, &["`Shipped`"]);
    jobs.publish_dynamic(Shipped::NAME, 1, json!({"parcel": "1Z"})).ttl("1d").await.expect("it is an event");
    let read: Shipped = listed(&jobs).await[0].payload.decode().expect("it fits the type");
    assert_eq!(read, shipped("1Z"));
}

#[tokio::test]
async fn a_batch_names_the_event_that_is_refused_and_writes_none() {
    let jobs = memory();
    let error = jobs.publish_many([("a", shipped(1)), ("", shipped(2))]).await.expect_err("the second has no key");
    assert_eq!((error.code(), error.index()), (code::EVENT_INVALID, Some(1)));
    let endless = std::iter::repeat_with(|| ("a", shipped(1)));
    let error = jobs.publish_many(endless).await.expect_err("it is too large");
    assert_eq!(error.code(), code::BATCH_TOO_LARGE);
    let error = jobs.publish_many([("a", shipped(1))]).ttl("0s").await.expect_err("no lifetime");
    assert_eq!(error.index(), Some(0));
    assert!(listed(&jobs).await.is_empty());
    assert!(jobs.publish_many::<Shipped, &str>([]).await.expect("nothing to do").is_empty());
    // One alone names no index.
    assert_eq!(shipped(1).publish(&jobs, "").await.expect_err("no key").index(), None);
}

#[tokio::test]
async fn what_is_published_is_listed_newest_first_on_both_drivers() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let batch = (0..10).map(|n| (n % 2, shipped(n)));
        let published = jobs.publish_many(batch).await.expect("they are published");
        assert_eq!(published.len(), 10);
        let late = shipped(10).publish(&jobs, "late").ttl("1h").await.expect("it is published");
        let listed = jobs.events::<Shipped>().await.expect("the store answers");
        let mut expected: Vec<_> = published.iter().map(|event| event.id).collect();
        expected.push(late.id);
        expected.reverse();
        assert_eq!(listed.iter().map(|event| event.id).collect::<Vec<_>>(), expected, "{jobs:?}");
        let newest: Shipped = listed[0].payload.decode().expect("it decodes");
        assert_eq!((newest, listed[0].key.as_str()), (shipped(10), "late"));
        assert_eq!(listed[0].published_at, late.published_at);
        assert_eq!((listed[0].expires_at - listed[0].published_at).num_minutes(), 60);
        assert!(jobs.events::<Measured>().await.expect("the store answers").is_empty());
    }
}

#[tokio::test]
async fn an_event_published_again_under_its_id_is_stored_once_on_both_drivers() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let id = EventId::new();
        let first = shipped(1).publish(&jobs, 1).id(id).await.expect("it is published");
        let again = shipped(1).publish(&jobs, 1).id(id).await.expect("it is known");
        assert_eq!(first, again);
        assert_eq!(jobs.events::<Shipped>().await.expect("the store answers").len(), 1);
    }
}

#[tokio::test]
async fn an_event_joins_the_callers_transaction_in_memory() {
    let jobs = memory();
    let Some(memory) = jobs.driver().as_any().downcast_ref::<Memory>() else { panic!("it is the memory driver") };
    let mut tx: MemoryTx = memory.begin();
    shipped(1).publish(&jobs, 1).in_tx(&mut tx).await.expect("it is written");
    assert!(listed(&jobs).await.is_empty());
    tx.rollback();
    assert!(listed(&jobs).await.is_empty());
    let mut tx: MemoryTx = memory.begin();
    jobs.publish_many([(1, shipped(1)), (2, shipped(2))]).in_tx(&mut tx).await.expect("they are written");
    assert!(listed(&jobs).await.is_empty());
    tx.commit();
    assert_eq!(listed(&jobs).await.len(), 2);
}

#[tokio::test]
async fn an_event_joins_the_callers_transaction_on_postgres() {
    let db = crate::support::Db::new();
    let pool = db.pool(3).await;
    let jobs = Jobs::postgres(pool.clone()).expect("the driver takes a pool");
    assert!(jobs.driver().as_any().is::<Pg>());
    let mut tx = pool.begin().await.expect("the server answers");
    shipped(1).publish(&jobs, 1).in_tx(&mut tx).await.expect("it is written");
    assert!(listed(&jobs).await.is_empty());
    tx.rollback().await.expect("the server answers");
    assert!(listed(&jobs).await.is_empty());
    let mut tx = pool.begin().await.expect("the server answers");
    jobs.publish_many([(1, shipped(1)), (2, shipped(2))]).in_tx(&mut tx).await.expect("they are written");
    assert!(listed(&jobs).await.is_empty());
    tx.commit().await.expect("the server answers");
    assert_eq!(listed(&jobs).await.len(), 2);
    let mut tx = pool.begin().await.expect("the server answers");
    let refusal = shipped(1).publish(&memory(), 1).in_tx(&mut tx).await.expect_err("it is of another store");
    assert_ne!(refusal.code(), code::EVENT_INVALID, "{refusal}");
}

#[tokio::test]
async fn an_expired_event_is_listed_no_more() {
    let app = jobs::testing::Harness::new().expect("the jobs of this program fit together");
    shipped(1).publish(app.jobs(), 1).ttl("1h").await.expect("it is published");
    app.clock().advance("59m");
    assert_eq!(listed(app.jobs()).await.len(), 1);
    app.clock().advance("1m");
    assert!(listed(app.jobs()).await.is_empty());
}

#[tokio::test]
async fn the_list_for_diagnosis_ends_at_1000() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let published = jobs.publish_many((0..1_005).map(|n| ("a", shipped(n)))).await.expect("they are published");
        let listed = jobs.events::<Shipped>().await.expect("the store answers");
        assert_eq!(listed.len(), 1_000);
        assert_eq!(listed[0].id, published[1_004].id);
    }
}
