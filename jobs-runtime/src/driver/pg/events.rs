//! Publishes events, finds them and removes the expired. Upstream: `events`, `steps`, `upkeep`. Downstream: nothing.
//!
//! The publishing statement also makes the runs ready that wait: see `migrations/0003_events.sql`.

use super::{Pg, ask::Ask, fault, own::timed_out, rows::Columns, times};
use crate::{
    driver::{EventId, EventRecord, FindEvent, NewEvent, Published, Tx},
    error::{Error, code},
};
use sqlx::{
    PgConnection, Postgres, Row,
    postgres::{PgArguments, PgRow},
    query::Query,
};
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};
use tokio::time::timeout;
use uuid::Uuid;

/// How many events a statement carries at most, and how many bytes of payload.
const MAX_ROWS: usize = 1_000;
const MAX_BYTES: usize = 32 << 20;
/// The longest wait for an answer to a batch that is not in a transaction of the caller's.
const ANSWER: Duration = Duration::from_secs(60);
/// The most that a purge removes at once.
const MAX_PURGED: u32 = 5_000;

pub(super) async fn publish(pg: &Pg, events: &[NewEvent], tx: Option<Tx<'_>>) -> Result<Vec<Published>, Error> {
    let published = match tx {
        Some(tx) => {
            let connection = tx.downcast::<PgConnection>().ok_or_else(|| {
                Error::new(code::TRANSACTION_FOREIGN, "the transaction that was passed is not one of Postgres")
            })?;
            joined(pg, connection, events).await
        }
        None => timeout(ANSWER, apart(pg, events)).await.unwrap_or_else(|_| Err(timed_out())),
    };
    let stored = published.map_err(fault::store("publish events"))?;
    let unanswered = || Error::new(code::STORE_FAILED, "the database did not answer about an event that was sent");
    pg.tell(stored.untold);
    let stored = stored.events;
    events.iter().map(|event| stored.get(&event.id.0).cloned().ok_or_else(unanswered)).collect()
}

/// What is stored of each event by now, and the queues that were not told of the runs that it made ready.
#[derive(Default)]
struct Stored {
    events: HashMap<Uuid, Published>,
    untold: HashSet<String>,
}

/// Who tells the queues of the runs that an event makes ready.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// The commit: only the caller knows when it is.
    WithCommit,
    /// This driver, after the commit.
    AfterCommit,
}

/// Publishes in the caller's transaction. What the first of several statements wrote goes when a later one is refused.
async fn joined(pg: &Pg, connection: &mut PgConnection, events: &[NewEvent]) -> Result<Stored, sqlx::Error> {
    if chunk_len(events) == events.len() {
        return all(pg, connection, events, Telling::WithCommit).await;
    }
    sqlx::raw_sql("SAVEPOINT jobs_publish").execute(&mut *connection).await?;
    let stored = all(pg, connection, events, Telling::WithCommit).await;
    let end = if stored.is_ok() {
        "RELEASE SAVEPOINT jobs_publish"
    } else {
        "ROLLBACK TO SAVEPOINT jobs_publish; RELEASE SAVEPOINT jobs_publish"
    };
    sqlx::raw_sql(end).execute(connection).await?;
    stored
}

async fn apart(pg: &Pg, events: &[NewEvent]) -> Result<Stored, sqlx::Error> {
    let mut session = pg.callers().acquire().await?;
    if chunk_len(events) == events.len() && !pg.is_pooled() {
        let stored = all(pg, &mut session, events, Telling::AfterCommit).await;
        if stored.as_ref().err().is_none_or(fault::leaves_connection_well) {
            session.give_back();
        }
        return stored;
    }
    let mut tx = session.begin().await?;
    let stored = all(pg, &mut tx, events, Telling::AfterCommit).await?;
    tx.commit().await?;
    session.give_back();
    Ok(stored)
}

async fn all(
    pg: &Pg,
    connection: &mut PgConnection,
    events: &[NewEvent],
    telling: Telling,
) -> Result<Stored, sqlx::Error> {
    let mut stored = Stored::default();
    let mut rest = events;
    while !rest.is_empty() {
        let (chunk, later) = rest.split_at(chunk_len(rest));
        let rows = bind(pg, chunk).bind(telling == Telling::WithCommit).fetch_all(&mut *connection).await?;
        for row in &rows {
            let published = read_published(row)?;
            stored.events.insert(published.id.0, published);
        }
        if let Some(row) = rows.first() {
            stored.untold.extend(row.try_get::<Option<Vec<String>>, _>(3)?.unwrap_or_default());
        }
        rest = later;
    }
    Ok(stored)
}

/// How many of the events the next statement carries: at least one, whatever its size.
fn chunk_len(events: &[NewEvent]) -> usize {
    let mut bytes = 0;
    let fitting = events.iter().take(MAX_ROWS).take_while(|event| {
        bytes += event.payload.as_str().len();
        bytes <= MAX_BYTES
    });
    fitting.count().max(1).min(events.len())
}

fn bind(pg: &Pg, events: &[NewEvent]) -> Query<'static, Postgres, PgArguments> {
    pg.query(&pg.sql.publish)
        .bind(events.iter().map(|event| event.id.0).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.name.clone()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.key.clone()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.tenant.clone()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.payload.as_str().to_owned()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| times::seconds(event.ttl)).collect::<Vec<_>>())
}

fn read_published(row: &PgRow) -> Result<Published, sqlx::Error> {
    Ok(Published { id: EventId(row.try_get(0)?), published_at: row.try_get(1)?, expires_at: row.try_get(2)? })
}

pub(super) async fn find(pg: &Pg, find: FindEvent) -> Result<Option<EventRecord>, Error> {
    let row = sqlx::query(pg.sql.find_event.clone())
        .bind(find.name)
        .bind(find.key)
        .bind(find.tenant)
        .bind(find.taken.iter().map(|event| event.0).collect::<Vec<_>>())
        .bind(find.before)
        .fetch_optional_on(pg.own())
        .await
        .map_err(fault::store("find an event"))?;
    row.as_ref().map(read).transpose()
}

pub(super) async fn list(pg: &Pg, name: &str) -> Result<Vec<EventRecord>, Error> {
    let rows = sqlx::query(pg.sql.events.clone())
        .bind(name)
        .fetch_all_on(pg.callers())
        .await
        .map_err(fault::store("list events"))?;
    rows.iter().map(read).collect()
}

fn read(row: &PgRow) -> Result<EventRecord, Error> {
    let mut columns = Columns::of(row);
    Ok(EventRecord {
        id: EventId(columns.next()?),
        name: columns.next()?,
        key: columns.next()?,
        tenant: columns.next()?,
        payload: columns.json()?,
        published_at: columns.next()?,
        expires_at: columns.next()?,
    })
}

pub(super) async fn purge(pg: &Pg, limit: u32) -> Result<u64, Error> {
    sqlx::query(pg.sql.purge_events.clone())
        .bind(i64::from(limit.min(MAX_PURGED)))
        .execute_on(pg.own())
        .await
        .map_err(fault::store("purge expired events"))
}
