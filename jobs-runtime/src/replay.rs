//! Replays recorded runs against this process's code, without running a step: before a deploy, whether runs in flight
//! still fit. Upstream: operators, tests. Downstream: `steps`.

use crate::{
    cancel::Cancel,
    client::Jobs,
    ctx::{Ctx, NewCtx, Progresses, States},
    driver::{Claimed, Fence, Overrides, Stage, StepRecord, StepRef, Token},
    error::Error,
    execute::panic,
    failure::{self, RecordedFailure},
    id::JobId,
    job::JobDef,
    json::JsonText,
    steps::{self, Driven, Journal, Mode, NewRun, Quiesce, Stopped},
};
use chrono::{DateTime, Utc};
use futures_util::{FutureExt, future::BoxFuture};
use serde::{Deserialize, Serialize};
use std::{any::TypeId, fmt, future::IntoFuture, panic::AssertUnwindSafe, sync::Arc, time::Duration};

/// How long a replay may take: it waits for nothing but what the body awaits outside of steps.
const LIMIT: Duration = Duration::from_secs(10);

/// A run as it is recorded: all that a replay needs. Kept as JSON beside a test, it proves that later code still fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHistory {
    /// The job's id.
    pub job: JobId,
    /// The name that it was queued under.
    pub kind: String,
    /// The payload's version.
    pub version: u16,
    /// The tenant.
    pub tenant: Option<String>,
    /// The attempt that the run is at.
    pub attempt: u32,
    /// When the job was enqueued.
    pub created_at: DateTime<Utc>,
    /// The payload.
    pub payload: JsonText,
    /// What is recorded, by the order of starts.
    pub steps: Vec<StepRecord>,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// The job's id.
    pub job: JobId,
    /// How the body ended.
    pub end: ReplayEnd,
    /// Where code and records part. Empty if the run can go on.
    pub findings: Vec<Finding>,
}

/// How a replayed body ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReplayEnd {
    /// It returned `Ok`.
    Returned,
    /// It failed, as it would in the run.
    Failed(RecordedFailure),
    /// It came to these lines, which are not complete: the run goes on there.
    Open(Vec<String>),
    /// Its records do not fit: the run would be parked.
    Parted,
    /// It awaited something outside of a step for longer than 10 s.
    Stuck,
}

/// Where code and records part.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// A record that does not fit the code, or a line that cannot begin: the run would be parked, or fail.
    Mismatch(String),
    /// A step that is recorded, and that the body came past without using: the code has it no more.
    NotReached(String),
    /// A line that is not complete stands before a step that is recorded: it would run when the run goes on.
    Inserted(String),
    /// The payload does not decode.
    Payload(String),
    /// The body panicked.
    Panic(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch(what) => f.write_str(what),
            Self::NotReached(step) => write!(f, "step `{step}` is recorded, and the body does not come to it"),
            Self::Inserted(step) => write!(f, "step `{step}` is not complete and stands before recorded ones"),
            Self::Payload(what) => write!(f, "the payload does not decode: {what}"),
            Self::Panic(what) => write!(f, "the body panicked: {what}"),
        }
    }
}

/// A replay that is about to begin. Give it the states that the body reads outside of steps, then await it.
pub struct Replay<'a> {
    jobs: &'a Jobs,
    history: RunHistory,
    states: States,
}

impl Jobs {
    /// All that is recorded of a run, as a replay needs it: of a live or dead job, or of one in the history.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND` if no job of that id is stored.
    pub async fn history(&self, job: JobId) -> Result<RunHistory, Error> {
        let record = self.find(job).await?;
        let steps = self.driver().steps(job).await?;
        Ok(RunHistory {
            job,
            kind: record.kind,
            version: record.version,
            tenant: record.tenant,
            attempt: record.attempt,
            created_at: record.created_at,
            payload: record.payload,
            steps,
        })
    }

    /// Replays a recorded run against this process's code. Steps are answered from their records; the first line of
    /// each branch that is not complete ends it, and none is run. What the body does outside of steps is done.
    ///
    /// Awaiting it answers `X_JOB_UNKNOWN` for a job that this process does not know.
    pub fn replay(&self, history: RunHistory) -> Replay<'_> {
        Replay { jobs: self, history, states: States::new() }
    }

    /// Replays what is recorded of a job against this process's code: [`history`](Self::history) and
    /// [`replay`](Self::replay) in one.
    ///
    /// # Errors
    /// As both.
    pub async fn replay_check(&self, job: JobId) -> Result<Replayed, Error> {
        self.replay(self.history(job).await?).await
    }
}

