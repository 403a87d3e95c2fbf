//! Stores jobs in Postgres. Upstream: `driver`. Downstream: sqlx.
//!
//! The hot tables hold live work only: a claim moves rows from `ready` to `running`, an end moves them to `dead`, to
//! `history`, or out. Each verb has a file here and its statements in `sql`; `docs/design.md` says why they look as
//! they do.

mod ask;
mod cancel;
mod claim;
mod commit;
mod connect;
mod enqueue;
mod events;
mod fault;
mod hints;
mod inspect;
mod lease;
mod look;
mod migrate;
mod new_jobs;
mod operate;
mod own;
mod pooler;
mod promote;
mod purge;
mod requeue;
mod rescue;
mod rows;
mod schema;
mod session;
mod step_tx;
mod steps;
mod tell;
mod times;
mod tokens;
mod tx;
mod wake;
mod worker;

pub use connect::PgOptions;

use crate::{
    driver::{
        CancelAnswer, Capability, Claim, Claimed, Driver, Enqueued, EventRecord, Fence, FindEvent, Hints, JobRecord,
        KindCount, LeaseSession, ListFilter, Migrate, Migrated, NewEvent, NewJob, NewWorker, Operation, Outlook,
        Promoted, Published, Rescued, StepRecord, StepTransaction, Tx, WorkerId, WorkerRecord, Write, Written,
    },
    error::Error,
    id::JobId,
    outline::StoredItem,
};
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use own::Own;
use schema::{Schema, Statements};
use session::ANSWER;
use sqlx::PgPool;
use std::{
    any::Any,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64},
    },
};
use tokens::Tokens;
use tokio::sync::watch;

/// The Postgres driver: PostgreSQL 14 or newer, no extension, no superuser, a schema of its own.
///
/// # Examples
/// ```no_run
/// # async fn f() -> Result<(), jobs_runtime::Error> {
/// use jobs_runtime::driver::{Driver, Migrate, pg::Pg};
/// let driver = Pg::connect("postgres://localhost/app").await?;
/// driver.migrate(Migrate::ApplyAll).await?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Pg {
    schema: Schema,
    channel: String,
    sql: Statements,
    /// The caller's pool: enqueues and inspection.
    pool: PgPool,
    /// The driver's own connections: what workers do.
    own: OnceLock<Arc<Own>>,
    tokens: Tokens,
    probes: Arc<hints::Probes>,
    swept: wake::Swept,
    untold: Arc<tell::Untold>,
    /// How many statements parked runs that could not see all events, and what tells the workers of it.
    unsure_parks: AtomicU64,
    nudges: watch::Sender<u64>,
    /// Whether it was found that no pooler in transaction mode stands in between.
    is_direct: AtomicBool,
    /// Whether a tenant's transaction has looked whether row-level security holds.
    has_looked_at_guards: AtomicBool,
    options: PgOptions,
}

impl Pg {
    /// The settings, to be changed before connecting.
    #[must_use]
    pub fn options() -> PgOptions {
        PgOptions::default()
    }

    /// Connects with the default settings.
    ///
    /// # Errors
    /// `X_STORE_CONFIG_INVALID` if the URL is not one, `X_STORE_UNAVAILABLE` if the server does not answer.
    pub async fn connect(url: &str) -> Result<Self, Error> {
        PgOptions::default().connect(url).await
    }

    /// The driver over a pool of the caller's, with the default settings.
    ///
    /// # Errors
    /// None with the default settings; see [`PgOptions::build`].
    pub fn new(pool: PgPool) -> Result<Self, Error> {
        PgOptions::default().build(pool)
    }

    /// The pool that enqueues and inspection use.
    #[must_use]
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// The name of the schema that holds the tables.
    #[must_use]
    pub fn schema(&self) -> &str {
        self.schema.name()
    }
}

impl Driver for Pg {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn supports(&self, capability: Capability) -> bool {
        match capability {
            Capability::Transactions | Capability::UniqueKeys | Capability::TenantTransactions => true,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn migrate(&self, mode: Migrate) -> BoxFuture<'_, Result<Migrated, Error>> {
        Box::pin(migrate::migrate(self, mode))
    }

    fn now(&self) -> BoxFuture<'_, Result<DateTime<Utc>, Error>> {
        Box::pin(inspect::now(self))
    }

