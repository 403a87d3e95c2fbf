//! Looks at jobs and workers. Upstream: the client, the operator's tools. Downstream: `rows`.

use super::{Pg, ask::Ask, fault, rows::Columns};
use crate::{
    driver::{JobRecord, KindCount, ListFilter, WorkerRecord},
    error::Error,
    id::JobId,
    outline::StoredItem,
};
use chrono::{DateTime, Utc};
use sqlx::postgres::PgRow;
use uuid::Uuid;

/// How many jobs a list holds if the filter does not say, and at most.
const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 200;

pub(super) async fn now(pg: &Pg) -> Result<DateTime<Utc>, Error> {
    sqlx::query_scalar(pg.sql.now.clone()).fetch_one_on(pg.callers()).await.map_err(fault::store("tell the time"))
}

pub(super) async fn find(pg: &Pg, job: JobId) -> Result<Option<JobRecord>, Error> {
    let row = sqlx::query(pg.sql.find.clone())
        .bind(job.0)
        .fetch_optional_on(pg.callers())
        .await
        .map_err(fault::store("find a job"))?;
    row.as_ref().map(record).transpose()
}

pub(super) async fn list(pg: &Pg, filter: ListFilter) -> Result<Vec<JobRecord>, Error> {
    let limit = if filter.limit == 0 { DEFAULT_LIMIT } else { filter.limit.min(MAX_LIMIT) };
    let rows = sqlx::query(pg.sql.list.clone())
        .bind(filter.state.map(|state| state as i16))
        .bind(filter.queue)
        .bind(filter.kind)
        .bind(filter.tenant)
        .bind(filter.before.map(|job| job.0))
        .bind(i64::from(limit))
        .bind(filter.parked)
        .fetch_all_on(pg.callers())
        .await
        .map_err(fault::store("list jobs"))?;
    rows.iter().map(record).collect()
}

pub(super) async fn outline(pg: &Pg, kind: &str) -> Result<Option<Vec<StoredItem>>, Error> {
    let stored: Option<Option<String>> = sqlx::query_scalar(pg.sql.outline.clone())
        .bind(kind)
        .fetch_optional_on(pg.callers())
        .await
        .map_err(fault::store("read an outline"))?;
    // One that a newer release has stored may hold what this one does not know: then it is as if there were none.
    Ok(stored.flatten().and_then(|text| serde_json::from_str(&text).ok()))
}

pub(super) async fn counts(pg: &Pg) -> Result<Vec<KindCount>, Error> {
    let rows =
        sqlx::query(pg.sql.counts.clone()).fetch_all_on(pg.callers()).await.map_err(fault::store("count jobs"))?;
    rows.iter()
        .map(|row| {
            let mut columns = Columns::of(row);
            Ok(KindCount {
                queue: columns.next()?,
                kind: columns.next()?,
                state: columns.state()?,
                jobs: columns.next_as::<i64, _>()?,
                has_worker: columns.next()?,
            })
        })
        .collect()
}

pub(super) async fn workers(pg: &Pg) -> Result<Vec<WorkerRecord>, Error> {
    let rows =
        sqlx::query(pg.sql.workers.clone()).fetch_all_on(pg.callers()).await.map_err(fault::store("list workers"))?;
    rows.iter()
        .map(|row| {
            let mut columns = Columns::of(row);
            Ok(WorkerRecord {
                id: columns.next()?,
                name: columns.next()?,
                queues: columns.decode()?,
                kinds: columns.next()?,
                started_at: columns.next()?,
                lease_until: columns.next()?,
                running: columns.next_as::<i64, _>()?,
            })
        })
        .collect()
}

fn record(row: &PgRow) -> Result<JobRecord, Error> {
    let mut columns = Columns::of(row);
    Ok(JobRecord {
        id: JobId(columns.next()?),
        kind: columns.next()?,
        version: columns.next_as::<i16, _>()?,
        queue: columns.next()?,
        tenant: columns.next()?,
        state: columns.state()?,
        priority: columns.next()?,
        attempt: columns.next_as::<i32, _>()?,
        crashes: columns.next_as::<i16, _>()?,
        payload: columns.json()?,
        output: columns.json_or_null()?,
        failure: columns.failure()?,
        progress: columns.decode_if_readable()?,
        metadata: columns.json_or_null()?,
        trace: columns.next()?,
        enqueued_by: columns.next()?,
        created_at: columns.next()?,
        due_at: columns.next()?,
        finished_at: columns.next()?,
        cancel_requested: columns.next()?,
        stage: columns.stage()?,
        parent: columns.next::<Option<Uuid>>()?.map(JobId),
        parked: columns.parked()?,
    })
}
