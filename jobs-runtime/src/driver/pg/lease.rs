//! Renews a worker's lease on a connection of its own. Upstream: `worker`. Downstream: nothing.

use super::{Pg, fault, own};
use crate::{
    driver::{LeaseSession, Renewed, WorkerId},
    error::{Error, code},
    id::JobId,
};
use futures_util::future::BoxFuture;
use sqlx::{Connection, PgConnection, SqlStr, postgres::PgConnectOptions};
use uuid::Uuid;

/// A renewal that takes longer is better sent again: it is due every few seconds.
const SETTINGS: &str = "
    SET search_path = pg_catalog;
    SET statement_timeout = '5s';
    SET lock_timeout = '5s';
    SET idle_session_timeout = 0;
    SET default_transaction_isolation = 'read committed';
    SET default_transaction_deferrable = off;
";

/// The session of one worker.
pub(super) struct Session {
    worker: WorkerId,
    renew: SqlStr,
    options: PgConnectOptions,
    /// `None` after a fault: the next renewal connects anew.
    connection: Option<PgConnection>,
    /// Whether a pooler lends the server connection for one transaction each.
    pooled: bool,
}

pub(super) async fn open(pg: &Pg, worker: WorkerId) -> Result<Box<dyn LeaseSession>, Error> {
    let mut session = Session {
        worker,
        renew: pg.sql.renew.clone(),
        options: pg.connect_options("lease"),
        connection: None,
        pooled: pg.is_pooled(),
    };
    session.connect().await?;
    Ok(Box::new(session))
}

impl LeaseSession for Session {
    fn renew(&mut self) -> BoxFuture<'_, Result<Renewed, Error>> {
        Box::pin(async move {
            // A renewal that is dropped half-way leaves no connection behind whose answers are out of step.
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => self.connect_new().await?,
            };
            let answer = self.ask(&mut connection).await.map_err(fault::store("renew a worker's lease"))?;
            self.connection = Some(connection);
            let Some((cancel, roll_back)) = answer else {
                let detail = format!("the lease of worker {} has lapsed or was ended", self.worker.0);
                return Err(Error::new(code::WORKER_LOST, detail));
            };
            let jobs = |ids: Vec<Uuid>| ids.into_iter().map(JobId).collect();
            Ok(Renewed { cancel: jobs(cancel), roll_back: jobs(roll_back) })
        })
    }
}

impl Session {
    async fn connect(&mut self) -> Result<(), Error> {
        self.connection = Some(self.connect_new().await?);
        Ok(())
    }

    async fn connect_new(&self) -> Result<PgConnection, Error> {
        let settings = (!self.pooled).then_some(SETTINGS);
        own::connect(&self.options, settings).await.map_err(fault::store("open a lease's connection"))
    }

    async fn ask(&self, connection: &mut PgConnection) -> Result<Option<(Vec<Uuid>, Vec<Uuid>)>, sqlx::Error> {
        let renew = sqlx::query_as(self.renew.clone()).bind(self.worker.0);
        if !self.pooled {
            return renew.fetch_optional(connection).await;
        }
        let mut tx = connection.begin().await?;
        let answer = renew.persistent(false).fetch_optional(&mut *tx).await?;
        tx.commit().await?;
        Ok(answer)
    }
}
