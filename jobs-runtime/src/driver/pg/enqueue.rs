//! Writes new jobs: one statement for one or many, with or without unique keys, in the caller's transaction or not.
//! Upstream: `enqueue`. Downstream: `columns`.

use super::{
    Pg, fault,
    new_jobs::{Keys, NewJobs},
    own::timed_out,
    rows::Columns,
};
use crate::{
    driver::{Enqueued, NewJob, Start, Tx},
    error::{Error, code},
    id::JobId,
    spec::OnConflict,
    state::State,
};
use chrono::Utc;
use sqlx::{PgConnection, postgres::PgRow};
use std::time::Duration;
use tokio::time::timeout;

/// How many jobs a statement carries at most, and how many bytes of payload: far below the protocol's limit of 1 GiB.
const MAX_ROWS: usize = 5_000;
const MAX_BYTES: usize = 32 << 20;
/// The longest wait for an answer to a batch that is not in a transaction of the caller's.
const ANSWER: Duration = Duration::from_secs(60);
/// How often a statement that lost against a concurrent one is sent again.
const MAX_CONFLICTS: u32 = 5;

pub(super) async fn enqueue(pg: &Pg, jobs: &[NewJob], tx: Option<Tx<'_>>) -> Result<Vec<Enqueued>, Error> {
    if let Some(tx) = tx {
        let connection = tx.downcast::<PgConnection>().ok_or_else(|| {
            Error::new(code::TRANSACTION_FOREIGN, "the transaction that was passed is not one of Postgres")
        })?;
        return joined(pg, connection, jobs).await.map_err(Refusal::in_callers_transaction);
    }
    let mut conflicts = 0;
    loop {
        let asked = timeout(ANSWER, apart(pg, jobs));
        match asked.await.unwrap_or_else(|_| Err(Refusal::Sql(timed_out()))) {
            Err(Refusal::Sql(error)) if fault::is_conflict(&error) && conflicts < MAX_CONFLICTS => conflicts += 1,
            answer => return answer.map_err(Refusal::into_error),
        }
    }
}

/// Writes jobs in the caller's transaction. What the first of several statements wrote goes when a later one is refused.
async fn joined(pg: &Pg, connection: &mut PgConnection, jobs: &[NewJob]) -> Result<Vec<Enqueued>, Refusal> {
    if chunk_len(jobs) == jobs.len() {
        return one(pg, connection, jobs, 0).await;
    }
    sqlx::raw_sql("SAVEPOINT jobs_enqueue").execute(&mut *connection).await?;
    let answers = all(pg, connection, jobs).await;
    let end = if answers.is_ok() {
        "RELEASE SAVEPOINT jobs_enqueue"
    } else {
        "ROLLBACK TO SAVEPOINT jobs_enqueue; RELEASE SAVEPOINT jobs_enqueue"
    };
    sqlx::raw_sql(end).execute(connection).await?;
    answers
}

async fn apart(pg: &Pg, jobs: &[NewJob]) -> Result<Vec<Enqueued>, Refusal> {
    let mut session = pg.callers().acquire().await?;
    if chunk_len(jobs) == jobs.len() && !pg.is_pooled() {
        let answers = one(pg, &mut session, jobs, 0).await;
        if answers.as_ref().err().is_none_or(Refusal::leaves_connection_well) {
            session.give_back();
        }
        return answers;
    }
    let mut tx = session.begin().await?;
    let answers = all(pg, &mut tx, jobs).await?;
    tx.commit().await?;
    session.give_back();
    Ok(answers)
}

/// Writes jobs within a transaction that is open already.
pub(super) async fn all(pg: &Pg, connection: &mut PgConnection, jobs: &[NewJob]) -> Result<Vec<Enqueued>, Refusal> {
    if chunk_len(jobs) < jobs.len() {
        reserve_keys(pg, connection, jobs).await?;
    }
    let mut answers = Vec::with_capacity(jobs.len());
    while answers.len() < jobs.len() {
        let rest = &jobs[answers.len()..];
        let chunk = &rest[..chunk_len(rest)];
        answers.extend(one(pg, connection, chunk, answers.len()).await?);
    }
    Ok(answers)
}

/// Takes the unique keys of a batch of several statements before the first of them, in one order over the whole batch.
async fn reserve_keys(pg: &Pg, connection: &mut PgConnection, jobs: &[NewJob]) -> Result<(), Refusal> {
    let keys = Keys::of(jobs.iter());
    if !keys.is_empty() {
        keys.bind(pg.query(&pg.sql.reserve_keys)).execute(connection).await?;
    }
    Ok(())
}

