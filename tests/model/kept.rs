//! Histories that once showed a difference, as short as the failing run printed them. Upstream: `main`.

use crate::history::{Call, Change, Name, New, Say, Step, Which};
use jobs::{State, driver::StepStatus};

const NEW: New = New { priority: 0, delay: 0, key: None };
const HOLD: Step =
    Step { name: Name::Hold, undo: false, status: StepStatus::Started, tries: 0, child: NEW, within: false };

/// What was wrong, and the history that showed it.
pub(crate) fn histories() -> Vec<(&'static str, Vec<Call>)> {
    vec![
        ("a ready job that was rolled back went to the end of its queue", a_ready_job_keeps_its_place()),
        ("a pivot ended a cancel too, where a roll back followed that", a_cancel_outlives_a_pivot()),
        (
            "an answer for an undo was of the last recorded attempt, not of the run's",
            an_answer_is_of_the_runs_attempt(),
        ),
    ]
}

fn a_ready_job_keeps_its_place() -> Vec<Call> {
    let park = Change::Park { due: Some(0), awaits: vec![], records: vec![HOLD], reason: false };
    vec![
        Call::StartWorker,
        Call::Enqueue(vec![NEW, NEW]),
        Call::Claim { worker: 0, limit: 3 },
        Call::Write { worker: 1, claim: Which::Open(1), change: park },
        Call::StopWorker(0),
        Call::RollBack(Which::Any(1)),
        Call::StartWorker,
        Call::Claim { worker: 1, limit: 1 },
    ]
}

fn a_cancel_outlives_a_pivot() -> Vec<Call> {
    let write = |step| Call::Write {
        worker: 1,
        claim: Which::Open(0),
        change: Change::Step(Step { status: StepStatus::Done, ..step }),
    };
    vec![
        Call::StartWorker,
        Call::Enqueue(vec![NEW]),
        Call::Claim { worker: 0, limit: 1 },
        write(HOLD),
        Call::Cancel(Which::Open(0)),
        Call::RollBack(Which::Open(0)),
        write(Step { name: Name::Pivot, ..HOLD }),
    ]
}

fn an_answer_is_of_the_runs_attempt() -> Vec<Call> {
    let write = |change| Call::Write { worker: 1, claim: Which::Open(0), change };
    let claim = Call::Claim { worker: 0, limit: 1 };
    vec![
        Call::StartWorker,
        Call::Enqueue(vec![NEW]),
        claim.clone(),
        write(Change::Step(HOLD)),
        write(Change::Unwind { records: vec![] }),
        write(Change::Again { counted: true, delay: 0 }),
        claim,
        write(Change::Finish { state: State::Dead, keep: false, follow_up: None }),
        Call::Operate(Which::Any(0), Say::SkipUndo(Name::Hold)),
    ]
}
