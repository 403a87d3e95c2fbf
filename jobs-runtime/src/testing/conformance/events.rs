//! Events: who finds which, in which order, and until when.

use super::{
    Fixture,
    recorded::{EVENT, event},
};
use crate::{
    driver::{EventId, EventRecord, FindEvent, NewEvent, Tx},
    error::code,
    json::JsonText,
};
use chrono::TimeDelta;
use std::time::Duration;

/// A search for the suite's event of a key.
fn search(key: &str) -> FindEvent {
    FindEvent { name: EVENT.to_owned(), key: key.to_owned(), tenant: None, taken: Vec::new(), before: None }
}

async fn find(store: &dyn Fixture, find: FindEvent) -> Option<EventRecord> {
    store.driver().find_event(find).await.expect("a find answers")
}

async fn listed(store: &dyn Fixture) -> Vec<EventId> {
    let events = store.driver().events(EVENT).await.expect("events answer");
    events.into_iter().map(|event| event.id).collect()
}

/// A published event is found whole by its name and key, and by no other.
pub async fn an_event_is_found_by_its_name_and_key(store: &dyn Fixture) {
    let payload = JsonText::trusted(r#"{"z": 1, "a":[18446744073709551615, 0.1, -0.0]}"#);
    let new = NewEvent { payload: payload.clone(), ..event("7") };
    let published = store.publish(std::slice::from_ref(&new)).await.remove(0);
    assert_eq!((published.id, published.expires_at - published.published_at), (new.id, TimeDelta::seconds(3_600)));
    let expected = EventRecord {
        id: new.id,
        name: new.name,
        key: new.key,
        tenant: None,
        payload,
        published_at: published.published_at,
        expires_at: published.expires_at,
    };
    assert_eq!(find(store, search("7")).await, Some(expected));
    assert_eq!(find(store, search("8")).await, None);
    assert_eq!(find(store, search("")).await, None);
    assert_eq!(find(store, FindEvent { name: "order.lost".to_owned(), ..search("7") }).await, None);
}

/// An event without a tenant is seen by all, one with a tenant by that tenant's runs alone.
pub async fn an_event_of_a_tenant_is_seen_by_its_runs_alone(store: &dyn Fixture) {
    let tenant = |name: &str| Some(name.to_owned());
    store.publish(&[NewEvent { tenant: tenant("acme"), ..event("7") }, event("8")]).await;
    let sees = |key, tenant| async move { find(store, FindEvent { tenant, ..search(key) }).await.is_some() };
    assert!(sees("7", tenant("acme")).await);
    assert!(!sees("7", tenant("umbrella")).await);
    assert!(!sees("7", None).await);
    assert!(sees("8", tenant("acme")).await);
    assert!(sees("8", None).await);
}

/// Answers come in input order, also where an event was known.
pub async fn publications_are_answered_in_input_order(store: &dyn Fixture) {
    let mut events: Vec<NewEvent> = (0..50).map(|number| event(&number.to_string())).collect();
    events.reverse();
    store.publish(&events[20..30]).await;
    let answers = store.publish(&events).await;
    let ids = |events: &[NewEvent]| events.iter().map(|event| event.id).collect::<Vec<_>>();
    assert_eq!(answers.iter().map(|answer| answer.id).collect::<Vec<_>>(), ids(&events));
    assert_eq!(store.publish(&[]).await, []);
}

/// Events are taken in the order of their publication, whatever their ids; those of one moment by their ids.
pub async fn the_earliest_publication_is_found_first(store: &dyn Fixture) {
    let mut early: Vec<NewEvent> = (0..5).map(|_| event("7")).collect();
    early.swap(1, 4);
    let late = early.split_off(2);
    let mut published = store.publish(&late).await;
    store.advance_secs(1).await;
    for published in &mut published {
        published.published_at -= TimeDelta::seconds(1);
    }
    published.extend(store.publish(&early).await);
    published.sort_by_key(|event| (event.published_at, event.id));
    let mut taken = Vec::new();
    while let Some(found) = find(store, FindEvent { taken: taken.clone(), ..search("7") }).await {
        taken.push(found.id);
    }
    assert_eq!(taken, published.iter().map(|event| event.id).collect::<Vec<_>>());
}

/// What a run has taken it does not find again; another run does.
pub async fn a_taken_event_is_skipped(store: &dyn Fixture) {
    let events = [event("7"), event("7"), event("7")];
    for event in &events {
        store.publish(std::slice::from_ref(event)).await;
        store.advance(Duration::from_millis(10)).await;
    }
    let ids = events.map(|event| event.id);
    let untaken = |taken: &[EventId]| FindEvent { taken: taken.to_vec(), ..search("7") };
    let found = |found: Option<EventRecord>| found.map(|event| event.id);
    assert_eq!(found(find(store, untaken(&[ids[0]])).await), Some(ids[1]));
    assert_eq!(found(find(store, untaken(&[ids[1]])).await), Some(ids[0]), "one that was passed over is not lost");
    assert_eq!(found(find(store, untaken(&[ids[1], ids[0], EventId::new()])).await), Some(ids[2]));
    assert_eq!(found(find(store, untaken(&ids)).await), None);
}

/// An event counts if it was published before the wait's end, and not from that moment on.
pub async fn an_event_after_the_end_of_the_wait_is_not_found(store: &dyn Fixture) {
    let published = store.publish(&[event("7")]).await.remove(0);
    let until = |before| FindEvent { before: Some(before), ..search("7") };
    let moment = TimeDelta::microseconds(1);
    assert!(find(store, until(published.published_at + moment)).await.is_some());
    assert!(find(store, until(published.published_at)).await.is_none());
    assert!(find(store, until(published.published_at - moment)).await.is_none());
}

/// An event that has expired is found no more, nor listed, even before it is purged.
pub async fn an_expired_event_is_not_found(store: &dyn Fixture) {
    let ttl = Duration::from_secs(10);
    store.publish(&[NewEvent { ttl, ..event("7") }]).await;
    store.advance_secs(9).await;
    assert!(find(store, search("7")).await.is_some());
    store.advance_secs(2).await;
    assert!(find(store, search("7")).await.is_none());
    assert_eq!(listed(store).await, []);
}

/// A purge removes what has expired, at most so many, and leaves the rest; a look tells whether there is any.
pub async fn a_purge_leaves_what_has_not_expired(store: &dyn Fixture) {
    let ttl = Duration::from_secs(10);
    let short: Vec<NewEvent> = (0..7).map(|_| NewEvent { ttl, ..event("7") }).collect();
    let long = event("7");
    store.publish(&short).await;
    store.publish(std::slice::from_ref(&long)).await;
    let purge = |limit| async move { store.driver().purge_events(limit).await.expect("a purge answers") };
    let expired = || async { store.driver().look(&[]).await.expect("a look answers").expired_events };
    assert!(!expired().await);
    assert_eq!(purge(100).await, 0);
    store.advance_secs(11).await;
    assert!(expired().await);
    assert_eq!((purge(5).await, purge(5).await, purge(5).await), (5, 2, 0));
    assert!(!expired().await);
    assert_eq!(find(store, search("7")).await.map(|event| event.id), Some(long.id));
}

/// The events of a name are listed from new to old, a thousand at most.
pub async fn a_diagnosis_lists_the_newest_thousand(store: &dyn Fixture) {
    let old: Vec<NewEvent> = (0..1_004).map(|number| event(&number.to_string())).collect();
    store.publish(&old).await;
    store.advance_secs(1).await;
    let new = event("new");
    store.publish(&[new.clone(), NewEvent { name: "order.lost".to_owned(), ..event("7") }]).await;
    let found = listed(store).await;
    assert_eq!((found.len(), found[0]), (1_000, new.id));
    assert_eq!(store.driver().events("order.lost").await.expect("events answer").len(), 1);
    assert_eq!(store.driver().events("order").await.expect("events answer"), []);
}

/// What an open transaction published nobody finds until it commits.
pub async fn an_event_is_found_from_its_commit_on(store: &dyn Fixture) {
    let new = event("7");
    let mut tx = store.begin().await;
    let published = store.driver().publish(std::slice::from_ref(&new), Some(tx.tx())).await.expect("it is published");
    assert_eq!(published[0].id, new.id);
    assert!(find(store, search("7")).await.is_none());
    assert_eq!(listed(store).await, []);
    tx.commit().await;
    let found = find(store, search("7")).await.expect("it is found");
    assert_eq!(
        (found.id, found.published_at, found.expires_at),
        (new.id, published[0].published_at, published[0].expires_at)
    );
}

/// An event whose transaction commits after a later event was taken is still found: it was published before, and is not
/// skipped.
pub async fn an_event_that_commits_late_is_not_skipped(store: &dyn Fixture) {
    let (early, late) = (event("7"), event("7"));
    let mut tx = store.begin().await;
    store.driver().publish(std::slice::from_ref(&early), Some(tx.tx())).await.expect("it is published");
    store.publish(std::slice::from_ref(&late)).await;
    assert_eq!(find(store, search("7")).await.map(|event| event.id), Some(late.id));
    tx.commit().await;
    let untaken = FindEvent { taken: vec![late.id], ..search("7") };
    assert_eq!(find(store, untaken).await.map(|event| event.id), Some(early.id));
}

/// What was rolled back is never found, and a search for earlier events is none the worse for it.
pub async fn a_rolled_back_event_is_never_found(store: &dyn Fixture) {
    for dropped in [false, true] {
        let mut tx = store.begin().await;
        store.driver().publish(&[event("7"), event("7")], Some(tx.tx())).await.expect("it is published");
        if dropped {
            drop(tx)
        } else {
            tx.rollback().await
        }
        assert!(find(store, search("7")).await.is_none());
    }
}

/// An event that is published again, because its publisher did not hear the answer, is one event.
pub async fn an_event_that_is_published_twice_is_one_event(store: &dyn Fixture) {
    let new = event("7");
    let first = store.publish(std::slice::from_ref(&new)).await;
    store.advance_secs(1).await;
    let other = NewEvent { payload: JsonText::trusted("0"), key: "8".to_owned(), ..new.clone() };
    let second = store.publish(&[other.clone(), other]).await;
    assert_eq!(second.len(), 2);
    assert!(second.iter().all(|answer| answer.published_at <= first[0].published_at), "it is not published anew");
    assert_eq!(listed(store).await, [new.id]);
    assert_eq!(find(store, search("7")).await.map(|event| event.payload), Some(new.payload));
    assert!(find(store, search("8")).await.is_none());
}

/// A transaction of another kind of store is refused by name.
pub async fn a_transaction_of_another_store_is_refused(store: &dyn Fixture) {
    let mut foreign = 0_u8;
    let answer = store.driver().publish(&[event("7")], Some(Tx::new(&mut foreign))).await;
    assert_eq!(answer.expect_err("it is refused").code(), code::TRANSACTION_FOREIGN);
    assert_eq!(listed(store).await, []);
}
