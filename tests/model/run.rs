//! What a run records, waits for and undoes, as plainly as it can be said. Upstream: `reference`.

use crate::history::{Answer, Await, Cancelled, Name, Outcome, Say, Step};
use crate::reference::{Job, Model};
use jobs::{
    State,
    driver::{Stage, StepKind, StepStatus},
};
use std::collections::BTreeMap;

/// What somebody asks of a running job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    Cancel,
    RollBack,
}

/// What is recorded of a run.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) stage: Stage,
    /// By name and whether it undoes; `None` for the run as a whole.
    pub(crate) records: BTreeMap<(Option<Name>, StepKind), Record>,
    pub(crate) parked: Option<Parked>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) status: StepStatus,
    pub(crate) position: u32,
    pub(crate) attempt: u32,
    pub(crate) tries: u32,
    /// The number of the job that it has spawned.
    pub(crate) child: Option<usize>,
}

pub(crate) struct Parked {
    pub(crate) awaits: Vec<Await>,
    pub(crate) reason: bool,
}

/// The published events: their key and their end.
#[derive(Default)]
pub(crate) struct Events(Vec<(u8, u64)>);

impl Events {
    pub(crate) fn add(&mut self, key: u8, end: u64) -> usize {
        self.0.push((key, end));
        self.0.len() - 1
    }

    /// The earliest that a run may take which has taken these.
    pub(crate) fn find(&self, key: u8, taken: &[usize], now: u64) -> Option<usize> {
        (0..self.0.len()).find(|event| {
            let (of, end) = self.0[*event];
            of == key && end > now && !taken.contains(event)
        })
    }

    pub(crate) fn unexpired(&self, now: u64) -> Vec<usize> {
        (0..self.0.len()).filter(|event| self.0[*event].1 > now).collect()
    }
}

impl Name {
    pub(crate) fn kind(self, undo: bool) -> StepKind {
        match self {
            _ if undo => StepKind::Undo,
            Name::Hold | Name::Charge => StepKind::Step,
            Name::Shipped => StepKind::Wait,
            Name::Child => StepKind::Spawn,
            Name::Pivot => StepKind::Pivot,
        }
    }
}

impl Run {
    /// The place after all others.
    pub(crate) fn next_position(&self) -> u32 {
        self.records.values().map(|record| record.position).max().unwrap_or(0) + 1
    }

    /// The children that are not known to have ended.
    pub(crate) fn children(&self) -> Vec<usize> {
        let open = self.records.values().filter(|record| record.status == StepStatus::Started);
        open.filter_map(|record| record.child).collect()
    }

    /// The child that it has spawned.
    pub(crate) fn spawned(&self) -> Option<usize> {
        self.records.values().find_map(|record| record.child)
    }

    /// Whether it unwinds, so that nothing goes forward.
    pub(crate) fn refuses(&self, step: Step) -> bool {
        self.stage == Stage::Unwinding && step.name.kind(step.undo).is_forward()
    }

    pub(crate) fn child_has_ended(&self) -> bool {
        self.records.values().any(|record| record.child.is_some() && record.status == StepStatus::Done)
    }

    pub(crate) fn child_ended(&mut self, child: usize) {
        let open = self.records.values_mut().find(|record| record.child == Some(child));
        if let Some(record) = open.filter(|record| record.status == StepStatus::Started) {
            record.status = StepStatus::Done;
        }
    }

    /// A requeue: what it has recorded stays, but a run that unwound begins anew.
    pub(crate) fn start_over(&mut self) {
        if self.stage == Stage::Unwinding {
            self.stage = Stage::Recorded;
            let key = (None, StepKind::Requeue);
            let tries = self.records.get(&key).map_or(0, |record| record.tries) + 1;
            let requeue = Record { status: StepStatus::Done, position: 0, attempt: 0, tries, child: None };
            self.records = BTreeMap::from([(key, requeue)]);
        }
        self.records.values_mut().for_each(|record| record.attempt = 0);
    }
}

impl Job {
    pub(crate) fn is_live_or_dead(&self) -> bool {
        self.state.is_some_and(|state| !state.is_final() || state == State::Dead)
    }

    /// What a cancel finds that changes nothing.
    pub(crate) fn is_beyond_cancel(&self) -> Option<Cancelled> {
        match self.state {
            None => Some(Cancelled::NotFound),
            Some(state) if state.is_final() => Some(Cancelled::Already(state)),
            _ if self.run.stage == Stage::Unwinding || self.asked == Some(Asked::RollBack) => Some(Cancelled::Asked),
            _ => None,
        }
    }

