//! A worker, its lease and its claims.

use super::{Overrides, Stage};
use crate::{driver::Lease, failure::RecordedFailure, id::JobId, json::JsonText, outline::OutlineItem};
use chrono::{DateTime, Utc};

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
    /// The outline of its body, so that a process without the job's code can show a run.
    pub outline: &'static [OutlineItem],
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
    /// What the run has recorded.
    pub stage: Stage,
    /// The run that spawned it.
    pub parent: Option<JobId>,
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

/// A renewed lease.
#[derive(Debug, Clone, Default)]
pub struct Renewed {
    /// The worker's jobs that were asked to cancel.
    pub cancel: Vec<JobId>,
    /// The worker's jobs that were asked to cancel and undo their steps.
    pub roll_back: Vec<JobId>,
}
