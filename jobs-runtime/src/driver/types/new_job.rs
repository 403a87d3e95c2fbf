//! A job to be written, and what became of it.

use crate::{
    backoff::Backoff,
    id::JobId,
    json::JsonText,
    spec::{Hold, OnConflict},
    state::State,
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::time::Duration;

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
    /// The run that spawned it, and learns of its end.
    pub parent: Option<JobId>,
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
