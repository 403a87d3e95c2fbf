//! The handle that a program enqueues and builds workers with. Cheap to clone.

mod build;
mod operate;

pub use build::Builder;

use crate::{
    ctx::Ctx,
    driver::{CancelAnswer, Driver, JobRecord, KindCount, ListFilter, Migrate, Migrated, WorkerRecord},
    enqueue::{self, Enqueue, EnqueueMany, check},
    error::{Error, code},
    id::JobId,
    job::Job,
    json::JsonText,
    payload,
    registry::Registry,
};
use std::{fmt, sync::Arc};

/// A store of jobs and the jobs that this process knows.
///
/// Made by [`Jobs::builder`] or one of its short forms. Clones share everything.
#[derive(Clone)]
pub struct Jobs(Arc<Inner>);

struct Inner {
    driver: Arc<dyn Driver>,
    registry: Arc<Registry>,
    payload_limit: usize,
    trace_context: Option<TraceContext>,
}

/// Gives the `traceparent` of the current span, if there is one.
type TraceContext = fn() -> Option<String>;

impl Jobs {
    /// The jobs of a registry, stored by a driver.
    #[must_use]
    pub fn new(driver: Arc<dyn Driver>, registry: Registry) -> Self {
        Self(Arc::new(Inner {
            driver,
            registry: Arc::new(registry),
            payload_limit: payload::MAX_BYTES,
            trace_context: None,
        }))
    }

    /// Every linked job, stored in this process's memory: for examples, tests and development. Nothing outlives the
    /// process.
    ///
    /// # Errors
    /// As [`Builder::driver`].
    pub fn memory() -> Result<Self, Error> {
        Self::builder().memory()
    }

    /// Every linked job, stored by Postgres, which is connected to: `postgres://user:password@host/database`.
    ///
    /// # Errors
    /// `X_STORE_CONFIG_INVALID` if the URL is not one, `X_STORE_UNAVAILABLE` if the server does not answer, and as
    /// [`Builder::driver`].
    #[cfg(feature = "pg")]
    pub async fn connect(url: &str) -> Result<Self, Error> {
        Self::builder().connect(url).await
    }

    /// Every linked job, stored by Postgres through a pool of the program's own.
    ///
    /// # Errors
    /// As [`Builder::driver`].
    #[cfg(feature = "pg")]
    pub fn postgres(pool: sqlx::PgPool) -> Result<Self, Error> {
        Self::builder().postgres(pool)
    }

    /// Says which jobs, which limits and which store.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The driver.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.0.driver
    }

    /// The jobs that this process knows.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// Creates the store's tables, or checks them. Any number of processes may call it at once.
    ///
    /// # Errors
    /// `X_SCHEMA_NEWER` if the tables are of a newer version; with `VerifyOnly` also `X_SCHEMA_MISSING` and
    /// `X_SCHEMA_OLDER`.
    pub async fn migrate(&self, mode: Migrate) -> Result<Migrated, Error> {
        self.driver().migrate(mode).await
    }

    /// Enqueues a job. Refine the answer, then await it.
    pub fn enqueue<J: Job>(&self, input: J::Input) -> Enqueue<'_> {
        Enqueue::new(self, enqueue::record::<J>(&input))
    }

    /// Enqueues many jobs in one round trip: all or nothing, answered in input order, at most 100,000. Refine the
    /// answer, then await it.
    pub fn enqueue_many<J: Job>(&self, inputs: impl IntoIterator<Item = J::Input>) -> EnqueueMany<'_> {
        EnqueueMany::new(self, inputs.into_iter().map(|input| enqueue::record::<J>(&input)))
    }

    /// Enqueues a job by its name, or an alias, with its input as JSON: for tools, and for callers in other languages.
    /// The input is decoded into the job's own type first, so that tenant and unique key are resolved as ever.
    ///
    /// Awaiting it answers `X_JOB_UNKNOWN` for a name that this process does not know, and `X_PAYLOAD_UNREADABLE` with
    /// the path of the fault for an input that does not decode.
    pub fn enqueue_dynamic(&self, name: &str, input: impl Into<JsonText>) -> Enqueue<'_> {
        let record = self.registry().find(name).and_then(|job| (job.record)(&input.into()));
        Enqueue::new(self, record)
    }

    /// Cancels a job: a waiting one at once, a running one by asking its worker, which is told within a second. After
    /// it has answered, no new attempt of the job starts.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND` if no job of that id is stored, `X_JOB_STATE_REFUSED` if it has ended already.
    pub async fn cancel(&self, job: JobId) -> Result<Cancelled, Error> {
        refuse_or(job, self.driver().cancel(job).await?, "cancelled")
    }

    /// Makes a dead job ready again with its stored payload, its attempts and crashes at their start.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND` if no job of that id is stored, `X_JOB_STATE_REFUSED` if it is not dead.
    pub async fn requeue(&self, job: JobId) -> Result<(), Error> {
        self.driver().requeue(job).await
    }

    /// Finds a job wherever it is stored: waiting, running, dead, or in the history.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND` if no job of that id is stored.
    pub async fn find(&self, job: JobId) -> Result<JobRecord, Error> {
        self.driver().find(job).await?.ok_or_else(|| not_found(job))
    }

    /// Lists jobs, newest first.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn list(&self, filter: ListFilter) -> Result<Vec<JobRecord>, Error> {
        self.driver().list(filter).await
    }

    /// Counts the live jobs and the dead of each queue and kind, and says whether a live worker serves both.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn counts(&self) -> Result<Vec<KindCount>, Error> {
        self.driver().counts().await
    }

    /// Lists the workers whose lease is current.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn workers(&self) -> Result<Vec<WorkerRecord>, Error> {
        self.driver().workers().await
    }

    /// The largest payload, in bytes of JSON.
    #[must_use]
    pub fn payload_limit(&self) -> usize {
        self.0.payload_limit
    }

    /// The `traceparent` of the current span, or of the run that enqueues. One that is not well-formed is left out:
    /// tracing must not stop a job.
    pub(crate) fn ambient_trace(&self) -> Option<String> {
        let current = self.0.trace_context.and_then(|current| current());
        let of_run = || Ctx::current().and_then(|ctx| ctx.trace().map(str::to_owned));
        current.or_else(of_run).filter(|trace| check::is_traceparent(trace))
    }
}

/// What became of a cancel, or an error that says why it could not be done.
fn refuse_or(job: JobId, answer: CancelAnswer, verb: &str) -> Result<Cancelled, Error> {
    match answer {
        CancelAnswer::Cancelled => Ok(Cancelled::AtOnce),
        CancelAnswer::Asked => Ok(Cancelled::Asked),
        CancelAnswer::AlreadyFinal(state) => {
            Err(Error::new(code::JOB_STATE_REFUSED, format!("job {job} cannot be {verb}: it is {state}")))
        }
        CancelAnswer::NotFound => Err(not_found(job)),
    }
}

/// What became of a cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// The job was waiting and has ended as cancelled.
    AtOnce,
    /// The job has not ended yet: its worker is told and no new attempt will start, or it undoes its steps first.
    Asked,
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jobs on {} ({} known)", self.driver().name(), self.registry().len())
    }
}

fn not_found(job: JobId) -> Error {
    Error::new(code::JOB_NOT_FOUND, format!("no job {job} is stored"))
}
