//! Cancels and requeues, whatever moves the job meanwhile. Upstream: the client, the operator's tools.

use super::{Pg, fault, rescue::KEEP_CANCELLED, rows::Columns};
use crate::{
    driver::CancelAnswer,
    error::{Error, code},
    id::JobId,
    state::State,
};
use sqlx::{Connection, PgConnection, SqlStr};
use uuid::Uuid;

/// How often a job is looked for that moves from table to table as fast as it is looked for.
const MAX_ROUNDS: u32 = 100;

/// Looks in each table in a statement of its own. A job may slip past from one to the next, so "not found" is believed
/// only from one statement that sees all tables at once.
pub(super) async fn cancel(pg: &Pg, job: JobId) -> Result<CancelAnswer, Error> {
    let doing = || fault::store("cancel a job");
    let mut connection = pg.pool.acquire().await.map_err(doing())?;
    for _ in 0..MAX_ROUNDS {
        for statement in [&pg.sql.cancel_ready, &pg.sql.cancel_waiting] {
            if end(statement, job, &mut connection).await.map_err(doing())? {
                return Ok(CancelAnswer::Cancelled);
            }
        }
        if ask(pg, job, &mut connection).await.map_err(doing())? {
            return Ok(CancelAnswer::Asked);
        }
        match state(pg, job, &mut connection).await? {
            None => return Ok(CancelAnswer::NotFound),
            Some(state) if state.is_final() => return Ok(CancelAnswer::AlreadyFinal(state)),
            Some(_) => {}
        }
    }
    Err(Error::new(code::STORE_UNAVAILABLE, format!("job {job} moves too fast to be cancelled")))
}

async fn end(statement: &SqlStr, job: JobId, connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(statement.clone()).bind(job.0).bind(KEEP_CANCELLED).execute(connection).await?;
    Ok(done.rows_affected() > 0)
}

async fn ask(pg: &Pg, job: JobId, connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let query = sqlx::query(pg.sql.cancel_running.clone()).bind(job.0).bind(&pg.channel);
    Ok(query.fetch_optional(connection).await?.is_some())
}

async fn state(pg: &Pg, job: JobId, connection: &mut PgConnection) -> Result<Option<State>, Error> {
    let row = sqlx::query(pg.sql.state.clone())
        .bind(job.0)
        .fetch_one(connection)
        .await
        .map_err(fault::store("look for a job"))?;
    Columns::of(&row).state_or_null()
}

/// A requeued job takes its unique key again, if its end or first claim had freed it.
pub(super) async fn requeue(pg: &Pg, job: JobId) -> Result<(), Error> {
    let doing = || fault::store("requeue a job");
    let mut connection = pg.pool.acquire().await.map_err(doing())?;
    let mut tx = connection.begin().await.map_err(doing())?;
    let locked = sqlx::query(pg.sql.requeue_lock.clone()).bind(job.0).fetch_optional(&mut *tx).await.map_err(doing())?;
    let Some(row) = locked else { return Err(refusal(job, state(pg, job, &mut tx).await?)) };
    let mut columns = Columns::of(&row);
    let key = columns.next::<Option<&[u8]>>()?;
    let hold = columns.next::<Option<i16>>()?;
    if let (Some(key), Some(hold @ 0..=1)) = (key, hold) {
        let kind: &str = columns.next()?;
        retake(pg, job, kind, key, hold, &mut tx).await?;
    }
    sqlx::query(pg.sql.requeue.clone()).bind(job.0).bind(&pg.channel).execute(&mut *tx).await.map_err(doing())?;
    tx.commit().await.map_err(doing())
}

async fn retake(
    pg: &Pg,
    job: JobId,
    kind: &str,
    key: &[u8],
    hold: i16,
    connection: &mut PgConnection,
) -> Result<(), Error> {
    let holder: Option<Uuid> = sqlx::query_scalar(pg.sql.requeue_key.clone())
        .bind(key)
        .bind(job.0)
        .bind(hold)
        .fetch_optional(connection)
        .await
        .map_err(fault::store("take a requeued job's unique key"))?;
    match holder {
        None => Ok(()),
        Some(holder) => {
            let detail = format!("job {} holds the unique key of this `{kind}`", JobId(holder));
            Err(Error::new(code::JOB_DUPLICATE, detail))
        }
    }
}

fn refusal(job: JobId, state: Option<State>) -> Error {
    match state {
        None => Error::new(code::JOB_NOT_FOUND, format!("no job {job} is stored")),
        Some(state) => {
            Error::new(code::JOB_STATE_REFUSED, format!("job {job} is {state}; only a dead one is requeued"))
        }
    }
}
