//! Judges how a saga ended: the sentence of the contract, checked word by word.

use crate::{
    saga::{COMPENSATED, End, OUTPUT, Trip},
    world::Effect,
};
use jobs::{
    JobId, State,
    driver::{JobRecord, ListFilter, StepKind, StepRecord, StepStatus},
    error::code,
    testing::{Faults, conformance::Fixture},
};

/// What does not hold, in words.
type Broken = String;

macro_rules! hold {
    ($what:expr, $($text:tt)*) => {
        if !$what {
            return Err(format!($($text)*));
        }
    };
}

/// Judges a trip and its legs.
pub(crate) async fn judge(
    store: &dyn Fixture,
    trip: &Trip,
    failing: Option<(&'static str, u32)>,
    record: &JobRecord,
    faults: &Faults,
) -> Result<(), Broken> {
    let broken = trip.ledger.broken();
    hold!(broken.is_empty(), "{broken:?}");
    let steps = store.driver().steps(trip.job).await.expect("the steps are listed");
    let faultless = faults.is_empty();
    judge_run(record, &steps, &trip.ledger.effects(), faults, failing)?;
    judge_ledger(store, trip.job, &steps).await?;
    let stuck = record.failure.as_ref().is_some_and(|failure| failure.code == code::JOB_COMPENSATION_FAILED.name);
    let mut children = Vec::new();
    for child in steps.iter().filter_map(|step| step.child) {
        let Some(leg) = store.driver().find(child).await.expect("a find answers") else {
            return Err(format!("child {child} is gone"));
        };
        let steps = store.driver().steps(child).await.expect("the steps are listed");
        judge_run(&leg, &steps, &trip.ledger.effects(), faults, failing)?;
        // One that nobody undid goes on; it is over before its parent is, where the parent unwound.
        hold!(leg.state.is_final(), "child {child} is {} and its parent has ended", leg.state);
        children.push(child);
    }
    judge_children_first(trip.job, &children, &trip.ledger.effects())?;
    match trip.end {
        End::Completes if faultless => {
            hold!(record.state == State::Completed, "it should have completed");
            hold!(record.output.as_ref().is_some_and(|output| output.as_str() == OUTPUT), "another output");
        }
        End::Fails | End::Brittle if faultless => {
            let code = record.failure.as_ref().map(|failure| &*failure.code);
            let spent = failing.is_some_and(|(_, times)| times >= 4);
            let expected = if spent { code::JOB_COMPENSATION_FAILED.name } else { "X_TEST_SOLD_OUT" };
            hold!(record.state == State::Dead && code == Some(expected), "it should be dead of {expected}");
        }
        End::RolledBack if faultless => hold!(record.state == State::Cancelled || stuck, "it should be cancelled"),
        _ => {}
    }
    Ok(())
}

/// Each completed forward step is undone once, in reverse start order; or the run is dead with the list.
fn judge_run(
    record: &JobRecord,
    steps: &[StepRecord],
    effects: &[Effect],
    faults: &Faults,
    failing: Option<(&'static str, u32)>,
) -> Result<(), Broken> {
    let run = record.id;
    let is_compensated = |step: &&StepRecord| COMPENSATED.contains(&&*step.id.name);
    let done: Vec<&str> = steps
        .iter()
        .filter(|step| step.kind.is_forward() && step.status == StepStatus::Done)
        .filter(is_compensated)
        .map(|step| &*step.id.name)
        .collect();
    let undone: Vec<&str> = steps
        .iter()
        .filter(|step| step.kind == StepKind::Undo && step.status == StepStatus::Done)
        .map(|step| &*step.id.name)
        .collect();
    let mine: Vec<&Effect> = effects.iter().filter(|effect| effect.run == run).collect();
    let mut reversed = done.clone();
    reversed.reverse();
    let unwound_from = steps.iter().find(|step| step.kind == StepKind::Unwind).and_then(|step| step.failure.as_ref());
    match (record.state, record.failure.as_ref(), unwound_from) {
        (State::Completed, _, None) => {
            hold!(undone.is_empty(), "run {run} completed and undid {undone:?}");
            hold!(!mine.iter().any(|effect| effect.undo), "run {run} completed and something was undone");
        }
        (State::Dead, Some(failure), Some(from)) if failure.code == code::JOB_COMPENSATION_FAILED.name => {
            hold!(from.code != failure.code, "the failure that it unwound from is lost");
            hold!(failure.operator.contains(&*from.operator), "`{}` lacks `{}`", failure.operator, from.operator);
            for step in &done {
                hold!(failure.operator.contains(step), "`{}` does not list `{step}`", failure.operator);
            }
            hold!(undone == reversed[..undone.len()], "run {run} undid {undone:?} of {done:?}");
        }
        (State::Dead | State::Cancelled, Some(failure), Some(from)) => {
            hold!(undone == reversed, "run {run} undid {undone:?} of {done:?}");
            hold!(failure == from, "run {run} kept {failure:?}, and unwound from {from:?}");
        }
        // Nothing was recorded, so there was nothing to undo.
        (State::Dead | State::Cancelled, _, None) if done.is_empty() => {}
        (State::Cancelled, _, _) => hold!(done.is_empty(), "run {run} was cancelled and left {done:?}"),
        (state, failure, from) => return Err(format!("run {run} is {state} of {failure:?} from {from:?}")),
    }
    judge_effects(&mine, &done, &undone, faults, failing)
}

/// An effect is had once, and once more for each fault at most, under the same key; what is undone goes backwards.
fn judge_effects(
    mine: &[&Effect],
    done: &[&str],
    undone: &[&str],
    faults: &Faults,
    failing: Option<(&'static str, u32)>,
) -> Result<(), Broken> {
    for effect in mine {
        let same: Vec<_> = mine.iter().filter(|it| it.step == effect.step && it.undo == effect.undo).collect();
        let most = if effect.step == "charge" && !effect.undo { 1 } else { 1 + faults.len() };
        hold!(same.len() <= most, "`{}` has had {} effects", effect.step, same.len());
        hold!(same.iter().all(|it| it.key == effect.key), "`{}` has had effects under two keys", effect.step);
    }
    for step in done.iter().filter(|step| **step != "book") {
        hold!(mine.iter().any(|it| it.step == *step && !it.undo), "`{step}` is recorded and had no effect");
    }
    let mut order: Vec<&str> = mine.iter().filter(|it| it.undo).map(|it| it.step).collect();
    order.dedup();
    let tried = order.iter().filter(|step| !undone.contains(step)).count();
    // The last one may have been undone, and its record was lost with the process.
    hold!(tried <= 1 && order.len() - tried == undone.len(), "undone in effect: {order:?}, on record: {undone:?}");
    hold!(order.starts_with(undone), "undone in effect: {order:?}, on record: {undone:?}; {failing:?}");
    Ok(())
}

/// What only a transaction writes is there as often as its record says: once or not at all.
async fn judge_ledger(store: &dyn Fixture, run: JobId, steps: &[StepRecord]) -> Result<(), Broken> {
    let filter = ListFilter { kind: Some("crashes.booking".to_owned()), ..ListFilter::default() };
    let bookings = store.driver().list(filter).await.expect("a list answers");
    let booked = bookings.iter().filter(|booking| booking.payload.as_str().contains(&run.to_string())).count();
    let recorded = steps.iter().filter(|step| step.kind == StepKind::StepTx && step.status == StepStatus::Done).count();
    hold!(booked == recorded, "{booked} bookings, {recorded} on record");
    Ok(())
}

/// Nothing of a parent is undone before its children are.
fn judge_children_first(parent: JobId, children: &[JobId], effects: &[Effect]) -> Result<(), Broken> {
    let first = effects.iter().position(|effect| effect.undo && effect.run == parent).unwrap_or(effects.len());
    let late = effects[first..].iter().find(|effect| effect.undo && children.contains(&effect.run));
    hold!(late.is_none(), "a child was undone after its parent: {late:?}");
    Ok(())
}
