//! The Postgres driver.

mod canary;
mod commits;
mod connections;
mod cuts;
mod listen;
mod outage;
mod pooler;
mod rows;
mod settings;
mod tenants;
mod trigger;
mod unique;

use crate::support::Db;
use jobs::driver::{Driver, pg::Pg};
use sqlx::{AssertSqlSafe, PgPool};
use std::sync::Arc;

crate::payload::cases!(async {
    let db = Db::new();
    (Arc::new(driver(&db).await) as Arc<dyn Driver>, db)
});

/// A driver over a pool of 4.
async fn driver(db: &Db) -> Pg {
    Pg::new(db.pool(4).await).expect("the driver is built")
}

/// Runs a statement that a test has put together.
async fn sql(pool: &PgPool, statement: impl Into<String>) {
    sqlx::raw_sql(AssertSqlSafe(statement.into())).execute(pool).await.expect("the test's statement runs");
}

/// The server processes of the database's connections in a role, like `jobs:listen`.
async fn processes(pool: &PgPool, role: &str) -> Vec<i32> {
    sqlx::query_scalar("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1")
        .bind(role)
        .fetch_all(pool)
        .await
        .expect("activity is listed")
}
