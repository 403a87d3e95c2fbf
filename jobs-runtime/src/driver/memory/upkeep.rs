//! Moves what is due, takes back what dead workers held, removes what is over. Upstream: `mod`. Downstream: `store`.

use super::{
    Memory,
    lease::{Crashed, hand_back},
    store::Store,
};
use crate::{
    driver::{Outlook, Promoted, Rescued, WorkerId},
    id::JobId,
    state::State,
};
use chrono::{DateTime, Utc};
use std::time::Duration;

pub(super) fn promote(memory: &Memory, limit: u32) -> Promoted {
    let (mut store, now) = memory.lock();
    let mut moved = 0;
    while moved < limit
        && let Some((_, id)) = store.first_due().filter(|(due, _)| *due <= now)
        && let Some(row) = store.take(id)
    {
        store.put_ready(row, now);
        moved += 1;
    }
    Promoted { moved, next_due: next_due(&store, now) }
}

pub(super) fn look(memory: &Memory, queues: &[String]) -> Outlook {
    let (store, now) = memory.lock();
    Outlook {
        ready: queues.iter().filter(|queue| store.ready(queue).next().is_some()).cloned().collect(),
        next_due: next_due(&store, now),
        lapsed: store.workers.values().any(|worker| worker.has_lapsed(now)),
        unwoken: false,
        expired_events: store.events.has_expired(now),
    }
}

/// How long until the next waiting job is due.
fn next_due(store: &Store, now: DateTime<Utc>) -> Option<Duration> {
    store.first_due().map(|(due, _)| (due - now).to_std().unwrap_or_default())
}

pub(super) fn rescue(memory: &Memory) -> Rescued {
    let (mut store, now) = memory.lock();
    let lapsed: Vec<WorkerId> =
        store.workers.iter().filter(|(_, worker)| worker.has_lapsed(now)).map(|(id, _)| *id).collect();
    let mut rescued = Rescued { workers: lapsed.len() as u32, ..Rescued::default() };
    for worker in lapsed {
        store.workers.remove(&worker);
        for job in store.held_by(worker) {
            match hand_back(&mut store, job, now, Crashed::Yes) {
                Some(State::Cancelled) => rescued.cancelled += 1,
                _ => rescued.jobs += 1,
            }
        }
    }
    rescued
}

pub(super) fn purge(memory: &Memory, limit: u32) -> u64 {
    let (mut store, now) = memory.lock();
    let limit = limit as usize;
    let over: Vec<JobId> = store
        .jobs()
        .filter(|row| row.keep_until.is_some_and(|until| until <= now))
        .map(|row| row.new.id)
        .take(limit)
        .collect();
    for job in &over {
        store.take(*job);
    }
    over.len() as u64 + store.keys.purge(now, limit - over.len())
}
