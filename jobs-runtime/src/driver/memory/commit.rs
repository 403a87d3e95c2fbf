//! Applies a worker's writes, each under its fence. Upstream: `mod`. Downstream: `store`, `enqueue`.

use super::{Memory, enqueue, row::Row, store::Store};
use crate::{
    clock,
    driver::{Change, Fence, Finish, Reschedule, WorkerId, Write, Written},
    error::{Error, code},
    state::State,
};
use chrono::{DateTime, Utc};
use std::time::Duration;
use tokio::time::timeout;

/// The longest wait for a follow-up's key that an open transaction holds: as long as the Postgres driver's.
const KEY: Duration = Duration::from_secs(1);

pub(super) async fn commit(memory: &Memory, worker: WorkerId, writes: &[Write]) -> Result<Vec<Written>, Error> {
    let follow_ups = writes.iter().filter_map(|write| match &write.change {
        Change::Finish(finish) => finish.follow_up.as_deref(),
        _ => None,
    });
    let (mut store, now) = match timeout(KEY, enqueue::lock_settled(memory, follow_ups, None)).await {
        Ok(locked) => locked?,
        Err(_) => {
            let detail = "an open transaction holds the unique key of a follow-up";
            return Err(Error::new(code::STORE_UNAVAILABLE, detail));
        }
    };
    let alive = store.current(worker, now).is_ok();
    let fenced = |store: &mut Store, fence: &Fence| {
        let owns = |row: &Row| row.fence() == Some(*fence) && row.held.is_some_and(|held| held.worker == worker);
        (alive && store.get(fence.job).is_some_and(owns)).then(|| store.take(fence.job)).flatten()
    };
    let written = writes
        .iter()
        .map(|write| match fenced(&mut store, &write.fence) {
            Some(row) => apply(memory, &mut store, row, &write.change, now),
            None => Written::Stale,
        })
        .collect();
    Ok(written)
}

fn apply(memory: &Memory, store: &mut Store, mut row: Row, change: &Change, now: DateTime<Utc>) -> Written {
    match change {
        Change::Finish(finish) => {
            end(memory, store, row, finish, now);
            Written::Landed
        }
        Change::Reschedule(reschedule) => again(memory, store, row, reschedule, now),
        Change::Progress(progress) => {
            row.progress = Some(progress.clone());
            store.put(row);
            Written::Landed
        }
        Change::Step(_) | Change::Park(_) | Change::Unwind(_) => {
            store.put(row);
            Written::Refused(Error::new(code::DRIVER_UNSUPPORTED, "not built yet"))
        }
    }
}

fn end(memory: &Memory, store: &mut Store, mut row: Row, finish: &Finish, now: DateTime<Utc>) {
    row.output.clone_from(&finish.output);
    if finish.failure.is_some() {
        row.failure.clone_from(&finish.failure);
    }
    store.end(row, finish.state, now, finish.keep);
    if let Some(job) = &finish.follow_up {
        enqueue::insert_follow_up(memory, store, job, now);
    }
}

fn again(memory: &Memory, store: &mut Store, mut row: Row, reschedule: &Reschedule, now: DateTime<Utc>) -> Written {
    if reschedule.failure.is_some() {
        row.failure.clone_from(&reschedule.failure);
    }
    if row.cancel_requested {
        store.end(row, State::Cancelled, now, reschedule.keep);
        return Written::Cancelled;
    }
    row.attempt = reschedule.attempt;
    if reschedule.delay.is_zero() {
        row.make_ready(now);
    } else {
        row.make_delayed(clock::after(now, reschedule.delay));
    }
    memory.0.teller.queue(&row.new.queue);
    store.put(row);
    Written::Landed
}
