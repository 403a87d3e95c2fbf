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
    let (answer, children) = cancel_one(&mut store, job, now);
    each_below(children, |child| cancel_one(&mut store, child, now).1);
    answer
}

pub(super) fn roll_back(memory: &Memory, job: JobId) -> Result<CancelAnswer, Error> {
    let (mut store, now) = memory.lock();
    let (answer, children) = roll_back_one(&mut store, job, now)?;
    // A child that is past its pivot goes on.
    each_below(children, |child| roll_back_one(&mut store, child, now).map(|(_, below)| below).unwrap_or_default());
    Ok(answer)
}

/// Visits jobs and all below them, each before those that it names.
fn each_below(mut open: Vec<JobId>, mut visit: impl FnMut(JobId) -> Vec<JobId>) {
    while let Some(job) = open.pop() {
        open.extend(visit(job));
    }
}

/// Cancels one job. Names the children to go on with.
fn cancel_one(store: &mut Store, job: JobId, now: DateTime<Utc>) -> (CancelAnswer, Vec<JobId>) {
    let Some(row) = store.get(job) else { return (CancelAnswer::NotFound, Vec::new()) };
    if let Some(answer) = is_over(row) {
        return (answer, Vec::new());
    }
    let children = row.steps.live_children();
    let answer = match row.held {
        Some(_) => ask(store, job, Asked::Cancel),
        None => end(store, job, now),
    };
    (answer, children)
}

/// Rolls one job back. Names the children to go on with.
fn roll_back_one(store: &mut Store, job: JobId, now: DateTime<Utc>) -> Result<(CancelAnswer, Vec<JobId>), Error> {
    let Some(row) = store.get(job) else { return Ok((CancelAnswer::NotFound, Vec::new())) };
    if let Some(answer) = is_over(row) {
        return Ok((answer, Vec::new()));
    }
    let children = row.steps.live_children();
    let answer = match (row.stage, row.held) {
        (Stage::PastPivot, _) => {
            let detail = format!("job {job} is past its pivot; it goes forward and is never undone");
            return Err(Error::new(code::JOB_STATE_REFUSED, detail));
        }
        (_, Some(_)) => ask(store, job, Asked::RollBack),
        (Stage::Fresh, None) => end(store, job, now),
        (Stage::Recorded | Stage::Unwinding, None) => unwind(store, job, now),
    };
    Ok((answer, children))
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
