//! One stored job and its moves from state to state. Upstream: the verbs beside it. Downstream: `steps`.

use super::steps::Steps;
use crate::{
    clock,
    driver::{
        ChildEnd, Claimed, Fence, JobRecord, NewJob, Progress, Stage, Start, StepKind, StepWrite, Token, Wait,
        WaitEvent, WorkerId,
    },
    failure::RecordedFailure,
    json::JsonText,
    spec::Keep,
    state::State,
};
use chrono::{DateTime, Utc};

/// A job as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) new: NewJob,
    pub(super) state: State,
    pub(super) attempt: u32,
    pub(super) crashes: u16,
    pub(super) created_at: DateTime<Utc>,
    /// When a waiting job is due.
    pub(super) due_at: Option<DateTime<Utc>>,
    /// Since when a ready job is ready, and its place among those that became ready at the same time.
    pub(super) ready: (DateTime<Utc>, u64),
    /// When it expires; `None` once it was claimed in time.
    pub(super) expires_at: Option<DateTime<Utc>>,
    /// Who holds a running job.
    pub(super) held: Option<Held>,
    /// What a running job was asked to do.
    pub(super) asked: Option<Asked>,
    /// Whether it was asked to cancel before it was asked to roll back.
    pub(super) cancelled_before: bool,
    pub(super) stage: Stage,
    pub(super) steps: Steps,
    /// What makes a parked run ready before it is due.
    pub(super) waits: Vec<Wait>,
    /// Why a parked run cannot go on by itself.
    pub(super) parked: Option<RecordedFailure>,
    pub(super) output: Option<JsonText>,
    pub(super) failure: Option<RecordedFailure>,
    pub(super) progress: Option<Progress>,
    pub(super) finished_at: Option<DateTime<Utc>>,
    /// When it leaves the history; `None` for what stays.
    pub(super) keep_until: Option<DateTime<Utc>>,
}

/// What somebody asks of a running job. The larger one stands, whichever came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    Cancel,
    RollBack,
}

/// A worker's claim of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) worker: WorkerId,
    pub(super) token: Token,
    pub(super) since: DateTime<Utc>,
}

impl Row {
    /// A job that was just enqueued.
    pub(super) fn new(new: &NewJob, now: DateTime<Utc>) -> Self {
        let start = match new.start {
            Start::Now => now,
            Start::After(delay) => clock::after(now, delay),
            Start::At(time) => time.max(now),
        };
        let delayed = start > now;
        Self {
            new: new.clone(),
            state: if delayed { State::Delayed } else { State::Ready },
            attempt: 1,
            crashes: 0,
            created_at: now,
            due_at: delayed.then_some(start),
            ready: (now, 0),
            expires_at: new.expires_after.map(|age| clock::after(start, age)),
            held: None,
            asked: None,
            cancelled_before: false,
            stage: Stage::Fresh,
            steps: Steps::default(),
            waits: Vec::new(),
            parked: None,
            output: None,
            failure: None,
            progress: None,
            finished_at: None,
            keep_until: None,
        }
    }

    /// Makes it claimable. The store gives it its place.
    pub(super) fn make_ready(&mut self, now: DateTime<Utc>) {
        self.move_to(State::Ready);
        self.ready = (now, 0);
    }

    /// Lets it wait until it is due.
    pub(super) fn make_delayed(&mut self, due: DateTime<Utc>) {
        self.move_to(State::Delayed);
        self.due_at = Some(due);
    }

    /// Lets it wait for events, children and its time.
    pub(super) fn suspend(&mut self, due: Option<DateTime<Utc>>, waits: Vec<Wait>, reason: Option<RecordedFailure>) {
        self.move_to(State::Suspended);
        (self.due_at, self.waits, self.parked) = (due, waits, reason);
    }

    /// Records a step.
    pub(super) fn record_step(&mut self, step: &StepWrite, now: DateTime<Utc>) {
        self.steps.write(step, self.attempt, now);
        self.stage = self.stage.max(Stage::Recorded);
        if step.kind == StepKind::Pivot && self.stage < Stage::PastPivot {
            self.stage = Stage::PastPivot;
            self.take_back_roll_back();
        }
    }

    /// Notes what it is asked, while it runs.
    pub(super) fn ask(&mut self, asked: Asked) {
        self.cancelled_before |= self.asked == Some(Asked::Cancel);
        self.asked = Some(asked);
    }

    /// Ends a request to roll back. One to cancel that came before it stands.
    fn take_back_roll_back(&mut self) {
        if self.asked == Some(Asked::RollBack) {
            self.asked = self.cancelled_before.then_some(Asked::Cancel);
        }
    }

