//! What operators look at, and the requeue. Upstream: `mod`. Downstream: `store`.

use super::{Memory, enqueue, row::Row};
use crate::{
    driver::{JobRecord, KindCount, ListFilter},
    error::{Error, code},
    id::JobId,
    spec::Hold,
    state::State,
};
use std::collections::{BTreeMap, HashSet};

/// A requeued job takes its unique key again, if its end or first claim had freed it.
pub(super) async fn requeue(memory: &Memory, job: JobId) -> Result<(), Error> {
    let stored = memory.lock().0.get(job).map(|row| row.new.clone());
    let stored = stored.ok_or_else(|| Error::new(code::JOB_NOT_FOUND, format!("no job {job} is stored")))?;
    let (mut store, now) = enqueue::lock_settled(memory, [&stored], None).await?;
    let state = store.get(job).map(|row| row.state);
    if state != Some(State::Dead) {
        let state = state.map_or("gone", State::as_str);
        return Err(Error::new(code::JOB_STATE_REFUSED, format!("job {job} is {state}; only a dead one is requeued")));
    }
    if let Some(unique) = stored.unique.filter(|unique| matches!(unique.hold, Hold::Live | Hold::Queued)) {
        match store.keys.holder(&unique.key, now) {
            Some(holder) => return Err(enqueue::duplicate(&stored, &holder)),
            None => store.keys.take(&stored, now, None),
        }
    }
    if let Some(mut row) = store.take(job) {
        row.start_over(now);
        store.put(row);
        store.teller.queue(&stored.queue);
    }
    Ok(())
}

pub(super) fn list(memory: &Memory, filter: &ListFilter) -> Vec<JobRecord> {
    let (store, _) = memory.lock();
    let limit = if filter.limit == 0 { 100 } else { filter.limit.min(200) };
    let matches = |row: &&Row| {
        filter.state.is_none_or(|state| row.state == state)
            && filter.queue.as_ref().is_none_or(|queue| row.new.queue == *queue)
            && filter.kind.as_ref().is_none_or(|kind| row.new.kind == *kind)
            && filter.tenant.as_ref().is_none_or(|tenant| row.new.tenant.as_ref() == Some(tenant))
            && filter.parked.is_none_or(|parked| row.parked.is_some() == parked)
    };
    let newest = |rows: &mut dyn DoubleEndedIterator<Item = &Row>| {
        rows.rev().filter(matches).take(limit as usize).map(Row::record).collect()
    };
    match filter.before {
        Some(id) => newest(&mut store.before(id)),
        None => newest(&mut store.jobs()),
    }
}

pub(super) fn counts(memory: &Memory) -> Vec<KindCount> {
    let (store, now) = memory.lock();
    let current = store.workers.values().filter(|worker| !worker.has_lapsed(now));
    let served: HashSet<(&str, &str)> = current
        .flat_map(|worker| {
            worker.queues.iter().flat_map(|(queue, _)| worker.kinds.iter().map(|kind| (&**queue, &*kind.name)))
        })
        .collect();
    let mut counts: BTreeMap<(&str, &str, State), u64> = BTreeMap::new();
    for row in store.jobs().filter(|row| !row.state.is_final() || row.state == State::Dead) {
        *counts.entry((&row.new.queue, &row.new.kind, row.state)).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|((queue, kind, state), jobs)| KindCount {
            queue: queue.to_owned(),
            kind: kind.to_owned(),
            state,
            jobs,
            has_worker: served.contains(&(queue, kind)),
        })
        .collect()
}