    pub(crate) fn record(&mut self, step: Step, child: Option<usize>) {
        let key = (Some(step.name), step.name.kind(step.undo));
        let earlier = self.run.records.get(&key).copied();
        let position = earlier.map_or(self.run.next_position(), |earlier| earlier.position);
        let child = child.or(earlier.and_then(|earlier| earlier.child));
        let record = Record { status: step.status, position, attempt: self.attempt, tries: step.tries, child };
        let has_ended =
            |earlier: Record| matches!(earlier.status, StepStatus::Done | StepStatus::Failed | StepStatus::Skipped);
        // That it waits is no news once it has ended.
        if step.status != StepStatus::Waiting || !earlier.is_some_and(has_ended) {
            self.run.records.insert(key, record);
        }
        self.run.stage = self.run.stage.max(Stage::Recorded);
        if step.name == Name::Pivot && self.run.stage != Stage::Unwinding {
            self.run.stage = Stage::PastPivot;
            if self.asked == Some(Asked::RollBack) {
                self.asked = self.cancelled_before.then_some(Asked::Cancel);
            }
        }
    }

    /// Decides that it unwinds.
    pub(crate) fn unwind(&mut self) {
        let key = (None, StepKind::Unwind);
        let position = self.run.records.get(&key).map_or(self.run.next_position(), |earlier| earlier.position);
        let record = Record { status: StepStatus::Done, position, attempt: self.attempt, tries: 0, child: None };
        self.run.records.insert(key, record);
        (self.run.stage, self.crashes) = (Stage::Unwinding, 0);
        (self.asked, self.cancelled_before) = (None, false);
    }
}

impl Model {
    /// Records a step, with the child that it spawns.
    pub(crate) fn step(&mut self, id: usize, step: Step) -> Outcome {
        let mut child = None;
        if self.jobs[id].run.refuses(step) {
            return Outcome::Refused;
        }
        if step.name == Name::Child {
            if self.jobs[id].asked.is_some() {
                return Outcome::Cancelled;
            }
            // Written again, because its answer was lost.
            if self.jobs[id].run.spawned().is_some() {
                return Outcome::Landed;
            }
            match self.enqueue(step.child, Some(id)) {
                Ok(spawned) => child = Some(spawned),
                Err(_) => return Outcome::Refused,
            }
        }
        self.jobs[id].record(step, child);
        Outcome::Landed
    }

    /// Does what an operator says, if it may.
    pub(crate) fn operate(&mut self, id: usize, say: Say) -> Said {
        let job = &mut self.jobs[id];
        let (state, unwound) = (job.state, job.run.stage == Stage::Unwinding);
        match (say, state) {
            (_, None) => return Said::NotFound,
            (Say::Resolve(name, answer), Some(State::Suspended | State::Dead)) => {
                let key = (Some(name), StepKind::Step);
                let open = |record: &&mut Record| matches!(record.status, StepStatus::Started | StepStatus::Failed);
                let Some(record) = job.run.records.get_mut(&key).filter(open).filter(|_| name == Name::Charge) else {
                    return Said::NoStep;
                };
                match answer {
                    Answer::Done => record.status = StepStatus::Done,
                    Answer::Failed => record.status = StepStatus::Failed,
                    Answer::Again => drop(job.run.records.remove(&key)),
                }
            }
            (Say::Resume, Some(State::Suspended)) => {}
            (Say::Resume, Some(State::Dead)) if unwound => {
                let undos = job.run.records.iter_mut().filter(|((_, kind), _)| *kind == StepKind::Undo);
                undos.for_each(|(_, record)| record.tries = 0);
                job.crashes = 0;
                self.wait(id, 0);
                return Said::Done;
            }
            (Say::SkipUndo(name) | Say::MarkUndone(name), Some(State::Dead)) if unwound => {
                let began = job.run.records.keys().any(|(of, kind)| *of == Some(name) && kind.is_forward());
                let key = (Some(name), StepKind::Undo);
                let undo = job.run.records.get(&key).copied();
                let over = |record: Record| matches!(record.status, StepStatus::Done | StepStatus::Skipped);
                if !began || undo.is_some_and(over) {
                    return Said::NoStep;
                }
                let status = if matches!(say, Say::SkipUndo(_)) { StepStatus::Skipped } else { StepStatus::Done };
                let position = undo.map_or(job.run.next_position(), |undo| undo.position);
                let tries = undo.map_or(0, |undo| undo.tries);
                let record = Record { status, position, attempt: job.attempt, tries, child: None };
                job.run.records.insert(key, record);
            }
            _ => return Said::Refused,
        }
        if state == Some(State::Suspended) {
            self.wait(id, 0);
        }
        Said::Done
    }
}

/// What became of what an operator said.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Said {
    Done,
    NotFound,
    Refused,
    NoStep,
}
