//! Published events: who finds which, and until when. Upstream: `store`, `tx`. Downstream: nothing.

use super::{Memory, tx::Transaction};
use crate::{
    clock,
    driver::{EventId, EventRecord, FindEvent, NewEvent, Published, Tx},
    error::Error,
};
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, BTreeSet};

/// How many events a diagnosis lists at most.
const LISTED: usize = 1_000;

/// The stored events.
#[derive(Debug, Default)]
pub(super) struct Events {
    all: BTreeMap<EventId, EventRecord>,
    /// Those of a name and key, by their publication.
    published: BTreeMap<(String, String), Ordered>,
    /// All, by when they expire.
    expiring: Ordered,
}

/// Events by a time, ties by id.
type Ordered = BTreeSet<(DateTime<Utc>, EventId)>;

impl EventRecord {
    pub(super) fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.expires_at <= now
    }

    /// Whether a run of the tenant sees it that has taken these.
    pub(super) fn is_for(&self, tenant: Option<&String>, taken: &[EventId]) -> bool {
        (self.tenant.is_none() || self.tenant.as_ref() == tenant) && !taken.contains(&self.id)
    }
}

impl Events {
    pub(super) fn get(&self, id: EventId) -> Option<&EventRecord> {
        self.all.get(&id)
    }

    pub(super) fn add(&mut self, event: EventRecord) {
        let place = (event.name.clone(), event.key.clone());
        self.published.entry(place).or_default().insert((event.published_at, event.id));
        self.expiring.insert((event.expires_at, event.id));
        self.all.insert(event.id, event);
    }

    /// The earliest that a wait may take.
    pub(super) fn find(&self, find: &FindEvent, now: DateTime<Utc>) -> Option<&EventRecord> {
        let matching = self.published.get(&(find.name.clone(), find.key.clone())).into_iter().flatten();
        matching.filter_map(|(_, id)| self.all.get(id)).find(|event| {
            !event.is_over(now)
                && event.is_for(find.tenant.as_ref(), &find.taken)
                && find.before.is_none_or(|before| event.published_at < before)
        })
    }

    /// Those of a name that can be found, newest first.
    pub(super) fn of_name(&self, name: &str, now: DateTime<Utc>) -> Vec<EventRecord> {
        let mut found: Vec<_> = self.all.values().filter(|event| event.name == name && !event.is_over(now)).collect();
        found.sort_by_key(|event| std::cmp::Reverse((event.published_at, event.id)));
        found.into_iter().take(LISTED).cloned().collect()
    }

    /// Whether a purge would remove something.
    pub(super) fn has_expired(&self, now: DateTime<Utc>) -> bool {
        self.expiring.first().is_some_and(|(end, _)| *end <= now)
    }

    /// Removes expired ones, at most `limit`.
    pub(super) fn purge(&mut self, now: DateTime<Utc>, limit: u32) -> u64 {
        let mut removed = 0;
        while removed < u64::from(limit)
            && self.has_expired(now)
            && let Some((_, id)) = self.expiring.pop_first()
            && let Some(event) = self.all.remove(&id)
        {
            let place = (event.name, event.key);
            if let Some(of_place) = self.published.get_mut(&place) {
                of_place.remove(&(event.published_at, id));
                if of_place.is_empty() {
                    self.published.remove(&place);
                }
            }
            removed += 1;
        }
        removed
    }
}

pub(super) fn publish(memory: &Memory, events: &[NewEvent], tx: Option<Tx<'_>>) -> Result<Vec<Published>, Error> {
    let mut tx = tx.map(|tx| Transaction::of(memory, tx)).transpose()?;
    let (mut store, now) = memory.lock();
    let mut answers = Vec::with_capacity(events.len());
    for event in events {
        let open = tx.as_ref().and_then(|tx| tx.event(event.id));
        let event = match store.events.get(event.id).or(open) {
            Some(known) => known.clone(),
            None => {
                let event = published(event, now);
                match &mut tx {
                    Some(tx) => tx.add_event(event.clone()),
                    None => store.publish(event.clone(), now),
                }
                event
            }
        };
        answers.push(Published { id: event.id, published_at: event.published_at, expires_at: event.expires_at });
    }
    Ok(answers)
}

fn published(event: &NewEvent, now: DateTime<Utc>) -> EventRecord {
    let NewEvent { id, name, key, tenant, payload, ttl } = event.clone();
    EventRecord { id, name, key, tenant, payload, published_at: now, expires_at: clock::after(now, ttl) }
}