    fn enqueue<'a>(&'a self, jobs: &'a [NewJob], tx: Option<Tx<'a>>) -> BoxFuture<'a, Result<Vec<Enqueued>, Error>> {
        Box::pin(enqueue::enqueue(self, jobs, tx))
    }

    fn start_worker(&self, worker: NewWorker) -> BoxFuture<'_, Result<WorkerId, Error>> {
        Box::pin(self.bounded(ANSWER, worker::start(self, worker)))
    }

    fn lease_session(&self, worker: WorkerId) -> BoxFuture<'_, Result<Box<dyn LeaseSession>, Error>> {
        Box::pin(lease::open(self, worker))
    }

    fn stop_worker(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.bounded(ANSWER, worker::stop(self, worker)))
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(claim::claim(self, claim))
    }

    fn look<'a>(&'a self, queues: &'a [String]) -> BoxFuture<'a, Result<Outlook, Error>> {
        Box::pin(look::look(self, queues))
    }

    fn held(&self, worker: WorkerId) -> BoxFuture<'_, Result<Vec<Fence>, Error>> {
        Box::pin(look::held(self, worker))
    }

    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> BoxFuture<'a, Result<Vec<Written>, Error>> {
        Box::pin(commit::commit(self, worker, writes))
    }

    fn promote(&self, limit: u32) -> BoxFuture<'_, Result<Promoted, Error>> {
        Box::pin(promote::promote(self, limit))
    }

    fn rescue(&self) -> BoxFuture<'_, Result<Rescued, Error>> {
        Box::pin(self.bounded(ANSWER, rescue::rescue(self)))
    }

    fn purge(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        Box::pin(self.bounded(4 * ANSWER, purge::purge(self, limit)))
    }

    fn hints(&self, worker: WorkerId, queues: Vec<String>) -> BoxFuture<'_, Result<Box<dyn Hints>, Error>> {
        Box::pin(hints::open(self, worker, queues))
    }

    fn cancel(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        Box::pin(cancel::cancel(self, job))
    }

    fn roll_back(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>> {
        Box::pin(cancel::roll_back(self, job))
    }

    fn steps(&self, job: JobId) -> BoxFuture<'_, Result<Vec<StepRecord>, Error>> {
        Box::pin(steps::steps(self, job))
    }

    fn begin_step(
        &self,
        worker: WorkerId,
        fence: Fence,
        tenant: Option<String>,
    ) -> BoxFuture<'_, Result<Box<dyn StepTransaction>, Error>> {
        Box::pin(step_tx::begin(self, worker, fence, tenant))
    }

    fn publish<'a>(
        &'a self,
        events: &'a [NewEvent],
        tx: Option<Tx<'a>>,
    ) -> BoxFuture<'a, Result<Vec<Published>, Error>> {
        Box::pin(events::publish(self, events, tx))
    }

    fn find_event(&self, find: FindEvent) -> BoxFuture<'_, Result<Option<EventRecord>, Error>> {
        Box::pin(events::find(self, find))
    }

    fn events<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<EventRecord>, Error>> {
        Box::pin(events::list(self, name))
    }

    fn purge_events(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        Box::pin(events::purge(self, limit))
    }

    fn wake(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        Box::pin(wake::wake(self, limit))
    }

    fn operate(&self, job: JobId, operation: Operation) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(operate::operate(self, job, operation))
    }

    fn requeue(&self, job: JobId) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(requeue::requeue(self, job))
    }

    fn find(&self, job: JobId) -> BoxFuture<'_, Result<Option<JobRecord>, Error>> {
        Box::pin(inspect::find(self, job))
    }

    fn list(&self, filter: ListFilter) -> BoxFuture<'_, Result<Vec<JobRecord>, Error>> {
        Box::pin(inspect::list(self, filter))
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<KindCount>, Error>> {
        Box::pin(inspect::counts(self))
    }

    fn outline<'a>(&'a self, kind: &'a str) -> BoxFuture<'a, Result<Option<Vec<StoredItem>>, Error>> {
        Box::pin(inspect::outline(self, kind))
    }

    fn workers(&self) -> BoxFuture<'_, Result<Vec<WorkerRecord>, Error>> {
        Box::pin(inspect::workers(self))
    }
}
