//! Opens connections: the driver's own few with pinned plans, and single ones for leases and hints.
//! Upstream: the caller's pool. Downstream: the verbs.

use super::{Pg, Schema, Statements, Tokens, fault};
use crate::error::{Error, code};
use sqlx::{
    Executor, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{str::FromStr, sync::OnceLock, time::Duration};

/// What a hot statement may do is pinned: a queue's statistics are always wrong, and each of these plans is ruinous on
/// a table that was empty when it was last analysed. Hash joins stay: they only ever join a batch with itself.
const PINNED: &str = "
    SET search_path = pg_catalog;
    SET statement_timeout = '30s';
    SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '30s';
    SET jit = off;
    SET enable_seqscan = off;
    SET enable_bitmapscan = off;
    SET enable_mergejoin = off;
    SET enable_nestloop = off;
    SET plan_cache_mode = force_generic_plan;
";
const UNPINNED: &str = "SELECT 1";

/// How a [`Pg`] is set up.
///
/// # Examples
/// ```no_run
/// # async fn f() -> Result<(), jobs_runtime::Error> {
/// use jobs_runtime::driver::pg::Pg;
/// let driver = Pg::options().schema("work").worker_connections(4).connect("postgres://localhost/app").await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct PgOptions {
    schema: String,
    worker_connections: u32,
    pin_plans: bool,
}

impl Default for PgOptions {
    fn default() -> Self {
        Self { schema: "jobs".to_owned(), worker_connections: 2, pin_plans: true }
    }
}

impl PgOptions {
    /// Sets the schema that holds the tables: 1 to 50 letters, digits and `_`. Default `jobs`.
    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// Sets how many connections of its own the driver opens for workers, besides one per lease and one per
    /// subscription to hints. At least 1, default 2. A process that only enqueues opens none.
    #[must_use]
    pub fn worker_connections(mut self, count: u32) -> Self {
        self.worker_connections = count.max(1);
        self
    }

    /// Sets whether the driver pins planner settings on its own connections. Default true.
    ///
    /// Turn it off behind a pooler in transaction mode, where a session's settings would leak to other clients.
    #[must_use]
    pub fn pin_plans(mut self, pin: bool) -> Self {
        self.pin_plans = pin;
        self
    }

    /// Builds the driver over a pool of the caller's.
    ///
    /// Enqueues without a transaction and inspection use the pool; workers use connections of the driver's own, opened
    /// with the pool's connect options when they are first needed.
    ///
    /// # Errors
    /// `X_STORE_CONFIG_INVALID` if the schema's name is not one.
    pub fn build(self, pool: PgPool) -> Result<Pg, Error> {
        let schema = Schema::new(&self.schema)?;
        Ok(Pg {
            sql: Statements::new(&schema),
            channel: schema.channel(),
            schema,
            pool,
            own: OnceLock::new(),
            tokens: Tokens::default(),
            options: self,
        })
    }

    /// Connects a pool of at most 10 connections and builds the driver over it.
    ///
    /// # Errors
    /// `X_STORE_CONFIG_INVALID` if the URL or the schema's name is not one, `X_STORE_UNAVAILABLE` if the server does
    /// not answer.
    pub async fn connect(self, url: &str) -> Result<Pg, Error> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|_| Error::new(code::STORE_CONFIG_INVALID, "the database's URL cannot be read"))?;
        let pool = PgPoolOptions::new()
            .max_connections(10)
            .acquire_timeout(Duration::from_secs(10))
            .test_before_acquire(false)
            .connect_with(options)
            .await
            .map_err(fault::store("accept a connection"))?;
        self.build(pool)
    }
}

impl Pg {
    /// The driver's own connections, opened when first needed: lazily, since a pool belongs to a runtime.
    pub(super) fn own(&self) -> &PgPool {
        self.own.get_or_init(|| {
            let settings = if self.options.pin_plans { PINNED } else { UNPINNED };
            PgPoolOptions::new()
                .max_connections(self.options.worker_connections)
                .acquire_timeout(Duration::from_secs(10))
                // A round trip before each statement, to learn what the statement itself will say.
                .test_before_acquire(false)
                .after_connect(move |connection, _| {
                    Box::pin(async move { connection.execute(sqlx::raw_sql(settings)).await.map(drop) })
                })
                .connect_lazy_with(self.connect_options("worker"))
        })
    }

    /// The caller's connect options, with a name that says what the connection is for.
    pub(super) fn connect_options(&self, role: &str) -> PgConnectOptions {
        let options = PgConnectOptions::clone(&self.pool.connect_options());
        options.application_name(&format!("jobs:{role}"))
    }
}
