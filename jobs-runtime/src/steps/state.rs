//! What one run of a body knows, behind its lock. Upstream: `run`.

use super::{pend::Pending, run::Stopped};
use crate::driver::{EventId, StepKind, StepRecord, StepRef, StepWrite};
use std::collections::{HashMap, HashSet};

/// The records and counters of a run.
#[derive(Default)]
pub(super) struct State {
    /// What is recorded of the lines of the body.
    pub(super) records: HashMap<StepRef, StepRecord>,
    /// All other records, as they were loaded.
    pub(super) others: Vec<StepRecord>,
    /// What this run has begun, by the names in its code and by those in its records.
    pub(super) begun: HashSet<StepRef>,
    /// Where a step's record has an older name than its code.
    pub(super) renamed: HashMap<StepRef, StepRef>,
    /// What branches that lost a race recorded: no replay comes to it.
    pub(super) passed: HashSet<StepRef>,
    /// The largest position that is taken.
    pub(super) last_position: u32,
    /// How many operations are under way.
    pub(super) busy: usize,
    /// What waits.
    pub(super) pending: Pending,
    /// Failures that were returned to the body and are not recorded.
    pub(super) failures: Vec<StepWrite>,
    /// The lines that stayed pending because they are not complete.
    pub(super) frontier: Vec<String>,
    /// What is recorded and does not fit the code.
    pub(super) unfit: HashSet<String>,
    /// Events that this run took.
    pub(super) taken: Vec<EventId>,
    /// Why the body is not to be polled any more.
    pub(super) stop: Option<Stopped>,
    /// How many operations are under way that stay so, because they stopped the body.
    pub(super) stuck: usize,
    /// Whether the run has ended.
    pub(super) ended: bool,
    /// Whether anything was sent to be recorded, be it by a future that was dropped before it had the answer.
    pub(super) recording: bool,
    /// How many durable times, ids and numbers were asked for, by the step in whose body that was.
    pub(super) ordinals: HashMap<(Counter, String), u32>,
    /// How often the job was requeued after it had unwound.
    pub(super) requeues: u32,
    /// How many steps ran.
    pub(super) run: u32,
    /// How many steps were answered from their records.
    pub(super) replayed: u32,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Counter {
    Times,
    Ids,
    Numbers,
}

impl Counter {
    pub(super) const ALL: [Self; 3] = [Self::Times, Self::Ids, Self::Numbers];
}

impl State {
    /// Takes over what is recorded.
    pub(super) fn load(&mut self, records: Vec<StepRecord>) {
        for record in records {
            self.last_position = self.last_position.max(record.position);
            if record.kind == StepKind::Requeue {
                self.requeues = record.tries;
            }
            if record.kind.is_forward() {
                self.taken.extend(record.event.filter(|event| !self.taken.contains(event)));
                self.records.insert(record.id.clone(), record);
            } else {
                self.others.push(record);
            }
        }
    }

    /// The place of what begins now.
    pub(super) fn next_position(&mut self) -> u32 {
        self.last_position = self.last_position.saturating_add(1);
        self.last_position
    }

    /// What is recorded and the body has not come to, by the order of starts.
    pub(super) fn unreached(&self) -> Vec<StepRef> {
        let ahead = self.records.values().filter(|record| !self.begun.contains(&record.id));
        let mut ahead: Vec<_> = ahead.filter(|record| !self.passed.contains(&record.id)).collect();
        ahead.sort_by_key(|record| record.position);
        ahead.into_iter().map(|record| record.id.clone()).collect()
    }

    /// Whether something that the body has not come to yet is recorded: then it does not stand at the frontier.
    pub(super) fn has_records_ahead(&self) -> bool {
        self.records.keys().any(|id| !self.begun.contains(id) && !self.passed.contains(id))
    }
}
