//! Says how connections are opened and set: the driver's own few with pinned plans, and single ones for leases and hints.
//! Upstream: the caller's pool. Downstream: `own`, `session`.

use super::{Pg, Schema, Statements, Tokens, fault, own::Own, session::Sessions, wake};
use crate::error::{Error, code};
use sqlx::{
    Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{
    str::FromStr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};
use tokio::{sync::watch, time::timeout};

/// Settings of our own connections, so that the database's defaults change nothing: for the session, or, behind a
/// pooler, for the transaction.
macro_rules! settings {
    ($set:literal) => {
        settings!($set;
            "search_path = pg_catalog"
            "statement_timeout = '10s'"
            "lock_timeout = '10s'"
            "idle_in_transaction_session_timeout = '15s'"
            "idle_session_timeout = 0"
            "default_transaction_isolation = 'read committed'"
            "default_transaction_deferrable = off"
        )
    };
    // What a hot statement may do is pinned: a queue's statistics are always wrong, and each of these plans is ruinous
    // on a table that was empty when it was last analysed. Hash joins stay: they only ever join a batch with itself.
    ($set:literal, pinned) => {
        concat!(
            settings!($set),
            settings!($set;
                "jit = off"
                "enable_indexscan = on"
                "enable_seqscan = off"
                "enable_bitmapscan = off"
                "enable_mergejoin = off"
                "enable_nestloop = off"
                "plan_cache_mode = force_generic_plan"
            )
        )
    };
    ($set:literal; $($setting:literal)*) => {
        concat!($($set, " ", $setting, "; "),*)
    };
}

/// Comes first in a transaction: its defaults were taken when it began.
macro_rules! isolation {
    () => {
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; "
    };
}

/// An idle connection of the pool of ours is asked whether it is well, if it was idle for so long.
const DOUBTFUL: Duration = Duration::from_secs(5);
/// How long it may take to answer.
const WELL: Duration = Duration::from_secs(1);

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
    transaction_pooler: bool,
}

impl Default for PgOptions {
    fn default() -> Self {
        Self { schema: "jobs".to_owned(), worker_connections: 2, pin_plans: true, transaction_pooler: false }
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
    /// A queue's statistics are always wrong: its tables were empty when they were last analysed, or will be soon.
    #[must_use]
    pub fn pin_plans(mut self, pin: bool) -> Self {
        self.pin_plans = pin;
        self
    }

    /// Sets whether the database is reached through a pooler that lends server connections for one transaction each,
    /// as PgBouncer does with `pool_mode = transaction`. Default false.
    ///
    /// - Every statement runs in a transaction, without a name on the server; settings are local to it.
    /// - There is no LISTEN through such a pooler: workers poll every 2 s, and a running job learns of its cancellation
    ///   with the next renewal of the lease (10 s by default).
    /// - Statements of your own through the pooler need `.persistent(false)` and a transaction, unless the pooler keeps
    ///   prepared statements (PgBouncer 1.21 or newer with `max_prepared_statements`).
    /// - PgBouncer needs `ignore_startup_parameters = extra_float_digits`.
    ///
    /// A worker that finds such a pooler without this setting refuses to start, with `X_STORE_CONFIG_INVALID`.
    #[must_use]
    pub fn transaction_pooler(mut self, pooled: bool) -> Self {
        self.transaction_pooler = pooled;
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
            probes: Arc::default(),
            swept: wake::Swept::default(),
            untold: Arc::default(),
            unsure_parks: AtomicU64::new(0),
            nudges: watch::Sender::new(0),
            is_direct: AtomicBool::new(false),
            has_looked_at_guards: AtomicBool::new(false),
            options: self,
        })
    }

    /// Connects a pool of at most 10 connections and builds the driver over it.
    ///
    /// # Errors
    /// `X_STORE_CONFIG_INVALID` if the URL or the schema's name is not one, `X_STORE_UNAVAILABLE` if the server does
    /// not answer.
    pub async fn connect(self, url: &str) -> Result<Pg, Error> {
        let options = parse(url)?;
        let pool = PgPoolOptions::new()
            .max_connections(10)
            .acquire_timeout(Duration::from_secs(10))
            .test_before_acquire(false)
            .before_acquire(|connection, lent| {
                Box::pin(async move {
                    if lent.idle_for < DOUBTFUL {
                        return Ok(true);
                    }
                    timeout(WELL, connection.ping()).await.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map(|()| true)
                })
            })
            .connect_with(options.clone())
            .await;
        match pool {
            Ok(pool) => self.build(pool),
            Err(error) => Err(fault::store("accept a connection")(reason(error, &options).await)),
        }
    }
}

/// # Errors
/// What is wrong with the URL, without the URL: it may hold a password.
fn parse(url: &str) -> Result<PgConnectOptions, Error> {
    let refused = |why: &str| {
        Error::new(code::STORE_CONFIG_INVALID, format!("the database's URL cannot be read: {why}"))
            .with_fix("write one such as `postgres://user:password@host:5432/database`")
    };
    if url.is_empty() {
        return Err(refused("it is empty"));
    }
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(refused("it does not begin with `postgres://`"));
    }
    PgConnectOptions::from_str(url).map_err(|error| match error {
        sqlx::Error::Configuration(why) => refused(&why.to_string()),
        _ => refused("it is not one of Postgres"),
    })
}

/// Why no connection was made. A pool tries until its time is over, and then tells of nothing but that.
async fn reason(error: sqlx::Error, options: &PgConnectOptions) -> sqlx::Error {
    if !matches!(error, sqlx::Error::PoolTimedOut) {
        return error;
    }
    match timeout(WELL, PgConnection::connect_with(options)).await {
        Ok(Err(reason)) => reason,
        _ => error,
    }
}

impl Pg {
    /// The driver's own connections, made when first needed: they belong to a runtime.
    pub(super) fn own(&self) -> Sessions<'_> {
        self.sessions(self.own_connections())
    }

    /// The driver's own connections, for a task that outlives the call.
    pub(super) fn own_connections(&self) -> &Arc<Own> {
        self.own.get_or_init(|| {
            let settings = match (self.is_pooled(), self.options.pin_plans) {
                (true, _) => None,
                (false, true) => Some(settings!("SET", pinned)),
                (false, false) => Some(settings!("SET")),
            };
            Arc::new(Own::new(self.connect_options("worker"), settings, self.options.worker_connections))
        })
    }

    fn sessions<'a>(&self, own: &'a Own) -> Sessions<'a> {
        let local = match (self.is_pooled(), self.options.pin_plans) {
            (false, _) => None,
            (true, true) => Some(concat!(isolation!(), settings!("SET LOCAL", pinned))),
            (true, false) => Some(concat!(isolation!(), settings!("SET LOCAL"))),
        };
        Sessions::own(own, self.is_pooled(), local)
    }

    /// The connections of the caller's pool.
    pub(super) fn callers(&self) -> Sessions<'_> {
        Sessions::callers(&self.pool, self.is_pooled())
    }

    /// Whether a pooler lends server connections for one transaction each.
    pub(super) fn is_pooled(&self) -> bool {
        self.options.transaction_pooler
    }

    /// The caller's connect options, with a name that says what the connection is for.
    pub(super) fn connect_options(&self, role: &str) -> PgConnectOptions {
        let options = PgConnectOptions::clone(&self.pool.connect_options());
        options.application_name(&format!("jobs:{role}"))
    }
}
