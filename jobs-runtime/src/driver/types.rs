//! The params and answers of the driver's calls: plain data.

use crate::{
    backoff::Backoff,
    driver::Lease,
    error::Error,
    failure::RecordedFailure,
    id::JobId,
    json::JsonText,
    spec::{Hold, Keep, OnConflict},
    state::State,
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a driver may or may not be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capability {
    /// Enqueue in the caller's transaction.
    Transactions,
    /// Unique keys.
    UniqueKeys,
    /// Hand out transactions that are bound to the run's tenant (`ctx.tx()`).
    TenantTransactions,
}

/// Whether the schema may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migrate {
    /// Apply what is missing.
    ApplyAll,
    /// Change nothing; refuse a schema that is not the one this code needs.
    VerifyOnly,
}

/// What a migration did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The schema's version now.
    pub version: u32,
    /// How many migrations this call applied.
    pub applied: u32,
}

/// A job to be written: the one normalised record of single, bulk, transactional, dynamic and follow-up enqueues.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Its id, made by the client.
    pub id: JobId,
    /// The job's name.
    pub kind: String,
    /// The payload's version.
    pub version: u16,
    /// The queue.
    pub queue: String,
    /// The tenant.
    pub tenant: Option<String>,
    /// Lower runs first.
    pub priority: i16,
    /// When it may start.
    pub start: Start,
    /// The payload.
    pub payload: JsonText,
    /// The unique key.
    pub unique: Option<NewUnique>,
    /// What this enqueue says otherwise than the declaration.
    pub overrides: Overrides,
    /// The longest wait for the first start, from now or from its delayed start.
    pub expires_after: Option<Duration>,
    /// The caller's own key-value pairs, as a JSON object.
    pub metadata: Option<JsonText>,
    /// The W3C `traceparent` of the enqueuing span.
    pub trace: Option<String>,
    /// Who enqueued it, for attribution. Never authority.
    pub enqueued_by: Option<String>,
}

/// When a job may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At once.
    Now,
    /// After this long, by the store's clock.
    After(Duration),
    /// At this time, by the store's clock.
    At(DateTime<Utc>),
}

/// A unique key to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewUnique {
    /// SHA-256 over job name, tenant and key text.
    pub key: [u8; 32],
    /// While what the key is taken.
    pub hold: Hold,
    /// What to do if it is taken.
    pub on_conflict: OnConflict,
}

/// What one enqueue says otherwise than the declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Overrides {
    /// Attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff: Option<Backoff>,
    /// The longest run of one attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

impl Overrides {
    /// Whether nothing is overridden.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What became of an enqueue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// A new job was written.
    Inserted {
        /// Its id.
        id: JobId,
    },
    /// A job of the same unique key holds the key; nothing was written.
    Existing {
        /// The id of the job that holds the key.
        id: JobId,
        /// Its state; `None` if it has left the store while its key is still held.
        state: Option<State>,
    },
}

impl Enqueued {
    /// The id of the job that now stands for the enqueue.
    #[must_use]
    pub fn id(&self) -> JobId {
        match self {
            Self::Inserted { id } | Self::Existing { id, .. } => *id,
        }
    }

    /// Whether a new job was written.
    #[must_use]
    pub fn is_inserted(&self) -> bool {
        matches!(self, Self::Inserted { .. })
    }
}

/// The identity of one incarnation of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId(pub i64);

/// The token of one claim of one job. No two claims ever share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub i64);

/// A worker that begins its lease.
#[derive(Debug, Clone)]
pub struct NewWorker {
    /// A name for people: host and process by default.
    pub name: String,
    /// The lease.
    pub lease: Lease,
    /// The queues that it serves, with their concurrency.
    pub queues: Vec<(String, u32)>,
    /// The kinds that it knows, aliases included.
    pub kinds: Vec<KnownKind>,
}