    /// Decides that it unwinds, whatever it was asked before.
    pub(super) fn unwind(&mut self, failure: &RecordedFailure, now: DateTime<Utc>) {
        self.steps.unwind(failure, self.attempt, now);
        self.stage = Stage::Unwinding;
        self.failure = Some(failure.clone());
        self.crashes = 0;
        (self.asked, self.cancelled_before) = (None, false);
    }

    /// Gives it to a worker.
    pub(super) fn claim(&mut self, held: Held) -> Claimed {
        self.move_to(State::Running);
        self.held = Some(held);
        let expired = self.expires_at.is_some_and(|end| end <= held.since);
        if !expired {
            self.expires_at = None;
        }
        let new = &self.new;
        Claimed {
            stage: self.stage,
            parent: new.parent,
            fence: Fence { job: new.id, attempt: self.attempt, token: held.token },
            kind: new.kind.clone(),
            version: new.version,
            queue: new.queue.clone(),
            tenant: new.tenant.clone(),
            priority: new.priority,
            crashes: self.crashes,
            payload: new.payload.clone(),
            overrides: new.overrides,
            metadata: new.metadata.clone(),
            trace: new.trace.clone(),
            enqueued_by: new.enqueued_by.clone(),
            failure: self.failure.clone(),
            created_at: self.created_at,
            ready_at: self.ready.0,
            claimed_at: held.since,
            expired,
        }
    }

    /// The fence of the claim that holds it.
    pub(super) fn fence(&self) -> Option<Fence> {
        self.held.map(|held| Fence { job: self.new.id, attempt: self.attempt, token: held.token })
    }

    /// Ends it.
    pub(super) fn end(&mut self, state: State, now: DateTime<Utc>, keep: Keep) {
        debug_assert!(state.is_final());
        self.move_to(state);
        self.finished_at = Some(now);
        self.keep_until = match (state, keep) {
            (State::Dead, _) => None,
            (_, Keep::None) => Some(now),
            (_, Keep::For(period)) => Some(clock::after(now, period)),
        };
    }

    /// Whether it is over and nothing is written about it any more. A dead one may yet go on.
    pub(super) fn is_history(&self) -> bool {
        self.state.is_final() && self.state != State::Dead
    }

    /// The waits for an event of a name and key.
    pub(super) fn awaited(&self, place: &(String, String)) -> impl Iterator<Item = &WaitEvent> {
        self.waits.iter().filter_map(move |wait| match wait {
            Wait::Event(wait) if wait.name == place.0 && wait.key == place.1 => Some(wait),
            _ => None,
        })
    }

    /// Its end, as the run that spawned it learns of it.
    pub(super) fn child_end(&self) -> ChildEnd {
        let failure = self.failure.clone().filter(|_| self.state != State::Completed);
        ChildEnd { state: self.state, output: self.output.clone(), failure }
    }

    /// Lets a dead job that unwound in part be made ready again, every compensation with its full budget.
    pub(super) fn unwind_further(&mut self) {
        self.steps.renew_undos();
        self.crashes = 0;
        self.finished_at = None;
    }

    /// Starts a dead job over: from where it failed, or anew if it unwound.
    pub(super) fn start_over(&mut self, now: DateTime<Utc>) {
        self.make_ready(now);
        if self.stage == Stage::Unwinding {
            self.steps.forget(now);
            self.stage = Stage::Recorded;
        }
        self.steps.of_no_attempt();
        self.attempt = 1;
        self.crashes = 0;
        self.expires_at = None;
        self.finished_at = None;
        self.progress = None;
    }

    fn move_to(&mut self, state: State) {
        debug_assert!(self.state.next().contains(&state), "{} may not follow {}", state, self.state);
        self.state = state;
        self.held = None;
        self.due_at = None;
        (self.asked, self.cancelled_before) = (None, false);
        self.waits.clear();
        self.parked = None;
    }

    /// The job for inspection.
    pub(super) fn record(&self) -> JobRecord {
        let new = &self.new;
        JobRecord {
            stage: self.stage,
            parent: new.parent,
            parked: self.parked.clone(),
            id: new.id,
            kind: new.kind.clone(),
            version: new.version,
            queue: new.queue.clone(),
            tenant: new.tenant.clone(),
            state: self.state,
            priority: new.priority,
            attempt: self.attempt,
            crashes: self.crashes,
            payload: new.payload.clone(),
            output: self.output.clone(),
            failure: self.failure.clone(),
            progress: self.progress.clone(),
            metadata: new.metadata.clone(),
            trace: new.trace.clone(),
            enqueued_by: new.enqueued_by.clone(),
            created_at: self.created_at,
            due_at: self.due_at,
            finished_at: self.finished_at,
            cancel_requested: self.asked.is_some(),
        }
    }
}
