//! Gives ready jobs to a worker. Upstream: `mod`. Downstream: `store`, `row`.

use super::{
    Memory,
    row::{Held, Row},
    store::Store,
};
use crate::{
    driver::{Claim, Claimed, Fence, KnownKind, WorkerId},
    error::Error,
};
#[cfg(feature = "testing")]
use crate::{id::JobId, state::State};
use chrono::{DateTime, Utc};
use std::collections::HashMap;

pub(super) fn claim(memory: &Memory, claim: &Claim) -> Result<Vec<Claimed>, Error> {
    let (mut store, now) = memory.lock();
    store.current(claim.worker, now)?;
    let newest: HashMap<&str, u16> =
        claim.kinds.iter().map(|KnownKind { name, version, .. }| (&**name, *version)).collect();
    let mut chosen = Vec::new();
    for (queue, limit) in &claim.queues {
        let known =
            store.ready(queue).filter(|row| newest.get(&*row.new.kind).is_some_and(|top| row.new.version <= *top));
        chosen.extend(known.take(*limit as usize).map(|row| (row.new.priority, row.ready.1, row.new.id)));
    }
    chosen.sort_unstable();
    let mut claimed = Vec::with_capacity(chosen.len());
    for (_, _, id) in chosen {
        if let Some(row) = store.take(id) {
            claimed.push(give(&mut store, row, claim.worker, now));
        }
    }
    Ok(claimed)
}

/// Gives a job that was taken out to a worker.
fn give(store: &mut Store, mut row: Row, worker: WorkerId, now: DateTime<Utc>) -> Claimed {
    let claimed = row.claim(Held { worker, token: store.new_token(), since: now });
    store.keys.claimed(&row.new);
    store.put(row);
    claimed
}

#[cfg(feature = "testing")]
pub(super) fn claim_job(memory: &Memory, worker: WorkerId, job: JobId) -> Option<Claimed> {
    let (mut store, now) = memory.lock();
    let mut row = store.take(job)?;
    match row.state {
        State::Ready => {}
        State::Delayed | State::Suspended => row.make_ready(now),
        _ => {
            store.put(row);
            return None;
        }
    }
    Some(give(&mut store, row, worker, now))
}

pub(super) fn held(memory: &Memory, worker: WorkerId) -> Vec<Fence> {
    let store = memory.lock().0;
    let rows = store.held_by(worker).into_iter().filter_map(|job| store.get(job));
    rows.filter_map(Row::fence).collect()
}
