//! Says how far a step and its compensation are, by what is recorded of them and of the job. Pure.

use super::{StepState, UndoState, WaitsFor};
use crate::{
    driver::{JobRecord, Stage, StepKind, StepRecord, StepStatus},
    state::State,
};
use chrono::{DateTime, Utc};

/// What of the job decides about its steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    live: bool,
    held: bool,
    unwinds: bool,
    attempt: u32,
    /// When it is looked at, or has ended.
    moment: DateTime<Utc>,
}

impl Run {
    pub(super) fn of(job: &JobRecord, now: DateTime<Utc>) -> Self {
        Self {
            moment: job.finished_at.unwrap_or(now),
            live: !job.state.is_final(),
            held: job.state == State::Running,
            unwinds: job.stage == Stage::Unwinding,
            attempt: job.attempt,
        }
    }

    /// Whether steps still run.
    fn goes_forward(self) -> bool {
        self.live && !self.unwinds
    }

    /// Whether a worker runs steps now.
    pub(super) fn runs(self) -> bool {
        self.held && !self.unwinds
    }

    /// How far a step is that nothing is recorded of.
    pub(super) fn unrecorded(self) -> StepState {
        if self.goes_forward() { StepState::ToCome } else { StepState::NotReached }
    }

    /// How far a recorded step is.
    pub(super) fn recorded(self, record: &StepRecord) -> StepState {
        match record.status {
            StepStatus::Done if record.kind == StepKind::Wait && record.event.is_none() => StepState::TimedOut,
            StepStatus::Done | StepStatus::Skipped => StepState::Done,
            StepStatus::Failed if self.runs_again(record) => StepState::Retrying { due_at: record.due_at },
            StepStatus::Failed => StepState::Failed,
            StepStatus::Tried if self.goes_forward() => StepState::Retrying { due_at: record.due_at },
            StepStatus::Tried => StepState::Failed,
            // A sleep that is over is recorded no further.
            StepStatus::Waiting if self.has_slept(record) => StepState::Done,
            StepStatus::Waiting if self.goes_forward() => StepState::Waiting(waits_for(record)),
            // A run that unwinds waits for its children's ends, too.
            StepStatus::Started if record.kind == StepKind::Spawn && self.live => {
                StepState::Waiting(WaitsFor::Child { child: record.child })
            }
            StepStatus::Started if self.runs() => StepState::Running,
            StepStatus::Started if record.once => StepState::Unknown,
            StepStatus::Started | StepStatus::Waiting => StepState::Interrupted,
        }
    }

    fn has_slept(self, record: &StepRecord) -> bool {
        record.kind == StepKind::Sleep && record.due_at.is_some_and(|due| due <= self.moment)
    }

    /// A failure counts for the attempt that recorded it; that of a `once` step for good.
    fn runs_again(self, record: &StepRecord) -> bool {
        self.goes_forward() && !record.once && record.attempt < self.attempt
    }

    /// How far a compensation is. `done` says whether its step took effect, or may have.
    pub(super) fn undo(self, done: bool, record: Option<&StepRecord>) -> UndoState {
        match record.map(|record| record.status) {
            Some(StepStatus::Done) => UndoState::Done,
            Some(StepStatus::Skipped) => UndoState::Skipped,
            Some(_) if self.live => UndoState::Retrying,
            Some(_) => UndoState::Failed,
            None if self.unwinds && done => UndoState::Pending,
            None => UndoState::Declared,
        }
    }
}

/// What becomes of a step's own state by its compensation's.
pub(super) fn undone(state: StepState, undo: UndoState) -> StepState {
    match undo {
        UndoState::Declared | UndoState::Pending => state,
        UndoState::Retrying => StepState::Undoing,
        UndoState::Failed => StepState::UndoFailed,
        UndoState::Done => StepState::Undone,
        UndoState::Skipped => StepState::UndoSkipped,
    }
}

fn waits_for(record: &StepRecord) -> WaitsFor {
    let until = record.due_at;
    match record.kind {
        StepKind::Wait => {
            let event = record.output.as_ref().and_then(|name| name.decode().ok());
            WaitsFor::Event { event, event_key: record.id.key.clone(), until }
        }
        StepKind::Spawn => WaitsFor::Child { child: record.child },
        _ => WaitsFor::Time { until },
    }
}