/// A kind that a worker can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKind {
    /// The job's name or alias.
    pub name: String,
    /// The newest payload version that it can decode.
    pub version: u16,
    /// The queue that the job is declared for, so that an enqueue from SQL finds it.
    pub queue: String,
}

/// What a worker wants to claim.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The claiming worker.
    pub worker: WorkerId,
    /// How many of each queue at most.
    pub queues: Vec<(String, u32)>,
    /// The kinds that it knows.
    pub kinds: std::sync::Arc<[KnownKind]>,
}

/// A job held by a worker.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The fence that every write about it carries.
    pub fence: Fence,
    /// The name that it was queued under: the job's own or an alias.
    pub kind: String,
    /// The payload's version.
    pub version: u16,
    /// The queue.
    pub queue: String,
    /// The tenant.
    pub tenant: Option<String>,
    /// The priority.
    pub priority: i16,
    /// How many times it took its worker down.
    pub crashes: u16,
    /// The payload.
    pub payload: JsonText,
    /// What its enqueue overrode.
    pub overrides: Overrides,
    /// The caller's own key-value pairs.
    pub metadata: Option<JsonText>,
    /// The `traceparent` of the enqueuing span.
    pub trace: Option<String>,
    /// Who enqueued it.
    pub enqueued_by: Option<String>,
    /// The last failure.
    pub failure: Option<RecordedFailure>,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// When it became ready.
    pub ready_at: DateTime<Utc>,
    /// When it was claimed, by the store's clock.
    pub claimed_at: DateTime<Utc>,
    /// Whether the time that `expires_after` allows had passed before its first start.
    pub expired: bool,
}

/// What identifies one claim of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The job.
    pub job: JobId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The claim's token.
    pub token: Token,
}

/// One write by a worker about a job that it holds.
#[derive(Debug, Clone)]
pub struct Write {
    /// The claim under which it writes.
    pub fence: Fence,
    /// What it writes.
    pub change: Change,
}

/// What a worker can write about a job. A test enumerates the variants and proves that each is fenced.
#[derive(Debug, Clone)]
pub enum Change {
    /// The job has ended.
    Finish(Finish),
    /// The job goes back to wait.
    Reschedule(Reschedule),
    /// The job reports how far it is.
    Progress(Progress),
}

/// The end of a job.
#[derive(Debug, Clone)]
pub struct Finish {
    /// `completed`, `dead`, `dropped`, `cancelled` or `expired`.
    pub state: State,
    /// The output of a completed job.
    pub output: Option<JsonText>,
    /// The failure of a job that did not complete.
    pub failure: Option<RecordedFailure>,
    /// How long it stays in the history. Dead jobs stay until an operator acts.
    pub keep: Keep,
    /// A job to be written in the same statement.
    pub follow_up: Option<Box<NewJob>>,
}

/// A job that goes back to wait. If it was asked to cancel meanwhile, it ends as cancelled instead.
#[derive(Debug, Clone)]
pub struct Reschedule {
    /// How long it waits; zero makes it ready at once.
    pub delay: Duration,
    /// The number of its next attempt: the same for a drain or snooze, one more after a failure.
    pub attempt: u32,
    /// The failure of the attempt, if it failed.
    pub failure: Option<RecordedFailure>,
    /// How long it stays in the history, if it ends as cancelled.
    pub keep: Keep,
}

/// How far a job is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// How much there is; `None` if unknown.
    pub total: Option<u64>,
    /// What it is doing.
    pub message: String,
}

/// What became of a write.
#[derive(Debug)]
pub enum Written {
    /// It landed.
    Landed,
    /// A reschedule found that the job was asked to cancel: it ended as cancelled.
    Cancelled,
    /// The fence no longer matches, or the worker's lease has lapsed: nothing was changed.
    Stale,
    /// The store refused this item: nothing was changed, the job is still held.
    Refused(Error),
}

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outlook {
    /// The queues, of those asked for, that hold ready jobs.
    pub ready: Vec<String>,
    /// How long until the next waiting job is due; zero if some are due now; `None` if none waits.
    pub next_due: Option<Duration>,
    /// Whether a worker's lease has lapsed, so that there is something to rescue.
    pub lapsed: bool,
}

