//! Gives ready jobs to a worker. Upstream: `mod`. Downstream: `store`, `row`.

use super::{
    Memory,
    row::{Held, Row},
};
use crate::{
    driver::{Claim, Claimed, Fence, KnownKind, WorkerId},
    error::Error,
};
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
        let token = store.new_token();
        if let Some(mut row) = store.take(id) {
            claimed.push(row.claim(Held { worker: claim.worker, token, since: now }));
            store.keys.claimed(&row.new);
            store.put(row);
        }
    }
    Ok(claimed)
}

pub(super) fn held(memory: &Memory, worker: WorkerId) -> Vec<Fence> {
    let store = memory.lock().0;
    let rows = store.held_by(worker).into_iter().filter_map(|job| store.get(job));
    rows.filter_map(Row::fence).collect()
}
