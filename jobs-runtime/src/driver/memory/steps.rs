//! What one run has recorded. Upstream: `row`. Downstream: nothing.

use crate::{
    driver::{ChildEnd, StepKind, StepRecord, StepRef, StepStatus, StepWrite},
    failure::RecordedFailure,
    id::JobId,
    json::JsonText,
};
use chrono::{DateTime, TimeDelta, Utc};
use std::time::Duration;

/// The records of a run, at most one of an identity and class.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps(Vec<StepRecord>);

/// Forward records share one class; each other kind has its own.
fn class(kind: StepKind) -> Option<StepKind> {
    (!kind.is_forward()).then_some(kind)
}

impl Steps {
    /// All records, by the order of starts. Of one place, what goes forward comes first.
    pub(super) fn all(&self) -> Vec<StepRecord> {
        let mut all = self.0.clone();
        all.sort_by_key(|record| (record.position, record.kind));
        all
    }

    /// The record of an identity, of the class of a kind.
    pub(super) fn get(&mut self, id: &StepRef, kind: StepKind) -> Option<&mut StepRecord> {
        self.0.iter_mut().find(|record| record.id == *id && class(record.kind) == class(kind))
    }

    /// The record of a child's spawn.
    pub(super) fn spawn_of(&self, child: JobId) -> Option<&StepRecord> {
        self.0.iter().find(|record| record.kind == StepKind::Spawn && record.child == Some(child))
    }

    /// The children that are not known to have ended.
    pub(super) fn live_children(&self) -> Vec<JobId> {
        let live =
            self.0.iter().filter(|record| record.kind == StepKind::Spawn && record.status == StepStatus::Started);
        live.filter_map(|record| record.child).collect()
    }

    /// Writes a record in the place of the earlier one, which hands on its position, its start and its child.
    pub(super) fn write(&mut self, write: &StepWrite, attempt: u32, now: DateTime<Utc>) {
        let mut record = StepRecord {
            id: write.id.clone(),
            kind: write.kind,
            status: write.status,
            position: write.position,
            attempt,
            tries: write.tries,
            once: write.once,
            output: write.output.clone(),
            failure: write.failure.clone(),
            due_at: write.due_at,
            event: write.event,
            child: write.child.as_ref().map(|child| child.id),
            started_at: before(now, write.age),
            finished_at: is_finished(write.status).then_some(now),
        };
        match self.get(&write.id, write.kind) {
            // The time of a wait is recorded while it goes on, and is no news once it has ended.
            Some(earlier) if record.status == StepStatus::Waiting && is_finished(earlier.status) => {}
            Some(earlier) => {
                record.position = earlier.position;
                record.started_at = earlier.started_at;
                record.child = record.child.or(earlier.child);
                *earlier = record;
            }
            None => self.0.push(record),
        }
    }

    /// The place after all others.
    pub(super) fn next_position(&self) -> u32 {
        self.0.iter().map(|record| record.position).max().unwrap_or(0) + 1
    }

    /// Records the decision to unwind.
    pub(super) fn unwind(&mut self, failure: &RecordedFailure, attempt: u32, now: DateTime<Utc>) {
        let position = self.next_position();
        let mut write = StepWrite::new(nameless(), StepKind::Unwind, StepStatus::Done, position);
        write.failure = Some(failure.clone());
        self.write(&write, attempt, now);
    }

    /// Records that a child has ended, unless it had ended before.
    pub(super) fn child_ended(&mut self, child: JobId, end: &ChildEnd, now: DateTime<Utc>) {
        let open = |record: &&mut StepRecord| record.child == Some(child) && record.status == StepStatus::Started;
        if let Some(record) = self.0.iter_mut().find(open) {
            record.status = StepStatus::Done;
            record.output = serde_json::to_string(end).ok().map(JsonText::trusted);
            record.finished_at = Some(now);
        }
    }

    /// Lets the records be those of no attempt, so that the first one may try again what failed.
    pub(super) fn of_no_attempt(&mut self) {
        for record in &mut self.0 {
            record.attempt = 0;
        }
    }

    /// Forgets all but how often that was done, and counts it.
    pub(super) fn forget(&mut self, now: DateTime<Utc>) {
        let tries = self.get(&nameless(), StepKind::Requeue).map_or(0, |record| record.tries);
        self.0.retain(|record| record.kind == StepKind::Requeue);
        let mut write = StepWrite::new(nameless(), StepKind::Requeue, StepStatus::Done, 0);
        write.tries = tries + 1;
        self.write(&write, 0, now);
    }

    /// Gives every compensation its full budget again, and the replay that comes before them its own.
    pub(super) fn renew_undos(&mut self) {
        let is_tried = |record: &&mut StepRecord| matches!(record.kind, StepKind::Undo | StepKind::Unwind);
        for record in self.0.iter_mut().filter(is_tried) {
            record.tries = 0;
        }
    }

    /// Removes a forward record.
    pub(super) fn remove(&mut self, id: &StepRef) {
        self.0.retain(|record| !(record.kind.is_forward() && record.id == *id));
    }
}

/// The identity of what is recorded of the run as a whole.
fn nameless() -> StepRef {
    StepRef { name: String::new(), key: String::new() }
}

fn is_finished(status: StepStatus) -> bool {
    matches!(status, StepStatus::Done | StepStatus::Failed | StepStatus::Skipped)
}

fn before(now: DateTime<Utc>, age: Duration) -> DateTime<Utc> {
    TimeDelta::from_std(age).ok().and_then(|age| now.checked_sub_signed(age)).unwrap_or(now)
}
