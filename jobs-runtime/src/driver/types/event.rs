//! Events: what is published, what is stored, what a wait looks for.

use crate::json::JsonText;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};
use uuid::Uuid;

/// The id of an event: a UUID of version 7, made by the publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub Uuid);

impl EventId {
    /// A new id, larger than all that this process made before.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "two defaults are expected to be equal, two ids never are")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An event to be published.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// Its id.
    pub id: EventId,
    /// The event's name.
    pub name: String,
    /// What a wait is matched by.
    pub key: String,
    /// Whose event it is. One without a tenant is seen by every run, one with a tenant by that tenant's runs alone.
    pub tenant: Option<String>,
    /// The payload.
    pub payload: JsonText,
    /// How long it can be found.
    pub ttl: Duration,
}

/// A published event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its id.
    pub id: EventId,
    /// When it was published, by the store's clock.
    pub published_at: DateTime<Utc>,
    /// From when on it is found no more.
    pub expires_at: DateTime<Utc>,
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventRecord {
    /// Its id.
    pub id: EventId,
    /// The event's name.
    pub name: String,
    /// What a wait is matched by.
    pub key: String,
    /// Whose event it is.
    pub tenant: Option<String>,
    /// The payload.
    pub payload: JsonText,
    /// When it was published.
    pub published_at: DateTime<Utc>,
    /// From when on it is found no more.
    pub expires_at: DateTime<Utc>,
}

/// What a wait looks for: the earliest by publication, ties by id.
#[derive(Debug, Clone)]
pub struct FindEvent {
    /// The event's name.
    pub name: String,
    /// Its key.
    pub key: String,
    /// The run's tenant.
    pub tenant: Option<String>,
    /// The events that the run has taken already.
    pub taken: Vec<EventId>,
    /// Only events published before this: the end of the wait.
    pub before: Option<DateTime<Utc>>,
}