/// How many of the jobs the next statement carries: at least one, whatever its size.
fn chunk_len(jobs: &[NewJob]) -> usize {
    let mut bytes = 0;
    let fitting = jobs.iter().take(MAX_ROWS).take_while(|job| {
        bytes += job.payload.as_str().len();
        bytes <= MAX_BYTES
    });
    fitting.count().max(1).min(jobs.len())
}

/// Sends one statement. `first` is the place of its first job in the whole batch, for messages.
async fn one(pg: &Pg, connection: &mut PgConnection, jobs: &[NewJob], first: usize) -> Result<Vec<Enqueued>, Refusal> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let mut answers: Vec<_> = jobs.iter().map(|job| Enqueued::Inserted { id: job.id }).collect();
    let columns = NewJobs::of(jobs, first).map_err(Refusal::Ours)?;
    if jobs.iter().all(|job| job.unique.is_none()) {
        columns.bind(pg.query(&pg.sql.enqueue), &pg.channel).execute(connection).await?;
        return Ok(answers);
    }
    let query = columns.bind(pg.query(&pg.sql.enqueue_unique), &pg.channel);
    let rows = columns.bind_unique(query).fetch_all(connection).await?;
    for row in &rows {
        if let Some(conflict) = Conflict::read(row).map_err(Refusal::Ours)? {
            let existing = conflict.answer(jobs, first).map_err(Refusal::Ours)?;
            answers[conflict.index] = existing;
        }
    }
    Ok(answers)
}

/// A unique key that was taken.
struct Conflict {
    index: usize,
    holder: JobId,
    state: Option<State>,
    rejected: bool,
}

impl Conflict {
    /// Reads a row; `None` from the one of nulls that stands for "no conflict".
    fn read(row: &PgRow) -> Result<Option<Self>, Error> {
        let mut columns = Columns::of(row);
        let Some(ordinal) = columns.next::<Option<i64>>()? else { return Ok(None) };
        Ok(Some(Self {
            index: ordinal.unsigned_abs() as usize - 1,
            holder: JobId(columns.next()?),
            state: columns.state_or_null()?,
            rejected: columns.next()?,
        }))
    }

    fn answer(&self, jobs: &[NewJob], first: usize) -> Result<Enqueued, Error> {
        let Some(job) = jobs.get(self.index) else {
            return Err(Error::new(code::STORE_FAILED, "the database answered about a job that was not sent"));
        };
        if self.rejected {
            let detail = format!("job {} holds the unique key of this `{}`", self.holder, job.kind);
            return Err(Error::new(code::JOB_DUPLICATE, detail).at_index(first + self.index));
        }
        debug_assert!(job.unique.is_some_and(|unique| unique.on_conflict == OnConflict::Existing));
        Ok(Enqueued::Existing { id: self.holder, state: self.state.or_else(|| state_in_batch(jobs, self.holder)) })
    }
}

/// The state of a job that this batch itself inserts.
fn state_in_batch(jobs: &[NewJob], id: JobId) -> Option<State> {
    let job = jobs.iter().find(|job| job.id == id)?;
    let waits = match job.start {
        Start::Now => false,
        Start::After(delay) => !delay.is_zero(),
        Start::At(time) => time > Utc::now(),
    };
    Some(if waits { State::Delayed } else { State::Ready })
}

/// A failure that may still have to be looked at as SQL.
pub(super) enum Refusal {
    Sql(sqlx::Error),
    Ours(Error),
}

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl Refusal {
    fn leaves_connection_well(&self) -> bool {
        match self {
            Self::Sql(error) => fault::leaves_connection_well(error),
            Self::Ours(_) => true,
        }
    }

    /// The failure as one of SQL: our own refusals are of an item's values.
    pub(super) fn into_sql(self) -> sqlx::Error {
        match self {
            Self::Sql(error) => error,
            Self::Ours(error) => sqlx::Error::Encode(error.into()),
        }
    }

    /// The failure of a statement in the caller's transaction, which it has ended: sending it again is of no use.
    fn in_callers_transaction(self) -> Error {
        match self {
            Self::Sql(error) if fault::is_conflict(&error) => {
                let detail = match fault::sql_state(&error).as_deref() {
                    Some("40P01") => "the transaction and a concurrent one wait for each other's unique keys",
                    _ => "the transaction's snapshot is older than a concurrent change of its unique key",
                };
                Error::new(code::STORE_FAILED, detail)
                    .with_fix("roll the transaction back and run it again")
                    .with_source(error)
            }
            other => other.into_error(),
        }
    }

    fn into_error(self) -> Error {
        match self {
            Self::Sql(error) => fault::store("write new jobs")(error),
            Self::Ours(error) => error,
        }
    }
}
