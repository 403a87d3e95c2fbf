//! The columns of a batch of new jobs, one array each. Upstream: `enqueue`. Downstream: nothing.

use super::times::seconds;
use crate::{
    driver::{NewJob, Overrides, Start},
    error::{Error, code},
    spec::{Hold, OnConflict},
};
use chrono::{DateTime, Utc};
use sqlx::{Postgres, postgres::PgArguments, query::Query};
use uuid::Uuid;

/// A query with its arguments.
type Bound<'q> = Query<'q, Postgres, PgArguments>;

/// A batch, column by column.
#[derive(Default)]
pub(super) struct NewJobs<'a> {
    ids: Vec<Uuid>,
    kinds: Vec<&'a str>,
    versions: Vec<i16>,
    queues: Vec<&'a str>,
    tenants: Vec<Option<&'a str>>,
    priorities: Vec<i16>,
    start_at: Vec<Option<DateTime<Utc>>>,
    start_after: Vec<Option<f64>>,
    payloads: Vec<&'a str>,
    overrides: Vec<Option<String>>,
    expires_after: Vec<Option<f64>>,
    metadata: Vec<Option<&'a str>>,
    traces: Vec<Option<&'a str>>,
    enqueued_by: Vec<Option<&'a str>>,
    parents: Vec<Option<Uuid>>,
    keys: Vec<Option<&'a [u8]>>,
    holds: Vec<Option<i16>>,
    periods: Vec<Option<f64>>,
    rejects: Vec<bool>,
}

impl<'a> NewJobs<'a> {
    /// Takes the jobs apart. `first` is the place of the first in the whole batch, for messages.
    pub(super) fn of(jobs: &'a [NewJob], first: usize) -> Result<Self, Error> {
        let mut columns = Self::default();
        for (index, job) in jobs.iter().enumerate() {
            columns.push(job).map_err(|error| error.at_index(first + index))?;
        }
        Ok(columns)
    }

    fn push(&mut self, job: &'a NewJob) -> Result<(), Error> {
        let version = i16::try_from(job.version).map_err(|_| {
            let detail = format!("payload version {} of `{}` is above 32767", job.version, job.kind);
            Error::new(code::DECLARATION_INVALID, detail)
        })?;
        let (start_at, start_after) = match job.start {
            Start::Now => (None, Some(0.0)),
            Start::After(delay) => (None, Some(seconds(delay))),
            Start::At(time) => (Some(time), None),
        };
        self.ids.push(job.id.0);
        self.kinds.push(&job.kind);
        self.versions.push(version);
        self.queues.push(&job.queue);
        self.tenants.push(job.tenant.as_deref());
        self.priorities.push(job.priority);
        self.start_at.push(start_at);
        self.start_after.push(start_after);
        self.payloads.push(job.payload.as_str());
        self.overrides.push(overrides_text(&job.overrides)?);
        self.expires_after.push(job.expires_after.map(seconds));
        self.metadata.push(job.metadata.as_ref().map(|metadata| metadata.as_str()));
        self.traces.push(job.trace.as_deref());
        self.enqueued_by.push(job.enqueued_by.as_deref());
        self.parents.push(job.parent.map(|parent| parent.0));
        self.keys.push(job.unique.as_ref().map(|unique| &unique.key[..]));
        self.holds.push(job.unique.map(|unique| hold_code(unique.hold)));
        self.periods.push(job.unique.and_then(|unique| period(unique.hold)));
        self.rejects.push(job.unique.is_some_and(|unique| unique.on_conflict == OnConflict::Reject));
        Ok(())
    }

    /// Binds what every job has, and the channel of the hints.
    pub(super) fn bind<'q>(&'q self, query: Bound<'q>, channel: &'q str) -> Bound<'q> {
        query
            .bind(&self.ids)
            .bind(&self.kinds)
            .bind(&self.versions)
            .bind(&self.queues)
            .bind(&self.tenants)
            .bind(&self.priorities)
            .bind(&self.start_at)
            .bind(&self.start_after)
            .bind(&self.payloads)
            .bind(&self.overrides)
            .bind(&self.expires_after)
            .bind(&self.metadata)
            .bind(&self.traces)
            .bind(&self.enqueued_by)
            .bind(&self.parents)
            .bind(channel)
    }

    /// Binds the unique keys.
    pub(super) fn bind_unique<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query.bind(&self.keys).bind(&self.holds).bind(&self.periods).bind(&self.rejects)
    }
}

/// The unique keys of jobs that have one.
#[derive(Default)]
pub(super) struct Keys<'a> {
    keys: Vec<&'a [u8]>,
    ids: Vec<Uuid>,
    holds: Vec<i16>,
    periods: Vec<Option<f64>>,
}

impl<'a> Keys<'a> {
    pub(super) fn of(jobs: impl Iterator<Item = &'a NewJob>) -> Self {
        let mut columns = Self::default();
        for (job, unique) in jobs.filter_map(|job| Some((job, job.unique.as_ref()?))) {
            columns.keys.push(&unique.key);
            columns.ids.push(job.id.0);
            columns.holds.push(hold_code(unique.hold));
            columns.periods.push(period(unique.hold));
        }
        columns
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query.bind(&self.keys).bind(&self.ids).bind(&self.holds).bind(&self.periods)
    }
}

fn overrides_text(overrides: &Overrides) -> Result<Option<String>, Error> {
    if overrides.is_empty() {
        return Ok(None);
    }
    serde_json::to_string(overrides)
        .map(Some)
        .map_err(|error| Error::new(code::STORE_FAILED, format!("the overrides of a job cannot be stored: {error}")))
}

fn hold_code(hold: Hold) -> i16 {
    match hold {
        Hold::Live => 0,
        Hold::Queued => 1,
        Hold::Forever => 2,
        Hold::For(_) => 3,
    }
}

fn period(hold: Hold) -> Option<f64> {
    match hold {
        Hold::For(period) => Some(seconds(period)),
        Hold::Live | Hold::Queued | Hold::Forever => None,
    }
}
