//! Reads what runs have recorded. Upstream: `worker`, the operator's tools. Downstream: `rows`.

use super::{Pg, ask::Ask, fault, rows::Columns};
use crate::{
    driver::{EventId, StepRecord, StepRef},
    error::Error,
    id::JobId,
};
use sqlx::postgres::PgRow;
use uuid::Uuid;

pub(super) async fn steps(pg: &Pg, job: JobId) -> Result<Vec<StepRecord>, Error> {
    // A worker's reads must not wait for the caller's pool; a process that has no worker opens no connection for this.
    let sessions = if pg.own.get().is_some() { pg.own() } else { pg.callers() };
    let rows = sqlx::query(pg.sql.steps.clone())
        .bind(job.0)
        .fetch_all_on(sessions)
        .await
        .map_err(fault::store("read a run's steps"))?;
    rows.iter().map(read).collect()
}

fn read(row: &PgRow) -> Result<StepRecord, Error> {
    let mut columns = Columns::of(row);
    Ok(StepRecord {
        id: StepRef { name: columns.next()?, key: columns.next()? },
        kind: columns.step_kind()?,
        status: columns.step_status()?,
        position: columns.next_as::<i32, _>()?,
        attempt: columns.next_as::<i32, _>()?,
        tries: columns.next_as::<i32, _>()?,
        once: columns.next()?,
        output: columns.json_or_null()?,
        failure: columns.failure()?,
        due_at: columns.next()?,
        event: columns.next::<Option<Uuid>>()?.map(EventId),
        child: columns.next::<Option<Uuid>>()?.map(JobId),
        started_at: columns.next()?,
        finished_at: columns.next()?,
    })
}
