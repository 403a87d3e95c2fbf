//! Makes a database for one measurement and removes it afterwards.

use crate::Outcome;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, PgPool, postgres::PgPoolOptions};
use std::env;

/// The server to measure on.
pub(crate) fn server() -> Outcome<String> {
    env::var("DATABASE_URL").map_err(|_| "DATABASE_URL is not set: run ./dev bench".into())
}

/// Runs a measurement on a new, empty database.
pub(crate) async fn with_new<T>(measure: impl AsyncFnOnce(&str) -> Outcome<T>) -> Outcome<T> {
    let server = server()?;
    let name = format!("jobs_bench_{}", uuid::Uuid::now_v7().simple());
    let mut admin = PgConnection::connect(&server).await?;
    execute(&mut admin, format!("CREATE DATABASE {name}")).await?;
    let (address, options) = server.split_once('?').unwrap_or((&server, ""));
    let end = address.rfind('/').unwrap_or(address.len());
    let measured = measure(&format!("{}/{name}?{options}", &address[..end])).await;
    execute(&mut admin, format!("DROP DATABASE {name} WITH (FORCE)")).await?;
    measured
}

/// A pool of so many connections.
pub(crate) async fn pool(url: &str, size: u32) -> Outcome<PgPool> {
    Ok(PgPoolOptions::new().min_connections(size).max_connections(size).connect(url).await?)
}

async fn execute(connection: &mut PgConnection, statement: String) -> Outcome {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(statement))).await?;
    Ok(())
}
