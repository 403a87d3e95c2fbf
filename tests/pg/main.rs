//! What only the Postgres driver has: migrations, roles, plans, partitions, the SQL function.

#[path = "../support/mod.rs"]
mod support;

mod dump;
mod enqueue;
mod events;
mod migrations;
mod plans;
mod retention;
mod sql_enqueue;
mod steps;

use jobs::driver::{Driver, Migrate, pg::Pg};
use sqlx::{AssertSqlSafe, PgPool};
use support::Db;

/// The driver on a database of the test's own.
async fn driver(db: &Db) -> Pg {
    Pg::new(db.pool(2).await).expect("the driver is built")
}

async fn migrate(driver: &Pg) {
    driver.migrate(Migrate::ApplyAll).await.expect("the schema is made");
}

/// Runs statements of the test's own.
async fn run(pool: &PgPool, sql: impl Into<String>) {
    sqlx::raw_sql(AssertSqlSafe(sql.into())).execute(pool).await.expect("the test's statements succeed");
}
