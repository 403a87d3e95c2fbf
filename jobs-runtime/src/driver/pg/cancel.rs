//! Cancels runs and lets them undo their steps, with their children, whatever moves them meanwhile.
//! Upstream: the client, the operator's tools. Downstream: `cancel_run` in the schema.

use super::{Pg, ask::Ask, fault, rescue::KEEP_CANCELLED, rows::Columns, rows::stop_text};
use crate::{
    driver::CancelAnswer,
    error::{Error, code},
    failure::RecordedFailure,
    id::JobId,
    state::State,
};

/// How often a statement is sent again that lost against a concurrent one.
const MAX_ROUNDS: u32 = 100;

/// What becomes of what a run has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steps {
    Stay,
    Undone,
}

pub(super) async fn cancel(pg: &Pg, job: JobId) -> Result<CancelAnswer, Error> {
    ask(pg, job, Steps::Stay).await
}

pub(super) async fn roll_back(pg: &Pg, job: JobId) -> Result<CancelAnswer, Error> {
    ask(pg, job, Steps::Undone).await
}

async fn ask(pg: &Pg, job: JobId, steps: Steps) -> Result<CancelAnswer, Error> {
    for _ in 0..MAX_ROUNDS {
        match cancel_run(pg, job, steps).await {
            Ok(0) => return Ok(CancelAnswer::Cancelled),
            Ok(1) => return Ok(CancelAnswer::Asked),
            Ok(2) => {
                let detail = format!("job {job} is past its pivot; it goes forward and is never undone");
                return Err(Error::new(code::JOB_STATE_REFUSED, detail));
            }
            Ok(_) => match stored_state(pg, job).await? {
                None => return Ok(CancelAnswer::NotFound),
                Some(state) if state.is_final() => return Ok(CancelAnswer::AlreadyFinal(state)),
                Some(_) => {}
            },
            Err(error) if fault::is_conflict(&error) => {}
            Err(error) => return Err(fault::store("cancel a job")(error)),
        }
    }
    Err(Error::new(code::STORE_UNAVAILABLE, format!("job {job} moves too fast to be cancelled")))
}

async fn cancel_run(pg: &Pg, job: JobId, steps: Steps) -> Result<i16, sqlx::Error> {
    let failure = RecordedFailure::rolled_back();
    sqlx::query_scalar(pg.sql.cancel.clone())
        .bind(job.0)
        .bind(steps == Steps::Undone)
        .bind(KEEP_CANCELLED)
        .bind(failure.code)
        .bind(failure.operator)
        .bind(failure.stop.map(stop_text))
        .fetch_one_on(pg.callers())
        .await
}

async fn stored_state(pg: &Pg, job: JobId) -> Result<Option<State>, Error> {
    let query = sqlx::query(pg.sql.state.clone()).bind(job.0);
    let row = query.fetch_one_on(pg.callers()).await.map_err(fault::store("look for a job"))?;
    Columns::of(&row).state_or_null()
}
