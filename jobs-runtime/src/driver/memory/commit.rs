//! Applies a worker's writes, each under its fence. Upstream: `mod`. Downstream: `store`, `enqueue`.

use super::{Memory, enqueue, row::Row, store::Store};
use crate::{
    clock,
    driver::{Change, Fence, Finish, Park, Reschedule, StepWrite, WorkerId, Write, Written},
    error::{Error, code},
    state::State,
};
use chrono::{DateTime, Utc};
use std::time::Duration;
use tokio::time::timeout;

/// The longest wait for a follow-up's key that an open transaction holds: as long as the Postgres driver's.
const KEY: Duration = Duration::from_secs(1);

pub(super) async fn commit(memory: &Memory, worker: WorkerId, writes: &[Write]) -> Result<Vec<Written>, Error> {
    let inserted = writes.iter().filter_map(|write| match &write.change {
        Change::Finish(finish) => finish.follow_up.as_deref(),
        Change::Step(step) => step.child.as_deref(),
        Change::Reschedule(_) | Change::Progress(_) | Change::Park(_) | Change::Unwind(_) => None,
    });
    let (mut store, now) = match timeout(KEY, enqueue::lock_settled(memory, inserted, None)).await {
        Ok(locked) => locked?,
        Err(_) => {
            let detail = "an open transaction holds the unique key of a follow-up or a child";
            return Err(Error::new(code::STORE_UNAVAILABLE, detail));
        }
    };
    let written = writes
        .iter()
        .map(|write| match take_held(&mut store, worker, &write.fence, now) {
            Some(row) => apply(&mut store, row, &write.change, now),
            None => Written::Stale,
        })
        .collect();
    Ok(written)
}

/// Takes a job out whose claim the fence names, unless its worker's lease has lapsed.
pub(super) fn take_held(store: &mut Store, worker: WorkerId, fence: &Fence, now: DateTime<Utc>) -> Option<Row> {
    store.current(worker, now).ok()?;
    let owns = |row: &Row| row.fence() == Some(*fence) && row.held.is_some_and(|held| held.worker == worker);
    store.get(fence.job).filter(|row| owns(row))?;
    store.take(fence.job)
}

fn apply(store: &mut Store, mut row: Row, change: &Change, now: DateTime<Utc>) -> Written {
    match change {
        Change::Finish(finish) => {
            end(store, row, finish, now);
            return Written::Landed;
        }
        Change::Reschedule(reschedule) => return again(store, row, reschedule, now),
        Change::Park(park) => return self::park(store, row, park, now),
        Change::Step(step) => {
            let written = step_and_child(store, &mut row, step, now);
            store.put(row);
            return written;
        }
        Change::Progress(progress) => row.progress = Some(progress.clone()),
        Change::Unwind(unwind) => {
            for step in &unwind.records {
                row.record_step(step, now);
            }
            row.unwind(&unwind.failure, now);
        }
    }
    store.put(row);
    Written::Landed
}

fn end(store: &mut Store, mut row: Row, finish: &Finish, now: DateTime<Utc>) {
    row.output.clone_from(&finish.output);
    row.failure.clone_from(&finish.failure);
    store.end(row, finish.state, now, finish.keep);
    if let Some(job) = &finish.follow_up {
        enqueue::insert_follow_up(store, job, now);
    }
}

fn again(store: &mut Store, mut row: Row, reschedule: &Reschedule, now: DateTime<Utc>) -> Written {
    if reschedule.failure.is_some() {
        row.failure.clone_from(&reschedule.failure);
    }
    let mut row = match store.put_as_asked(row, now, reschedule.keep) {
        Ok(state) => return asked(state),
        Err(row) => *row,
    };
    row.attempt = reschedule.attempt;
    if reschedule.delay.is_zero() {
        store.put_ready(row, now);
    } else {
        row.make_delayed(clock::after(now, reschedule.delay));
        store.teller.queue(&row.new.queue);
        store.put(row);
    }
    Written::Landed
}

fn park(store: &mut Store, row: Row, park: &Park, now: DateTime<Utc>) -> Written {
    if let Some(error) = park.records.iter().find_map(|step| row.stage.refusal(step)) {
        store.put(row);
        return Written::Refused(error);
    }
    let mut row = match store.put_as_asked(row, now, park.keep) {
        Ok(state) => return asked(state),
        Err(row) => *row,
    };
    for step in &park.records {
        row.record_step(step, now);
    }
    row.crashes = 0;
    let is_due = park.due_at.is_some_and(|due| due <= now);
    if is_due || park.waits.iter().any(|wait| store.has_happened(&row, wait, now)) {
        store.put_ready(row, now);
    } else {
        row.suspend(park.due_at, park.waits.clone(), park.reason.clone());
        store.put(row);
    }
    Written::Landed
}

/// What a worker learns of a job that went where it was asked to.
fn asked(state: State) -> Written {
    if state == State::Cancelled { Written::Cancelled } else { Written::Landed }
}

/// Records a step, with the child that it spawns, on a job that was taken out.
fn step_and_child(store: &mut Store, row: &mut Row, step: &StepWrite, now: DateTime<Utc>) -> Written {
    if let Some(error) = row.stage.refusal(step) {
        return Written::Refused(error);
    }
    if let Some(child) = &step.child {
        if row.asked.is_some() {
            return Written::Cancelled;
        }
        // Written again, because its answer was lost.
        if row.steps.spawn_of(child.id).is_some() {
            return Written::Landed;
        }
        match child.unique.and_then(|unique| store.keys.holder(&unique.key, now)) {
            Some(holder) => return Written::Refused(enqueue::duplicate(child, &holder)),
            None => enqueue::insert(store, vec![Row::new(child, now)], now),
        }
    }
    row.record_step(step, now);
    Written::Landed
}
