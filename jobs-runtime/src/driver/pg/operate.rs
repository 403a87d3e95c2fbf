//! Applies what an operator says about runs that cannot go on by themselves. Upstream: the client, the operator's tools.
//! Downstream: nothing.
//!
//! The run's row is locked first, so that nobody claims, wakes or requeues it meanwhile.

use super::{
    Pg, fault,
    own::timed_out,
    rows::{Columns, stop_text},
    session::ANSWER,
};
use crate::{
    driver::{Operation, Resolution, Stage, StepRef, StepStatus},
    error::{Error, code},
    failure::RecordedFailure,
    id::JobId,
};
use sqlx::{PgConnection, SqlStr};
use tokio::time::timeout;

/// Where a run stands that can be spoken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Suspended,
    Dead(Stage),
}

/// The parts of a run's records.
const FORWARD: i16 = 0;
const UNDO: i16 = 1;

fn doing() -> impl FnOnce(sqlx::Error) -> Error {
    fault::store("act on a run")
}

pub(super) async fn operate(pg: &Pg, job: JobId, operation: Operation) -> Result<(), Error> {
    let applied = timeout(2 * ANSWER, apply(pg, job, operation)).await;
    applied.unwrap_or_else(|_| Err(doing()(timed_out())))
}

async fn apply(pg: &Pg, job: JobId, operation: Operation) -> Result<(), Error> {
    let mut session = pg.callers().acquire().await.map_err(doing())?;
    let mut tx = session.begin().await.map_err(doing())?;
    let acted = act(pg, job, operation, &mut tx).await;
    // What is refused lets go of the run before it answers: a promotion would pass over a row that is still locked.
    match acted {
        Ok(()) => tx.commit().await.map_err(doing())?,
        Err(_) => tx.rollback().await.map_err(doing())?,
    }
    session.give_back();
    acted
}

async fn act(pg: &Pg, job: JobId, operation: Operation, tx: &mut PgConnection) -> Result<(), Error> {
    let stands = lock(pg, job, &mut *tx).await?;
    match (operation, stands) {
        (Operation::Resolve(step, resolution), Some(stands)) => {
            resolve(pg, job, &step, resolution, &mut *tx).await?;
            if stands == Stands::Suspended {
                send(pg, &pg.sql.operate_wake, job, tx).await?;
            }
        }
        (Operation::Resume, Some(Stands::Suspended)) => send(pg, &pg.sql.operate_wake, job, tx).await?,
        (Operation::Resume, Some(Stands::Dead(Stage::Unwinding))) => resume(pg, job, tx).await?,
        (Operation::SkipUndo(step), Some(Stands::Dead(Stage::Unwinding))) => {
            undo(pg, job, &step, StepStatus::Skipped, tx).await?;
        }
        (Operation::MarkUndone(step), Some(Stands::Dead(Stage::Unwinding))) => {
            undo(pg, job, &step, StepStatus::Done, tx).await?;
        }
        (operation, stands) => return Err(refusal(pg, job, &operation, stands, tx).await?),
    }
    Ok(())
}

/// Locks the run, if it is suspended or dead.
async fn lock(pg: &Pg, job: JobId, connection: &mut PgConnection) -> Result<Option<Stands>, Error> {
    let suspended = pg.query(&pg.sql.operate_suspended).bind(job.0).fetch_optional(&mut *connection).await;
    if suspended.map_err(doing())?.is_some() {
        return Ok(Some(Stands::Suspended));
    }
    let dead = pg.query(&pg.sql.operate_dead).bind(job.0).fetch_optional(connection).await.map_err(doing())?;
    dead.map(|row| Columns::of(&row).stage().map(Stands::Dead)).transpose()
}

async fn send(pg: &Pg, sql: &SqlStr, job: JobId, connection: &mut PgConnection) -> Result<(), Error> {
    pg.query(sql).bind(job.0).execute(connection).await.map(drop).map_err(doing())
}

async fn resume(pg: &Pg, job: JobId, connection: &mut PgConnection) -> Result<(), Error> {
    send(pg, &pg.sql.resume_undos, job, &mut *connection).await?;
    let resumed = pg.query(&pg.sql.resume).bind(job.0).bind(&pg.channel).execute(connection).await;
    resumed.map(drop).map_err(doing())
}

