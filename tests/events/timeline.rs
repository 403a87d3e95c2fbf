//! A run is shown step by step, whatever its state, with and without the code of its job.

mod ended;
mod going;
mod merged;
mod real;

use futures_util::future::BoxFuture;
use jobs::{
    Error, Failure, Job, JobId, Jobs, JsonText, Registry, State,
    driver::{Driver, EventId, JobRecord, Memory, Stage, StepKind, StepRecord, StepRef, StepStatus},
    outline::{OutlineItem, OutlineKind, StoredItem},
    spec::JobSpec,
    testing::Overlay,
    timeline::{StepState, Timeline, UndoState},
};
use std::sync::Arc;

/// A saga of every construct.
struct Saga;

const OUTLINE: &[OutlineItem] = &[
    OutlineItem::new(OutlineKind::Step, "hold", false, 10),
    OutlineItem::new(OutlineKind::Compensate, "hold", false, 11),
    OutlineItem::new(OutlineKind::StepTx, "charge", false, 12),
    OutlineItem::new(OutlineKind::Step, "parcel", true, 13),
    OutlineItem::new(OutlineKind::Compensate, "parcel", true, 14),
    OutlineItem::new(OutlineKind::WaitFor, "shipped", true, 15),
    OutlineItem::new(OutlineKind::Spawn, "letter", false, 16),
    OutlineItem::new(OutlineKind::Race, "first", false, 17),
    OutlineItem::new(OutlineKind::Pivot, "", false, 18),
    OutlineItem::new(OutlineKind::Sleep, "cool down", false, 19),
    OutlineItem::new(OutlineKind::Step, "close", false, 20),
];

impl Job for Saga {
    type Input = ();
    type Output = ();
    const SPEC: JobSpec = JobSpec::new("saga").written("", "saga.rs", 1, OUTLINE);

    fn tenant((): &()) -> Option<String> {
        None
    }

    fn run(_: &jobs::Ctx, (): ()) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }
}

/// A store that gives a job and its records as a test says.
#[derive(Clone)]
struct Shown {
    memory: Memory,
    job: JobRecord,
    records: Vec<StepRecord>,
    outline: Option<Vec<StoredItem>>,
}

impl Overlay for Shown {
    fn under(&self) -> &dyn Driver {
        &self.memory
    }

    fn find(&self, _: JobId) -> BoxFuture<'_, Result<Option<JobRecord>, Error>> {
        Box::pin(async { Ok(Some(self.job.clone())) })
    }

    fn steps(&self, _: JobId) -> BoxFuture<'_, Result<Vec<StepRecord>, Error>> {
        Box::pin(async { Ok(self.records.clone()) })
    }

    fn outline<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Vec<StoredItem>>, Error>> {
        Box::pin(async { Ok(self.outline.clone()) })
    }
}

/// A job in a state, of this stage and attempt.
async fn job(state: State, stage: Stage, attempt: u32) -> Shown {
    let memory = Memory::new();
    let jobs = Jobs::new(Arc::new(memory.clone()), Registry::builder().job::<Saga>().build().expect("it fits"));
    let id = jobs.enqueue::<Saga>(()).await.expect("it is enqueued").id();
    let stored = jobs.find(id).await.expect("it is stored");
    Shown { memory, job: JobRecord { state, stage, attempt, ..stored }, records: Vec::new(), outline: None }
}

impl Shown {
    /// Adds a record behind the others.
    fn with(mut self, kind: StepKind, name: &str, status: StepStatus) -> Self {
        let position = self.records.len() as u32 + 1;
        self.records.push(StepRecord {
            id: StepRef { name: name.to_owned(), key: String::new() },
            kind,
            status,
            position,
            attempt: 1,
            tries: 0,
            once: false,
            output: None,
            failure: None,
            due_at: None,
            event: None,
            child: None,
            started_at: self.job.created_at,
            finished_at: None,
        });
        self
    }

    fn step(self, name: &str, status: StepStatus) -> Self {
        self.with(StepKind::Step, name, status)
    }

    /// Changes the last record.
    fn but(mut self, change: impl FnOnce(&mut StepRecord)) -> Self {
        self.records.last_mut().map(change);
        self
    }

    fn keyed(self, key: &str) -> Self {
        self.but(|record| record.id.key = key.to_owned())
    }

    fn once(self) -> Self {
        self.but(|record| record.once = true)
    }

    async fn timeline(self) -> Timeline {
        self.in_process(Registry::builder().job::<Saga>()).await
    }

    async fn without_code(self) -> Timeline {
        self.in_process(Registry::builder()).await
    }

    async fn in_process(self, registry: jobs::registry::Builder) -> Timeline {
        let id = self.job.id;
        let jobs = Jobs::new(Arc::new(self), registry.build().expect("it fits"));
        let timeline = jobs.timeline(id).await.expect("it is stored");
        // Every timeline can be sent to a page.
        let text = serde_json::to_value(&timeline).expect("it serializes");
        assert_eq!(text["steps"].as_array().map(Vec::len), Some(timeline.steps.len()));
        assert!(text["steps"].as_array().unwrap().iter().all(|step| step["state"].is_string()), "{text}");
        timeline
    }
}

fn state(timeline: &Timeline, name: &str) -> StepState {
    timeline.step(name).unwrap_or_else(|| panic!("no step {name}")).state.clone()
}

fn undo(timeline: &Timeline, name: &str) -> UndoState {
    timeline.step(name).and_then(|step| step.undo.as_ref()).unwrap_or_else(|| panic!("no undo of {name}")).state
}

fn names(timeline: &Timeline) -> Vec<String> {
    let name = |step: &jobs::timeline::TimelineStep| match &step.key {
        Some(key) => format!("{}[{key}]", step.name),
        None => step.name.clone(),
    };
    timeline.steps.iter().map(name).collect()
}

fn event() -> Option<EventId> {
    Some(EventId::new())
}

fn json(value: serde_json::Value) -> Option<JsonText> {
    Some(value.into())
}