impl Replay<'_> {
    /// Gives the body a state.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.states.insert(TypeId::of::<T>(), Arc::new(state));
        self
    }

    async fn run(self) -> Result<Replayed, Error> {
        let def = self.jobs.registry().find(&self.history.kind)?;
        let job = self.history.job;
        let parted = |finding| Replayed { job, end: ReplayEnd::Parted, findings: vec![finding] };
        let prepared = match panic::guard(|| (def.prepare)(&self.history.payload, self.history.version)) {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(failure)) => return Ok(parted(Finding::Payload(failure.to_string()))),
            Err(text) => return Ok(parted(Finding::Panic(text))),
        };
        let ctx = self.ctx(def);
        let run = ctx.steps().clone();
        let mut body = Quiesce::new(Box::pin(ctx.clone().scope((prepared.body)(ctx))), run.clone());
        let settled = tokio::time::timeout(LIMIT, AssertUnwindSafe(body.settle()).catch_unwind()).await;
        let (reached, open) = (run.unreached(), run.frontier());
        body.let_go();
        run.end();
        Ok(match settled {
            Err(_) => Replayed { job, end: ReplayEnd::Stuck, findings: Vec::new() },
            Ok(Err(panicked)) => parted(Finding::Panic(panic::text(panicked))),
            Ok(Ok(driven)) => judge(job, driven, reached, open),
        })
    }

    fn ctx(&self, def: &'static JobDef) -> Ctx {
        let RunHistory { job, kind, version, tenant, attempt, created_at, payload, steps } = &self.history;
        let last = steps.iter().filter_map(|step| step.finished_at).max().unwrap_or(*created_at);
        let claimed = Claimed {
            fence: Fence { job: *job, attempt: *attempt, token: Token(0) },
            kind: kind.clone(),
            version: *version,
            queue: def.spec.queue.to_owned(),
            tenant: tenant.clone(),
            priority: def.spec.priority,
            stage: Stage::Recorded,
            parent: None,
            crashes: 0,
            payload: payload.clone(),
            overrides: Overrides::default(),
            metadata: None,
            trace: None,
            enqueued_by: None,
            failure: None,
            created_at: *created_at,
            ready_at: last,
            claimed_at: last,
            expired: false,
        };
        let cancel = Cancel::default();
        let run = steps::Run::new(NewRun {
            jobs: self.jobs.clone(),
            claimed: &claimed,
            journal: Journal::Replay,
            cancel: cancel.clone(),
            mode: Mode::Replay,
            mocks: steps::mocks(&self.states),
        });
        run.load(steps.clone());
        Ctx::new(NewCtx {
            jobs: self.jobs.clone(),
            job: def.spec.name,
            max_attempts: def.spec.retry.max_attempts,
            progress: Progresses::new(None, claimed.fence, cancel.clone()),
            claimed,
            states: Arc::new(self.states.clone()),
            cancel,
            steps: run,
        })
    }
}

type Returned = Result<Option<JsonText>, failure::Failure>;

fn judge(job: JobId, driven: Driven<Returned>, unreached: Vec<StepRef>, open: Vec<String>) -> Replayed {
    let names = |steps: &[StepRef]| steps.iter().map(steps::label).collect::<Vec<_>>();
    let not_reached = || names(&unreached).into_iter().map(Finding::NotReached).collect();
    let (end, findings) = match driven {
        Driven::Returned(Ok(_)) => (ReplayEnd::Returned, not_reached()),
        Driven::Returned(Err(failure)) => (ReplayEnd::Failed(failure::record(&failure, None)), not_reached()),
        Driven::Stopped(Stopped::Fail(failure)) => (ReplayEnd::Parted, vec![Finding::Mismatch(failure.to_string())]),
        Driven::Stopped(Stopped::Park(reason, _)) => (ReplayEnd::Parted, vec![Finding::Mismatch(reason.operator)]),
        Driven::Stopped(Stopped::HandBack(_)) => (ReplayEnd::Stuck, Vec::new()),
        Driven::Halted | Driven::Waits(_) if unreached.is_empty() => (ReplayEnd::Open(open), Vec::new()),
        Driven::Halted | Driven::Waits(_) => {
            let inserted = open.iter().cloned().map(Finding::Inserted).collect();
            (ReplayEnd::Open(open), inserted)
        }
    };
    Replayed { job, end, findings }
}

impl<'a> IntoFuture for Replay<'a> {
    type Output = Result<Replayed, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replay of {:?}", self.history)
    }
}
