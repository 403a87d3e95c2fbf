//! Removes what need not be kept any longer. Upstream: `upkeep`. Downstream: nothing.
//!
//! A day's slot is truncated on the day on which its last job may leave: jobs are kept for 30 days at most in slots of
//! 32, so nothing that must stay can be in it before that day is over. A slot whose day was missed may hold newer jobs
//! and is emptied row by row.

use super::{Pg, ask::Ask, fault};
use crate::error::Error;
use sqlx::PgConnection;

/// How many rows a statement removes at most.
const MAX_ROWS: u32 = 5_000;

/// A slot whose jobs are to leave.
struct DueSlot {
    slot: i16,
    day: i32,
    at_once: bool,
}

impl DueSlot {
    fn table(&self) -> String {
        format!("history_{:02}", self.slot)
    }
}

pub(super) async fn purge(pg: &Pg, limit: u32) -> Result<u64, Error> {
    purge_all(pg, i64::from(limit.min(MAX_ROWS))).await.map_err(fault::store("purge what has ended"))
}

async fn purge_all(pg: &Pg, limit: i64) -> Result<u64, sqlx::Error> {
    let mut removed = 0;
    for statement in [&pg.sql.purge_keys, &pg.sql.purge_rows] {
        removed += sqlx::query(statement.clone()).bind(limit).execute_on(pg.own()).await?;
    }
    let due: Vec<(i16, i32, bool)> = sqlx::query_as(pg.sql.purge_due_slots.clone()).fetch_all_on(pg.own()).await?;
    for (slot, day, at_once) in due {
        removed += empty(pg, &DueSlot { slot, day, at_once }, limit).await?;
    }
    Ok(removed)
}

/// Empties a slot, unless another process is at it.
async fn empty(pg: &Pg, due: &DueSlot, limit: i64) -> Result<u64, sqlx::Error> {
    let mut session = pg.own().acquire().await?;
    let mut tx = session.begin().await?;
    let locked = pg.query(&pg.sql.purge_lock_slot).bind(due.slot).bind(due.day);
    if locked.fetch_optional(&mut *tx).await?.is_none() {
        return Ok(0);
    }
    let removed = if due.at_once {
        match truncate(pg, due, &mut tx).await {
            // A reader holds the slot: the next purge tries again.
            Err(error) if fault::sql_state(&error).as_deref() == Some("55P03") => return Ok(0),
            answer => answer?,
        }
    } else {
        let rows = pg.schema.fill(&include_str!("sql/purge_slot_rows.sql").replace("{slot}", &due.table()));
        Some(pg.query(&rows).bind(limit).execute(&mut *tx).await?.rows_affected())
    };
    let is_empty = removed.is_some_and(|removed| due.at_once || removed < limit.unsigned_abs());
    if is_empty {
        pg.query(&pg.sql.purge_mark_slot).bind(due.slot).bind(due.day).execute(&mut *tx).await?;
    }
    tx.commit().await?;
    session.give_back();
    Ok(removed.unwrap_or(0))
}

/// Truncates a slot and answers about how many jobs were in it; `None` if its day is over by now.
async fn truncate(pg: &Pg, due: &DueSlot, connection: &mut PgConnection) -> Result<Option<u64>, sqlx::Error> {
    let table = due.table();
    let estimate: Option<f32> = pg
        .scalar(&pg.schema.fill(&include_str!("sql/purge_estimate.sql").replace("{table}", &table)))
        .fetch_optional(&mut *connection)
        .await?;
    let Some(estimate) = estimate else { return Ok(Some(0)) };
    let lock = format!("SET LOCAL lock_timeout = '1s'; LOCK TABLE {{schema}}.{table} IN ACCESS EXCLUSIVE MODE");
    sqlx::raw_sql(pg.schema.fill(&lock)).execute(&mut *connection).await?;
    // Only now can nobody add to the slot: if its day is not over yet, nothing in it must stay.
    let is_today: bool = pg.scalar(&pg.sql.purge_is_today).bind(due.day).fetch_one(&mut *connection).await?;
    if !is_today {
        return Ok(None);
    }
    sqlx::raw_sql(pg.schema.fill(&format!("TRUNCATE {{schema}}.{table}"))).execute(&mut *connection).await?;
    Ok(Some(estimate as u64))
}