/// Answers for a `once` step that began and left no result, or that failed.
async fn resolve(
    pg: &Pg,
    job: JobId,
    step: &StepRef,
    resolution: Resolution,
    connection: &mut PgConnection,
) -> Result<(), Error> {
    match find(pg, job, FORWARD, step, &mut *connection).await? {
        Some((true, StepStatus::Started | StepStatus::Failed)) => {}
        // An answer that does not fit the code is taken back.
        Some((true, StepStatus::Done)) if is_unfit(pg, job, &mut *connection).await? => {}
        None => return Err(unknown(job, step)),
        Some((false, _)) => return Err(unanswerable(job, step, "is not `once`, so nobody has to answer for it")),
        Some((true, _)) => return Err(unanswerable(job, step, "has a result")),
    }
    let (status, output, failure) = match resolution {
        Resolution::Done(output) => (StepStatus::Done, Some(output.as_str().to_owned()), None),
        Resolution::Failed(text) => (StepStatus::Failed, None, Some(RecordedFailure::resolved(&text))),
        Resolution::Again => {
            let forgotten = pg.query(&pg.sql.operate_forget).bind(job.0).bind(&step.name).bind(&step.key);
            return forgotten.execute(connection).await.map(drop).map_err(doing());
        }
    };
    pg.query(&pg.sql.operate_answer)
        .bind(job.0)
        .bind(&step.name)
        .bind(&step.key)
        .bind(status as i16)
        .bind(output)
        .bind(failure.as_ref().map(|failure| failure.code.clone()))
        .bind(failure.as_ref().map(|failure| failure.operator.clone()))
        .bind(failure.and_then(|failure| failure.stop).map(stop_text))
        .execute(connection)
        .await
        .map(drop)
        .map_err(doing())
}

/// Whether the run is suspended because a record does not fit the code.
async fn is_unfit(pg: &Pg, job: JobId, connection: &mut PgConnection) -> Result<bool, Error> {
    let unfit = pg.query(&pg.sql.operate_unfit).bind(job.0).bind(code::STEP_MISMATCH.name);
    unfit.fetch_optional(connection).await.map(|row| row.is_some()).map_err(doing())
}

/// Says what became of a compensation, also of one whose turn has not come.
async fn undo(
    pg: &Pg,
    job: JobId,
    step: &StepRef,
    status: StepStatus,
    connection: &mut PgConnection,
) -> Result<(), Error> {
    if find(pg, job, FORWARD, step, &mut *connection).await?.is_none() {
        return Err(unknown(job, step));
    }
    if let Some((_, StepStatus::Done | StepStatus::Skipped)) = find(pg, job, UNDO, step, &mut *connection).await? {
        return Err(unanswerable(job, step, "is undone, or was said not to be"));
    }
    pg.query(&pg.sql.operate_undo)
        .bind(job.0)
        .bind(&step.name)
        .bind(&step.key)
        .bind(status as i16)
        .execute(connection)
        .await
        .map(drop)
        .map_err(doing())
}

/// Locks a record. Says whether its step is `once`, and how far it is.
async fn find(
    pg: &Pg,
    job: JobId,
    role: i16,
    step: &StepRef,
    connection: &mut PgConnection,
) -> Result<Option<(bool, StepStatus)>, Error> {
    let found = pg.query(&pg.sql.operate_step).bind(job.0).bind(role).bind(&step.name).bind(&step.key);
    let Some(row) = found.fetch_optional(connection).await.map_err(doing())? else { return Ok(None) };
    let mut columns = Columns::of(&row);
    Ok(Some((columns.next()?, columns.step_status()?)))
}

fn named(step: &StepRef) -> String {
    if step.key.is_empty() { format!("`{}`", step.name) } else { format!("`{}` ({})", step.name, step.key) }
}

fn unknown(job: JobId, step: &StepRef) -> Error {
    Error::new(code::STEP_NOT_FOUND, format!("job {job} has recorded no step {}", named(step)))
}

fn unanswerable(job: JobId, step: &StepRef, why: &str) -> Error {
    Error::new(code::STEP_NOT_FOUND, format!("step {} of job {job} {why}", named(step)))
}

/// Why an operation does not apply to where the job stands.
async fn refusal(
    pg: &Pg,
    job: JobId,
    operation: &Operation,
    stands: Option<Stands>,
    connection: &mut PgConnection,
) -> Result<Error, Error> {
    let only = match operation {
        Operation::Resolve(..) => "only a suspended or dead run is answered for",
        Operation::Resume => "only a suspended run, or a dead one that unwound in part, is resumed",
        Operation::SkipUndo(_) | Operation::MarkUndone(_) => {
            "only of a dead run that unwound in part is a step's undoing settled"
        }
    };
    let state = match stands {
        Some(Stands::Suspended) => "suspended".to_owned(),
        Some(Stands::Dead(_)) => "dead and has not unwound".to_owned(),
        None => {
            let row = pg.query(&pg.sql.state).bind(job.0).fetch_one(connection).await.map_err(doing())?;
            match Columns::of(&row).state_or_null()? {
                None => return Ok(Error::new(code::JOB_NOT_FOUND, format!("no job {job} is stored"))),
                Some(state) => state.to_string(),
            }
        }
    };
    Ok(Error::new(code::JOB_STATE_REFUSED, format!("job {job} is {state}; {only}")))
}