/// What a promotion moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Promoted {
    /// How many jobs became ready.
    pub moved: u32,
    /// How long until the next waiting job is due; zero if more are due now; `None` if none waits.
    pub next_due: Option<Duration>,
}

/// What a rescue handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rescued {
    /// How many workers' leases had lapsed.
    pub workers: u32,
    /// How many jobs are ready again.
    pub jobs: u32,
    /// How many ended as cancelled.
    pub cancelled: u32,
}

/// A renewed lease.
#[derive(Debug, Clone, Default)]
pub struct Renewed {
    /// The worker's jobs that were asked to cancel.
    pub cancel: Vec<JobId>,
}

/// A hint that something may be to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// The queue has work.
    Queue(String),
    /// A running job was asked to cancel.
    Cancel(JobId),
    /// Hints may have been lost: look at everything.
    All,
}

/// What a cancel found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelAnswer {
    /// The job was waiting and has ended as cancelled.
    Cancelled,
    /// The job is running: its worker is told, and no new attempt will start.
    Asked,
    /// The job had already ended so.
    AlreadyFinal(State),
    /// No job of that id is stored.
    NotFound,
}

/// A job as it is stored, for inspection.
#[derive(Debug, Clone, Serialize)]
pub struct JobRecord {
    /// Its id.
    pub id: JobId,
    /// The name that it was queued under.
    pub kind: String,
    /// The payload's version.
    pub version: u16,
    /// The queue.
    pub queue: String,
    /// The tenant.
    pub tenant: Option<String>,
    /// The state.
    pub state: State,
    /// The priority.
    pub priority: i16,
    /// The running attempt, or the next one, from 1; of an ended job the last one.
    pub attempt: u32,
    /// How many times it took its worker down.
    pub crashes: u16,
    /// The payload.
    pub payload: JsonText,
    /// The output of a completed job.
    pub output: Option<JsonText>,
    /// The last failure.
    pub failure: Option<RecordedFailure>,
    /// The last reported progress.
    pub progress: Option<Progress>,
    /// The caller's own key-value pairs.
    pub metadata: Option<JsonText>,
    /// The `traceparent` of the enqueuing span.
    pub trace: Option<String>,
    /// Who enqueued it.
    pub enqueued_by: Option<String>,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// When a waiting job is due.
    pub due_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
    /// Whether a running job was asked to cancel.
    pub cancel_requested: bool,
}

/// Which jobs to list.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    /// Only of this state.
    pub state: Option<State>,
    /// Only of this queue.
    pub queue: Option<String>,
    /// Only of this kind.
    pub kind: Option<String>,
    /// Only of this tenant.
    pub tenant: Option<String>,
    /// Only those older than this one, for the next page.
    pub before: Option<JobId>,
    /// How many at most. Zero means 100; more than 200 means 200.
    pub limit: u32,
}

/// How many live and dead jobs a kind has in a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// The queue.
    pub queue: String,
    /// The kind.
    pub kind: String,
    /// The state.
    pub state: State,
    /// How many.
    pub jobs: u64,
    /// Whether a worker with a current lease serves the queue and knows the kind.
    pub has_worker: bool,
}

/// A worker with a current lease.
#[derive(Debug, Clone, Serialize)]
pub struct WorkerRecord {
    /// The incarnation.
    pub id: i64,
    /// The name for people.
    pub name: String,
    /// The queues with their concurrency.
    pub queues: Vec<(String, u32)>,
    /// The kinds that it knows.
    pub kinds: Vec<String>,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When its lease ends unless renewed.
    pub lease_until: DateTime<Utc>,
    /// How many jobs it holds.
    pub running: u64,
}
