//! Cancels jobs and rolls them back, and the children that they have. Upstream: `mod`. Downstream: `store`.

use super::{
    Memory,
    row::{Asked, Row},
    store::Store,
};
use crate::{
    driver::{CancelAnswer, Stage},
    error::{Error, code},
    failure::RecordedFailure,
    id::JobId,
    spec::Keep,
    state::State,
};
use chrono::{DateTime, Utc};

pub(super) fn cancel(memory: &Memory, job: JobId) -> CancelAnswer {
    let (mut store, now) = memory.lock();
    for below in below(&store, job, |_| true).into_iter().rev() {
        cancel_one(&mut store, below, now);
    }
    cancel_one(&mut store, job, now)
}

pub(super) fn roll_back(memory: &Memory, job: JobId) -> Result<CancelAnswer, Error> {
    let (mut store, now) = memory.lock();
    if store.get(job).is_some_and(|row| is_over(row).is_none() && row.stage == Stage::PastPivot) {
        let detail = format!("job {job} is past its pivot; it goes forward and is never undone");
        return Err(Error::new(code::JOB_STATE_REFUSED, detail));
    }
    for below in below(&store, job, |row| row.stage != Stage::PastPivot).into_iter().rev() {
        roll_back_one(&mut store, below, now);
    }
    Ok(roll_back_one(&mut store, job, now))
}

/// The children of a job that have not ended, and theirs, each behind its parent. To be gone through from the end, so
/// that a parent that ends takes the ends of its children along.
fn below(store: &Store, job: JobId, is_stopped: impl Fn(&Row) -> bool) -> Vec<JobId> {
    let mut runs = vec![job];
    let mut next = 0;
    while let Some(run) = runs.get(next) {
        if let Some(row) = store.get(*run)
            && is_over(row).is_none()
            && is_stopped(row)
        {
            runs.extend(row.steps.live_children());
        }
        next += 1;
    }
    runs.split_off(1)
}

fn cancel_one(store: &mut Store, job: JobId, now: DateTime<Utc>) -> CancelAnswer {
    let Some(row) = store.get(job) else { return CancelAnswer::NotFound };
    match (is_over(row), row.held) {
        (Some(answer), _) => answer,
        (None, Some(_)) => ask(store, job, Asked::Cancel),
        (None, None) => end(store, job, now),
    }
}

/// Rolls one job back. One that is past its pivot goes on.
fn roll_back_one(store: &mut Store, job: JobId, now: DateTime<Utc>) -> CancelAnswer {
    let Some(row) = store.get(job) else { return CancelAnswer::NotFound };
    if let Some(answer) = is_over(row) {
        return answer;
    }
    match (row.stage, row.held) {
        (Stage::PastPivot, _) => CancelAnswer::Asked,
        (_, Some(_)) => ask(store, job, Asked::RollBack),
        (Stage::Fresh, None) => end(store, job, now),
        (Stage::Recorded | Stage::Unwinding, None) => unwind(store, job, now),
    }
}

/// The answer about a job that has ended, or that undoes its steps or was asked to: nothing is changed about it.
fn is_over(row: &Row) -> Option<CancelAnswer> {
    if row.state.is_final() {
        return Some(CancelAnswer::AlreadyFinal(row.state));
    }
    (row.stage == Stage::Unwinding || row.asked == Some(Asked::RollBack)).then_some(CancelAnswer::Asked)
}

/// Asks a running job's worker.
fn ask(store: &mut Store, job: JobId, asked: Asked) -> CancelAnswer {
    let held = store.get_mut(job).and_then(|row| {
        row.ask(asked);
        row.held
    });
    if let Some(held) = held {
        store.teller.asked(asked, held.worker, job);
    }
    CancelAnswer::Asked
}

/// Ends a waiting job.
fn end(store: &mut Store, job: JobId, now: DateTime<Utc>) -> CancelAnswer {
    if let Some(row) = store.take(job) {
        store.end(row, State::Cancelled, now, Keep::DEFAULT);
    }
    CancelAnswer::Cancelled
}

/// Lets a waiting job unwind, from now on.
fn unwind(store: &mut Store, job: JobId, now: DateTime<Utc>) -> CancelAnswer {
    if let Some(row) = store.get_mut(job) {
        row.unwind(&RecordedFailure::rolled_back(), now);
        // One that is ready keeps its place.
        if row.state != State::Ready
            && let Some(row) = store.take(job)
        {
            store.put_ready(row, now);
        }
    }
    CancelAnswer::Asked
}
