//! What Postgres can do for a queue without anything in between: the best form of plain SQL that we know. Two tables, a
//! start key, array probes, fenced, the payload returned.

pub(crate) mod latency;

use crate::{Outcome, database, subject::PAYLOAD};
use sqlx::{
    PgPool, Row,
    types::chrono::{DateTime, Utc},
};
use std::time::{Duration, Instant};
use uuid::Uuid;

const KIND: &str = "mail.send";
const QUEUE: &str = "mail";

/// How many rows a claim takes at most: more gained nothing.
const BATCH: i64 = 500;

/// Empty tables, and two connections to them.
pub(crate) async fn tables(url: &str) -> Outcome<PgPool> {
    let pool = database::pool(url, 2).await?;
    sqlx::raw_sql(include_str!("sql/tables.sql")).execute(&pool).await?;
    Ok(pool)
}

/// How long so many single INSERTs take, each committed before the next.
pub(crate) async fn insert_each(pool: &PgPool, count: usize) -> Outcome<Duration> {
    let mut connection = pool.acquire().await?;
    insert(&mut connection).await?;
    let start = Instant::now();
    for _ in 0..count {
        insert(&mut connection).await?;
    }
    Ok(start.elapsed())
}

async fn insert(connection: &mut sqlx::PgConnection) -> Outcome {
    let statement = sqlx::query(include_str!("sql/insert.sql"));
    statement.bind(Uuid::now_v7()).bind(KIND).bind(QUEUE).bind(json()?).execute(connection).await?;
    Ok(())
}

/// How long COPY takes for so many rows, in calls of so many each.
pub(crate) async fn copy(pool: &PgPool, count: usize, batch: usize) -> Outcome<Duration> {
    let mut connection = pool.acquire().await?;
    let start = Instant::now();
    for _ in 0..count / batch {
        let mut copy = connection.copy_in_raw("COPY ready (id, kind, queue, payload) FROM STDIN").await?;
        let rows: String = (0..batch).map(|_| format!("{}\t{KIND}\t{QUEUE}\t{PAYLOAD}\n", Uuid::now_v7())).collect();
        copy.send(rows.into_bytes()).await?;
        copy.finish().await?;
    }
    Ok(start.elapsed())
}

/// Fills the queue.
pub(crate) async fn fill(pool: &PgPool, count: usize) -> Outcome {
    let ids: Vec<Uuid> = (0..count).map(|_| Uuid::now_v7()).collect();
    sqlx::query(include_str!("sql/fill.sql")).bind(ids).bind(KIND).bind(QUEUE).bind(json()?).execute(pool).await?;
    sqlx::raw_sql("ANALYZE ready").execute(pool).await?;
    Ok(())
}

/// How long the two connections take to claim and acknowledge everything.
pub(crate) async fn drain(pool: &PgPool, count: usize) -> Outcome<Duration> {
    let start = Instant::now();
    let (one, two) = tokio::try_join!(
        tokio::spawn(drain_one(pool.clone(), 1 << 40)),
        tokio::spawn(drain_one(pool.clone(), 2 << 40))
    )?;
    let drained = one? + two?;
    if drained != count {
        return Err(format!("{drained} of {count} rows were drained").into());
    }
    Ok(start.elapsed())
}

async fn drain_one(pool: PgPool, mut token: i64) -> Outcome<usize> {
    let mut connection = pool.acquire().await?;
    let (mut drained, mut from) = (0, DateTime::<Utc>::MIN_UTC);
    loop {
        token += 1;
        let rows = sqlx::query(include_str!("sql/claim.sql"))
            .bind(QUEUE)
            .bind(BATCH)
            .bind(token)
            .bind(from.max(DateTime::UNIX_EPOCH))
            .fetch_all(&mut *connection)
            .await?;
        if rows.is_empty() {
            // Once more from the start: a row may have been locked by the other when the key passed it.
            if from == DateTime::<Utc>::MIN_UTC {
                return Ok(drained);
            }
            from = DateTime::<Utc>::MIN_UTC;
            continue;
        }
        let mut ids: Vec<Uuid> = Vec::with_capacity(rows.len());
        let mut attempts: Vec<i32> = Vec::with_capacity(rows.len());
        for row in &rows {
            ids.push(row.try_get("id")?);
            attempts.push(row.try_get("attempt")?);
            let _: &str = row.try_get("payload")?;
            from = from.max(row.try_get("run_at")?);
        }
        from -= Duration::from_millis(50);
        let done = sqlx::query(include_str!("sql/acknowledge.sql"))
            .bind(&ids)
            .bind(&attempts)
            .bind(vec![token])
            .execute(&mut *connection)
            .await?;
        drained += usize::try_from(done.rows_affected())?;
    }
}

fn json() -> Outcome<sqlx::types::Json<Box<serde_json::value::RawValue>>> {
    Ok(sqlx::types::Json(serde_json::value::RawValue::from_string(PAYLOAD.to_owned())?))
}
