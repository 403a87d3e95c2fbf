//! Makes dead jobs ready again. Upstream: the client, the operator's tools.

use super::{Pg, fault, own::timed_out, rows::Columns, session::ANSWER};
use crate::{
    driver::Stage,
    error::{Error, code},
    id::JobId,
    state::State,
};
use sqlx::PgConnection;
use tokio::time::timeout;
use uuid::Uuid;

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
    let kind: &str = columns.next()?;
    let stage = columns.stage()?;
    if let (Some(key), Some(hold @ 0..=1)) = (key, hold) {
        retake(pg, job, kind, key, hold, &mut tx).await?;
    }
    match stage {
        Stage::Fresh => {}
        Stage::Recorded | Stage::PastPivot => {
            pg.query(&pg.sql.requeue_steps).bind(job.0).execute(&mut *tx).await.map(drop).map_err(doing())?;
        }
        Stage::Unwinding => {
            pg.query(&pg.sql.requeue_unwound).bind(job.0).execute(&mut *tx).await.map(drop).map_err(doing())?;
        }
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
