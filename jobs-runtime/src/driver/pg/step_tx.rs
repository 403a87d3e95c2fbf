//! A transaction of the caller's pool that a step runs in and that records it. Upstream: `steps`. Downstream: `tx`.

use super::{
    Pg,
    commit::{Holding, Records, With},
    fault,
    own::timed_out,
};
use crate::{
    driver::{Fence, StepTransaction, StepWrite, Tx, WorkerId, Written},
    error::{Error, code},
};
use futures_util::future::BoxFuture;
use sqlx::{PgConnection, PgPool, Postgres, SqlStr, Transaction};
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// The longest wait for the answers to the record and to the commit.
const ANSWER: Duration = Duration::from_secs(30);

/// What can be asked without the driver: a transaction outlives the call that began it.
struct Open {
    tx: Transaction<'static, Postgres>,
    record: SqlStr,
    worker: WorkerId,
    looking: Looking,
}

/// What finds out whether a record landed, once the connection is lost that wrote it.
struct Looking {
    pool: PgPool,
    settled: SqlStr,
    is_done: SqlStr,
    is_pooled: bool,
    fence: Fence,
}

pub(super) async fn begin(
    pg: &Pg,
    worker: WorkerId,
    fence: Fence,
    tenant: Option<String>,
) -> Result<Box<dyn StepTransaction>, Error> {
    Ok(Box::new(Open {
        tx: pg.begin_for_tenant(tenant.as_deref()).await?,
        record: pg.sql.record.clone(),
        worker,
        looking: Looking {
            pool: pg.pool.clone(),
            settled: pg.sql.step_settled.clone(),
            is_done: pg.sql.step_is_done.clone(),
            is_pooled: pg.is_pooled(),
            fence,
        },
    }))
}

impl StepTransaction for Open {
    fn tx(&mut self) -> Tx<'_> {
        Tx::new::<PgConnection>(&mut *self.tx)
    }

    fn commit(self: Box<Self>, record: StepWrite) -> BoxFuture<'static, Result<Written, Error>> {
        Box::pin(self.land(record))
    }
}

impl Open {
    async fn land(mut self: Box<Self>, step: StepWrite) -> Result<Written, Error> {
        let recorded = timeout(ANSWER, self.record(&step)).await.unwrap_or_else(|_| Err(timed_out()));
        match recorded {
            Ok(None) => {}
            Ok(Some(written)) => return Ok(written),
            Err(error) if is_of_transaction(&error) => return Ok(Written::Refused(refusal(error))),
            Err(error) => return Err(fault::store("record a step in its transaction")(error)),
        }
        let Self { tx, looking, .. } = *self;
        match timeout(ANSWER, tx.commit()).await.unwrap_or_else(|_| Err(timed_out())) {
            Ok(()) => Ok(Written::Landed),
            Err(error) if is_of_transaction(&error) => Ok(Written::Refused(refusal(error))),
            // Nobody knows yet whether the server has committed.
            Err(error) => {
                let looked = timeout(ANSWER, looking.look(&step)).await.unwrap_or_else(|_| Err(timed_out()));
                let found = looked.map_err(fault::store("tell whether a step's transaction was committed"))?;
                Ok(found.unwrap_or_else(|| Written::Refused(refusal(error))))
            }
        }
    }

    /// Writes the record; says why, if it does not.
    async fn record(&mut self, step: &StepWrite) -> Result<Option<Written>, sqlx::Error> {
        let query = sqlx::query(self.record.clone()).persistent(!self.looking.is_pooled);
        let rows = Records::of(&[(self.looking.fence, step)])
            .bind(query, self.worker, With::Nothing)
            .fetch_all(&mut *self.tx)
            .await?;
        let Some(row) = rows.first() else { return Ok(Some(Written::Stale)) };
        Ok(match Holding::of(row)?.answer(step) {
            Written::Landed if step.child.is_none() => None,
            Written::Landed => {
                let detail = format!("step `{}` runs in a transaction, so it spawns no child", step.id.name);
                Some(Written::Refused(Error::new(code::STORE_FAILED, detail)))
            }
            other => Some(other),
        })
    }
}

impl Looking {
    /// What became of the record; `None` if it was rolled back and the run is still held.
    async fn look(&self, step: &StepWrite) -> Result<Option<Written>, sqlx::Error> {
        let mut tx = self.pool.begin().await?;
        // Each statement is to see what was committed before it.
        sqlx::raw_sql("SET TRANSACTION ISOLATION LEVEL READ COMMITTED").execute(&mut *tx).await?;
        let fence = self.fence;
        let held: Option<Uuid> = sqlx::query_scalar(self.settled.clone())
            .persistent(!self.is_pooled)
            .bind(fence.job.0)
            .bind(i32::try_from(fence.attempt).unwrap_or(i32::MAX))
            .bind(fence.token.0)
            .fetch_optional(&mut *tx)
            .await?;
        let done: i64 = sqlx::query_scalar(self.is_done.clone())
            .persistent(!self.is_pooled)
            .bind(fence.job.0)
            .bind(&step.id.name)
            .bind(&step.id.key)
            .fetch_one(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(match (done, held) {
            (1.., _) => Some(Written::Landed),
            (_, None) => Some(Written::Stale),
            (_, Some(_)) => None,
        })
    }
}

/// Whether the server has answered, so that the transaction is known to be rolled back.
fn is_of_transaction(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(_) | sqlx::Error::Encode(_)) && fault::leaves_connection_well(error)
}

fn refusal(error: sqlx::Error) -> Error {
    fault::store("commit a step's transaction")(error)
}
