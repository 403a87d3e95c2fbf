//! The Postgres driver's fixture: a database of its own, whose stored times are shifted to let time pass.

use crate::support::{Db, PgBouncer, pool, shift};
use futures_util::future::BoxFuture;
use jobs::{
    driver::{Driver, JoinTx, Tx, pg::Pg},
    testing::conformance::{Fixture, OpenTx},
};
use sqlx::{AssertSqlSafe, PgPool, Postgres, Transaction};
use std::{sync::Arc, time::Duration};

pub(crate) struct PgFixture {
    // Before the database, which cannot be dropped while it is connected to.
    driver: Arc<Pg>,
    /// Of the callers' own transactions: enough that they really race.
    transactions: PgPool,
    bouncer: Option<PgBouncer>,
    db: Db,
}

impl PgFixture {
    pub(crate) async fn new() -> Self {
        let db = Db::new();
        // `JOBS_POOLER=1` runs the suite behind a pooler in transaction mode, but for the hints, which it has not.
        let bouncer = std::env::var_os("JOBS_POOLER").map(|_| PgBouncer::before(db.url(), 40));
        let url = bouncer.as_ref().map_or(db.url(), PgBouncer::url);
        let driver = Arc::new(connect(url, bouncer.is_some()).await);
        Self { driver, transactions: pool(url, 32).await, bouncer, db }
    }

    /// Removes every job, event and worker, for another case on the same database.
    #[allow(dead_code, reason = "some test programs take a new database each time")]
    pub(crate) async fn empty(&self) {
        let tables =
            ["ready", "running", "waiting", "dead", "history", "unique_keys", "steps", "events", "waits", "workers"];
        let script: String = tables.iter().map(|table| format!("DELETE FROM jobs.{table};")).collect();
        sqlx::raw_sql(AssertSqlSafe(script)).execute(self.pool()).await.expect("the tables are emptied");
    }

    fn pool(&self) -> &PgPool {
        self.driver.pool()
    }
}

async fn connect(url: &str, pooled: bool) -> Pg {
    Pg::options().transaction_pooler(pooled).build(pool(url, 2).await).expect("the driver is built")
}

impl Fixture for PgFixture {
    fn driver(&self) -> Arc<dyn Driver> {
        Arc::clone(&self.driver) as _
    }

    fn second_handle(&self) -> BoxFuture<'_, Arc<dyn Driver>> {
        let url = self.bouncer.as_ref().map_or(self.db.url(), PgBouncer::url);
        Box::pin(async move { Arc::new(connect(url, self.bouncer.is_some()).await) as _ })
    }

    fn advance(&self, by: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move { shift(self.pool(), by).await })
    }

    fn begin(&self) -> BoxFuture<'_, Box<dyn OpenTx>> {
        Box::pin(async {
            let transaction = self.transactions.begin().await.expect("a transaction begins");
            Box::new(PgTx(transaction)) as Box<dyn OpenTx>
        })
    }
}

struct PgTx(Transaction<'static, Postgres>);

impl OpenTx for PgTx {
    fn tx(&mut self) -> Tx<'_> {
        JoinTx::tx(&mut self.0)
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async { self.0.commit().await.expect("a commit") })
    }

    fn rollback(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async { self.0.rollback().await.expect("a rollback") })
    }
}
