//! What the cases about steps, waits and events write and read: records, parks, events.

use super::{Fixture, HandWorker, hand::failure};
use crate::{
    driver::{
        Change, Claimed, EventId, NewEvent, NewJob, Park, Published, Stage, StepKind, StepRecord, StepRef, StepStatus,
        StepWrite, Unwind, Wait, WaitEvent, Written,
    },
    id::JobId,
    json::JsonText,
    spec::Keep,
};
use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use std::time::Duration;

/// The name of the suite's events, unless a case says otherwise.
pub(super) const EVENT: &str = "order.shipped";

/// The identity of a step without a key.
pub(super) fn named(name: &str) -> StepRef {
    StepRef { name: name.to_owned(), key: String::new() }
}

/// A record of a step that is done, with nothing else to it.
pub(super) fn done(name: &str, position: u32) -> StepWrite {
    of(StepKind::Step, name, StepStatus::Done, position)
}

/// A record of a kind in a status.
pub(super) fn of(kind: StepKind, name: &str, status: StepStatus, position: u32) -> StepWrite {
    StepWrite::new(named(name), kind, status, position)
}

/// A `once` step that began and left no result.
pub(super) fn unknown(name: &str, position: u32) -> StepWrite {
    StepWrite { once: true, ..of(StepKind::Step, name, StepStatus::Started, position) }
}

/// The spawn of a child.
pub(super) fn spawn(name: &str, position: u32, child: NewJob) -> StepWrite {
    StepWrite { child: Some(Box::new(child)), ..of(StepKind::Spawn, name, StepStatus::Started, position) }
}

/// A park that nothing ends.
pub(super) fn park() -> Park {
    Park { due_at: None, waits: Vec::new(), records: Vec::new(), reason: None, keep: Keep::DEFAULT }
}

/// A park until something happens.
pub(super) fn until(wait: Wait) -> Park {
    Park { waits: vec![wait], ..park() }
}

/// A wait for the suite's event of a key.
pub(super) fn for_event(key: &str) -> Wait {
    for_untaken(key, &[])
}

/// A wait for the suite's event of a key that is none of these.
pub(super) fn for_untaken(key: &str, taken: &[EventId]) -> Wait {
    Wait::Event(WaitEvent { name: EVENT.to_owned(), key: key.to_owned(), taken: taken.to_vec() })
}

/// An event of a key that can be found for an hour.
pub(super) fn event(key: &str) -> NewEvent {
    NewEvent {
        id: EventId::new(),
        name: EVENT.to_owned(),
        key: key.to_owned(),
        tenant: None,
        payload: JsonText::trusted(r#"{"parcel":7}"#),
        ttl: Duration::from_secs(3_600),
    }
}

/// The decision to unwind.
pub(super) fn unwind(text: &str) -> Unwind {
    Unwind { failure: failure(text), records: Vec::new() }
}

impl HandWorker {
    /// Enqueues a job and claims it; nothing else may be ready.
    pub(super) async fn begin(&self, store: &dyn Fixture, job: NewJob) -> Claimed {
        let id = store.insert(job).await;
        let claimed = self.claim_one().await;
        assert_eq!(claimed.fence.job, id);
        claimed
    }

    /// Begins a job that has recorded a step named `hold`.
    pub(super) async fn begin_recorded(&self, store: &dyn Fixture, job: NewJob) -> Claimed {
        let claimed = self.begin(store, job).await;
        self.step(&claimed, done("hold", 1)).await;
        claimed
    }

    /// Records a step; it must land.
    pub(super) async fn step(&self, claimed: &Claimed, step: StepWrite) {
        self.landed(claimed, Change::Step(Box::new(step))).await;
    }

    /// Parks a run; it must land.
    pub(super) async fn park(&self, claimed: &Claimed, park: Park) {
        self.landed(claimed, Change::Park(Box::new(park))).await;
    }

    /// Lets a run unwind; it must land.
    pub(super) async fn unwind(&self, claimed: &Claimed, unwind: Unwind) {
        self.landed(claimed, Change::Unwind(Box::new(unwind))).await;
    }

    /// Writes a change that must land.
    pub(super) async fn landed(&self, claimed: &Claimed, change: Change) {
        let written = self.write(claimed, change).await;
        assert!(matches!(written, Written::Landed), "it lands, not {written:?}");
    }
}

impl dyn Fixture {
    /// What a run has recorded.
    pub(super) async fn steps(&self, job: JobId) -> Vec<StepRecord> {
        self.driver().steps(job).await.expect("steps answer")
    }

    /// The one record of a kind that a run has.
    pub(super) async fn step_of(&self, job: JobId, kind: StepKind) -> StepRecord {
        let mut steps = self.steps(job).await;
        steps.retain(|step| step.kind == kind);
        assert_eq!(steps.len(), 1, "one record of {kind:?}, not {steps:?}");
        steps.remove(0)
    }

    /// The names of what a run has recorded.
    pub(super) async fn step_names(&self, job: JobId) -> Vec<String> {
        self.steps(job).await.into_iter().map(|step| step.id.name).collect()
    }

    /// The stage of a job that must be stored.
    pub(super) async fn stage(&self, job: JobId) -> Stage {
        self.record(job).await.stage
    }

    /// Publishes events outside any transaction.
    pub(super) async fn publish(&self, events: &[NewEvent]) -> Vec<Published> {
        self.driver().publish(events, None).await.expect("events are published")
    }

    /// The store's time, as exact as every store keeps one.
    pub(super) async fn now(&self) -> DateTime<Utc> {
        self.driver().now().await.expect("the clock answers").trunc_subsecs(6)
    }

    /// The store's time in so many seconds.
    pub(super) async fn in_secs(&self, seconds: i64) -> DateTime<Utc> {
        self.now().await + TimeDelta::seconds(seconds)
    }
}
