//! Says what an unwinding run has undone, what is due next, and what it must stop for. Pure.

use super::account::label;
use crate::{
    driver::{StepKind, StepRecord, StepRef, StepStatus},
    error::code,
    id::JobId,
    json::JsonText,
    state::State,
};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// What is known of a step's effect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// It took effect and left this output.
    Done(Option<JsonText>),
    /// It began and left no result: it may have taken effect.
    Possible,
}

/// A step that has, had or should have a compensation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The step, by the name in its record.
    pub(crate) step: StepRef,
    pub(crate) standing: Standing,
}

/// How a step's compensation stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    /// It has run.
    Undone,
    /// It is not to run.
    Skipped,
    /// It is to run, after so many tries that failed.
    Due { effect: Effect, tries: u32 },
    /// The job's code compensates the step, but the replay ended before it said how.
    Lost,
}

/// The compensations of a run in the order in which they are due: the step that started last comes first.
///
/// `registered` holds the steps, by the names in their records, whose compensations the replay registered, and whether
/// each is `always`. `is_lost` says of a step that is done whether its compensation should have been registered.
pub(crate) fn plan(
    records: &[StepRecord],
    registered: &HashMap<StepRef, bool>,
    is_lost: impl Fn(&StepRef) -> bool,
) -> Vec<Entry> {
    let undos: HashMap<&StepRef, &StepRecord> =
        records.iter().filter(|record| record.kind == StepKind::Undo).map(|record| (&record.id, record)).collect();
    let mut forward: Vec<&StepRecord> = records.iter().filter(|record| record.kind.is_forward()).collect();
    forward.sort_by_key(|record| std::cmp::Reverse(record.position));
    let standing = |record: &StepRecord| {
        let undo = undos.get(&record.id);
        match undo.map(|undo| undo.status) {
            Some(StepStatus::Done) => return Some(Standing::Undone),
            Some(StepStatus::Skipped) => return Some(Standing::Skipped),
            _ => {}
        }
        let effect = effect(record);
        match registered.get(&record.id) {
            Some(always) if *always || matches!(effect, Effect::Done(_)) => {
                Some(Standing::Due { effect, tries: undo.map_or(0, |undo| undo.tries) })
            }
            None if matches!(effect, Effect::Done(_)) && is_lost(&record.id) => Some(Standing::Lost),
            _ => None,
        }
    };
    forward
        .into_iter()
        .filter_map(|record| Some(Entry { step: record.id.clone(), standing: standing(record)? }))
        .collect()
}

/// A child that did not complete has taken no effect that is its parent's to undo.
fn effect(record: &StepRecord) -> Effect {
    match (record.kind, record.status) {
        (StepKind::Spawn, StepStatus::Done) => match child_end(record) {
            Some(end) if end.state == State::Completed => Effect::Done(end.output),
            _ => Effect::Possible,
        },
        (_, StepStatus::Done) => Effect::Done(record.output.clone()),
        _ => Effect::Possible,
    }
}

/// The `once` steps that began and left no result: nobody knows whether they took effect.
pub(crate) fn unknown(records: &[StepRecord]) -> Vec<String> {
    let is_unknown = |record: &&StepRecord| {
        record.once && record.status == StepStatus::Started && matches!(record.kind, StepKind::Step | StepKind::StepTx)
    };
    records.iter().filter(is_unknown).map(|record| label(&record.id)).collect()
}

/// The children that have not ended.
pub(crate) fn live_children(records: &[StepRecord]) -> Vec<JobId> {
    let is_live = |record: &&StepRecord| record.kind == StepKind::Spawn && record.status == StepStatus::Started;
    records.iter().filter(is_live).filter_map(|record| record.child).collect()
}

/// The children that could not undo all of their own steps, with the steps that spawned them; but not those that an
/// operator has answered for.
pub(crate) fn failed_children(records: &[StepRecord]) -> Vec<(&StepRef, JobId)> {
    let answered: HashSet<&StepRef> = records
        .iter()
        .filter(|record| record.kind == StepKind::Undo)
        .filter(|record| matches!(record.status, StepStatus::Done | StepStatus::Skipped))
        .map(|record| &record.id)
        .collect();
    let has_failed = |record: &&StepRecord| {
        let code = child_end(record).and_then(|end| end.failure).map(|failure| failure.code);
        code.as_deref() == Some(code::JOB_COMPENSATION_FAILED.name) && !answered.contains(&record.id)
    };
    let spawns = records.iter().filter(|record| record.kind == StepKind::Spawn && record.status == StepStatus::Done);
    spawns.filter(has_failed).filter_map(|record| Some((&record.id, record.child?))).collect()
}

/// How a child ended, as the record of its spawn tells.
#[derive(Deserialize)]
struct ChildEnd {
    state: State,
    #[serde(default)]
    output: Option<JsonText>,
    #[serde(default)]
    failure: Option<ChildFailure>,
}

#[derive(Deserialize)]
struct ChildFailure {
    code: String,
}

fn child_end(record: &StepRecord) -> Option<ChildEnd> {
    record.output.as_ref()?.decode().ok()
}
