//! Lays what a run has recorded over the outline of its body. Pure.

use super::{
    StepState, Timeline, TimelineStep, TimelineUndo, UndoState,
    judge::{self, Run},
};
use crate::{
    driver::{JobRecord, StepKind, StepRecord, StepStatus},
    outline::{OutlineKind, StoredItem},
};
use chrono::{DateTime, Utc};
use std::collections::HashMap;

/// What the point of no return is called, which has no name of its own.
const PIVOT: &str = "pivot!";

/// The timeline of a job.
pub(super) fn lay(
    job: JobRecord,
    records: Vec<StepRecord>,
    outline: Option<Vec<StoredItem>>,
    now: DateTime<Utc>,
) -> Timeline {
    let run = Run::of(&job, now);
    let has_outline = outline.is_some();
    let outline = outline.unwrap_or_default();
    let mut recorded = Recorded::sort(records);
    let mut steps = by_source(&outline, &mut recorded, run);
    if run.runs() {
        guess_running(&mut steps);
    }
    for record in recorded.left() {
        place(&mut steps, record, run);
    }
    let lines = compensations(&outline);
    steps.iter_mut().for_each(|step| add_undo(step, &lines, &mut recorded, run));
    for undo in std::mem::take(&mut recorded.undos).into_values() {
        steps.push(undo_alone(undo, run));
    }
    Timeline { job, steps, has_outline, unwound_from: recorded.unwound_from, begun_anew: recorded.begun_anew }
}

/// A run's records by what they are of.
#[derive(Default)]
struct Recorded {
    /// The lines of the body, by the order of starts.
    forward: Vec<Option<StepRecord>>,
    undos: HashMap<(String, String), StepRecord>,
    unwound_from: Option<crate::failure::RecordedFailure>,
    begun_anew: u32,
}

impl Recorded {
    fn sort(mut records: Vec<StepRecord>) -> Self {
        records.sort_by_key(|record| record.position);
        let mut sorted = Self::default();
        for record in records {
            match record.kind {
                StepKind::Undo => drop(sorted.undos.insert((record.id.name.clone(), record.id.key.clone()), record)),
                StepKind::Unwind => sorted.unwound_from = record.failure,
                StepKind::Requeue => sorted.begun_anew = record.tries,
                _ => sorted.forward.push(Some(record)),
            }
        }
        sorted
    }

    /// Takes out the records of a line, by the order of starts.
    fn take(&mut self, item: &StoredItem) -> Vec<StepRecord> {
        let is_of = |record: &StepRecord| match item.kind {
            OutlineKind::Pivot => record.kind == StepKind::Pivot,
            _ => record.kind != StepKind::Pivot && record.id.name == item.name,
        };
        self.forward.iter_mut().filter_map(|slot| slot.take_if(|record| is_of(record))).collect()
    }

    fn left(&mut self) -> Vec<StepRecord> {
        self.forward.iter_mut().filter_map(Option::take).collect()
    }
}

fn by_source(outline: &[StoredItem], recorded: &mut Recorded, run: Run) -> Vec<TimelineStep> {
    let mut steps: Vec<TimelineStep> = Vec::new();
    for item in outline {
        let Some(kind) = kind(item.kind) else { continue };
        // A name that is no literal cannot be told beforehand; a line that shares its name stands there already.
        let is_named = kind == StepKind::Pivot || !item.name.is_empty();
        let is_known = steps.iter().any(|step| step.name == item.name && kind != StepKind::Pivot);
        if !is_named || is_known {
            continue;
        }
        let records = recorded.take(item);
        if records.is_empty() {
            let name = if kind == StepKind::Pivot { PIVOT.to_owned() } else { item.name.clone() };
            let state = run.unrecorded();
            steps.push(TimelineStep { kind, name, key: None, line: Some(item.line), state, record: None, undo: None });
        }
        steps.extend(records.into_iter().map(|record| of_record(record, Some(item.line), run)));
    }
    steps
}

/// Takes the first step to run that comes after all that is recorded, unless one is known to run.
fn guess_running(steps: &mut [TimelineStep]) {
    if steps.iter().any(|step| step.state == StepState::Running) {
        return;
    }
    let from = steps.iter().rposition(|step| step.record.is_some()).map_or(0, |last| last + 1);
    let next = steps.get_mut(from).filter(|step| matches!(step.kind, StepKind::Step | StepKind::StepTx));
    match next {
        Some(next) if next.state == StepState::ToCome => next.state = StepState::Running,
        _ => {}
    }
}

/// Places what the outline does not have behind what began before it.
fn place(steps: &mut Vec<TimelineStep>, record: StepRecord, run: Run) {
    let began = |step: &TimelineStep| step.record.as_ref().is_some_and(|before| before.position < record.position);
    let at = steps.iter().rposition(began).map_or(0, |before| before + 1);
    steps.insert(at, of_record(record, None, run));
}

fn of_record(record: StepRecord, line: Option<u32>, run: Run) -> TimelineStep {
    TimelineStep {
        kind: record.kind,
        name: record.id.name.clone(),
        key: (!record.id.key.is_empty()).then(|| record.id.key.clone()),
        line,
        state: run.recorded(&record),
        record: Some(record),
        undo: None,
    }
}

/// The lines of the compensations, by the step that they undo.
fn compensations(outline: &[StoredItem]) -> HashMap<&str, u32> {
    let undone = outline.iter().filter(|item| item.kind == OutlineKind::Compensate);
    undone.map(|item| (item.name.as_str(), item.line)).collect()
}

fn add_undo(step: &mut TimelineStep, lines: &HashMap<&str, u32>, recorded: &mut Recorded, run: Run) {
    let line = lines.get(step.name.as_str()).copied();
    let record = recorded.undos.remove(&(step.name.clone(), step.key.clone().unwrap_or_default()));
    if line.is_none() && record.is_none() {
        return;
    }
    let took_effect = |record: &StepRecord| matches!(record.status, StepStatus::Done | StepStatus::Started);
    let state = run.undo(step.record.as_ref().is_some_and(took_effect), record.as_ref());
    step.state = judge::undone(step.state.clone(), state);
    step.undo = Some(TimelineUndo { line, state, record });
}

/// A compensation whose step is not recorded.
fn undo_alone(record: StepRecord, run: Run) -> TimelineStep {
    let state: UndoState = run.undo(true, Some(&record));
    let undo = TimelineUndo { line: None, state, record: Some(record.clone()) };
    TimelineStep {
        state: judge::undone(StepState::Interrupted, state),
        undo: Some(undo),
        record: None,
        ..of_record(record, None, run)
    }
}

/// What a line is recorded as; `None` for a compensation, which is shown with its step.
fn kind(kind: OutlineKind) -> Option<StepKind> {
    Some(match kind {
        OutlineKind::Step => StepKind::Step,
        OutlineKind::StepTx => StepKind::StepTx,
        OutlineKind::WaitFor => StepKind::Wait,
        OutlineKind::Sleep => StepKind::Sleep,
        OutlineKind::Race => StepKind::Race,
        OutlineKind::Spawn => StepKind::Spawn,
        OutlineKind::Pivot => StepKind::Pivot,
        OutlineKind::Compensate => return None,
    })
}
