//! Cancels and requeues, whatever moves the job meanwhile. Upstream: the client, the operator's tools.

use super::{Pg, ask::Ask, fault, own::timed_out, rescue::KEEP_CANCELLED, rows::Columns, session::ANSWER};
use crate::{
    driver::CancelAnswer,
    error::{Error, code},
    id::JobId,
    state::State,
};
use sqlx::{PgConnection, SqlStr};
use tokio::time::timeout;
use uuid::Uuid;

/// How often a job is looked for that moves from table to table as fast as it is looked for.
const MAX_ROUNDS: u32 = 100;

/// Looks in each table in a statement of its own. A job may slip past from one to the next, so "not found" is believed
/// only from one statement that sees all tables at once.
pub(super) async fn cancel(pg: &Pg, job: JobId) -> Result<CancelAnswer, Error> {
    let doing = || fault::store("cancel a job");
    for _ in 0..MAX_ROUNDS {
        for statement in [&pg.sql.cancel_ready, &pg.sql.cancel_waiting] {
            if end(pg, statement, job).await.map_err(doing())? {
                return Ok(CancelAnswer::Cancelled);
            }
        }
        if ask(pg, job).await.map_err(doing())? {
            return Ok(CancelAnswer::Asked);
        }
        match stored_state(pg, job).await? {
            None => return Ok(CancelAnswer::NotFound),
            Some(state) if state.is_final() => return Ok(CancelAnswer::AlreadyFinal(state)),
            Some(_) => {}
        }
    }
    Err(Error::new(code::STORE_UNAVAILABLE, format!("job {job} moves too fast to be cancelled")))
}

async fn end(pg: &Pg, statement: &SqlStr, job: JobId) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(statement.clone()).bind(job.0).bind(KEEP_CANCELLED).execute_on(pg.callers()).await?;
    Ok(done > 0)
}

async fn ask(pg: &Pg, job: JobId) -> Result<bool, sqlx::Error> {
    let query = sqlx::query(pg.sql.cancel_running.clone()).bind(job.0).bind(&pg.channel);
    Ok(query.fetch_optional_on(pg.callers()).await?.is_some())
}

async fn stored_state(pg: &Pg, job: JobId) -> Result<Option<State>, Error> {
    let query = sqlx::query(pg.sql.state.clone()).bind(job.0);
    let row = query.fetch_one_on(pg.callers()).await.map_err(fault::store("look for a job"))?;
    Columns::of(&row).state_or_null()
}

pub(super) async fn requeue(pg: &Pg, job: JobId) -> Result<(), Error> {
    let started = timeout(2 * ANSWER, start_over(pg, job)).await;
    started.unwrap_or_else(|_| Err(fault::store("requeue a job")(timed_out())))
}

/// A requeued job takes its unique key again, if its end or first claim had freed it.
async fn start_over(pg: &Pg, job: JobId) -> Result<(), Error> {
    let doing = || fault::store("requeue a job");
    let mut session = pg.callers().acquire().await.map_err(doing())?;
    let mut tx = session.begin().await.map_err(doing())?;
    let locked = pg.query(&pg.sql.requeue_lock).bind(job.0).fetch_optional(&mut *tx).await.map_err(doing())?;
    let Some(row) = locked else {
        let row = pg.query(&pg.sql.state).bind(job.0).fetch_one(&mut *tx).await.map_err(doing())?;
        return Err(refusal(job, Columns::of(&row).state_or_null()?));
    };
    let mut columns = Columns::of(&row);
    let key = columns.next::<Option<&[u8]>>()?;
    let hold = columns.next::<Option<i16>>()?;
    if let (Some(key), Some(hold @ 0..=1)) = (key, hold) {
        let kind: &str = columns.next()?;
        retake(pg, job, kind, key, hold, &mut tx).await?;
    }
    pg.query(&pg.sql.requeue).bind(job.0).bind(&pg.channel).execute(&mut *tx).await.map_err(doing())?;
    tx.commit().await.map_err(doing())?;
    session.give_back();
    Ok(())
}

async fn retake(
    pg: &Pg,
    job: JobId,
    kind: &str,
    key: &[u8],
    hold: i16,
    connection: &mut PgConnection,
) -> Result<(), Error> {
    let holder: Option<Uuid> = pg
        .scalar(&pg.sql.requeue_key)
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
