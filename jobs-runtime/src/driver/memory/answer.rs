//! Applies what an operator says about a run that cannot go on by itself. Upstream: `mod`. Downstream: `store`, `steps`.

use super::{Memory, row::Row, store::Store};
use crate::{
    driver::{Operation, Resolution, Stage, StepKind, StepRef, StepStatus, StepWrite},
    error::{Error, code},
    failure::RecordedFailure,
    id::JobId,
    state::State,
};
use chrono::{DateTime, Utc};

pub(super) fn operate(memory: &Memory, job: JobId, operation: &Operation) -> Result<(), Error> {
    let (mut store, now) = memory.lock();
    let row = store.get_mut(job).ok_or_else(|| Error::new(code::JOB_NOT_FOUND, format!("no job {job} is stored")))?;
    match (operation, row.state, row.stage) {
        (Operation::Resolve(step, resolution), State::Suspended, _) => {
            resolve(row, step, resolution, now)?;
            go_on(&mut store, job, now);
        }
        (Operation::Resolve(step, resolution), State::Dead, _) => resolve(row, step, resolution, now)?,
        (Operation::Resume, State::Suspended, _) => go_on(&mut store, job, now),
        (Operation::Resume, State::Dead, Stage::Unwinding) => {
            row.unwind_further();
            go_on(&mut store, job, now);
        }
        (Operation::SkipUndo(step), State::Dead, Stage::Unwinding) => answer(row, step, StepStatus::Skipped, now)?,
        (Operation::MarkUndone(step), State::Dead, Stage::Unwinding) => answer(row, step, StepStatus::Done, now)?,
        (operation, state, _) => {
            let allowed = match operation {
                Operation::Resolve(..) => "only a suspended or dead run is answered for",
                Operation::Resume => "only a suspended run is resumed, or a dead one that unwound in part",
                Operation::SkipUndo(_) | Operation::MarkUndone(_) => {
                    "only of a dead run that unwound in part is a compensation answered for"
                }
            };
            return Err(Error::new(code::JOB_STATE_REFUSED, format!("job {job} is {state}; {allowed}")));
        }
    }
    Ok(())
}

/// Makes it ready now.
fn go_on(store: &mut Store, job: JobId, now: DateTime<Utc>) {
    if let Some(row) = store.take(job) {
        store.put_ready(row, now);
    }
}

/// Answers for a `once` step that left no result, or failed.
fn resolve(row: &mut Row, step: &StepRef, resolution: &Resolution, now: DateTime<Utc>) -> Result<(), Error> {
    // An answer that does not fit the code is taken back.
    let is_unfit = row.parked.as_ref().is_some_and(|reason| reason.code == code::STEP_MISMATCH.name);
    let open = |status| match status {
        StepStatus::Started | StepStatus::Failed => true,
        StepStatus::Done => is_unfit,
        _ => false,
    };
    let record = row.steps.get(step, StepKind::Step).filter(|record| record.once && open(record.status));
    let record = record.ok_or_else(|| not_found(step, "no `once` step that began without a result or failed"))?;
    match resolution {
        Resolution::Done(output) => {
            record.status = StepStatus::Done;
            (record.output, record.failure) = (Some(output.clone()), None);
        }
        Resolution::Failed(text) => {
            record.status = StepStatus::Failed;
            (record.output, record.failure) = (None, Some(RecordedFailure::resolved(text)));
        }
        Resolution::Again => {
            row.steps.remove(step);
            return Ok(());
        }
    }
    record.finished_at = Some(now);
    Ok(())
}

/// Answers for a compensation that is not over.
fn answer(row: &mut Row, step: &StepRef, status: StepStatus, now: DateTime<Utc>) -> Result<(), Error> {
    let position = row.steps.next_position();
    let over = |status| matches!(status, StepStatus::Done | StepStatus::Skipped);
    let began = row.steps.get(step, StepKind::Step).is_some();
    let undo = row.steps.get(step, StepKind::Undo).map(|record| (record.status, record.tries));
    if !began || undo.is_some_and(|(status, _)| over(status)) {
        return Err(not_found(step, "no step that is yet to be undone"));
    }
    let mut write = StepWrite::new(step.clone(), StepKind::Undo, status, position);
    write.tries = undo.map_or(0, |(_, tries)| tries);
    row.steps.write(&write, row.attempt, now);
    Ok(())
}

fn not_found(step: &StepRef, what: &str) -> Error {
    let key = if step.key.is_empty() { String::new() } else { format!("[{}]", step.key) };
    Error::new(code::STEP_NOT_FOUND, format!("the run has {what} under the name `{}{key}`", step.name))
}
