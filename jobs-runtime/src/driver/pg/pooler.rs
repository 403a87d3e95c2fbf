//! Finds out whether a pooler in transaction mode stands before the database. Upstream: `worker`. Downstream: nothing.

use super::{Pg, fault, own};
use crate::error::{Error, code};
use sqlx::{Executor, PgConnection, Row};
use std::sync::atomic::Ordering;

/// Refuses a pooler that was not said to be there: named statements would clash, hints would not arrive, and settings
/// would reach other clients.
///
/// Two open connections never share a server process, unless a pooler lends it to each for one transaction.
pub(super) async fn refuse(pg: &Pg) -> Result<(), Error> {
    if pg.is_pooled() || pg.is_direct.load(Ordering::Relaxed) {
        return Ok(());
    }
    let doing = || fault::store("tell its process");
    let mut first = pg.own().acquire().await.map_err(doing())?;
    let before = process(&mut first).await.map_err(doing())?;
    let mut second = own::connect(&pg.connect_options("start"), None).await.map_err(doing())?;
    let other = process(&mut second).await.map_err(doing())?;
    if before == other {
        let detail = "a pooler lends server connections for one transaction each, and the driver was not told so";
        return Err(Error::new(code::STORE_CONFIG_INVALID, detail).with_fix(fault::POOLED));
    }
    first.give_back();
    pg.is_direct.store(true, Ordering::Relaxed);
    Ok(())
}

async fn process(connection: &mut PgConnection) -> Result<i32, sqlx::Error> {
    connection.fetch_one(sqlx::raw_sql(include_str!("sql/process.sql"))).await?.try_get(0)
}
