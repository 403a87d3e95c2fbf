//! Runs statements on a borrowed connection, each within a time limit, and keeps the connection only if it is well.
//! Upstream: the verbs. Downstream: `own`, the caller's pool.
//!
//! A socket whose other end has gone gives no error, only silence: the server's own time limits do not help there.
//!
//! Behind a pooler in transaction mode a server connection is ours for one transaction only. There every statement runs
//! in a transaction, unnamed, and settings are local to it.

use super::{
    Pg, fault,
    own::{Lent, Own, timed_out},
};
use crate::error::Error;
use futures_util::TryStreamExt;
use sqlx::{
    Connection, Either, Error as SqlxError, Execute, Executor, FromRow, PgConnection, PgPool, Postgres, SqlStr,
    Transaction,
    error::BoxDynError,
    pool::PoolConnection,
    postgres::{PgArguments, PgQueryResult, PgRow, PgStatement},
    query::{Query, QueryScalar},
};
use std::{
    future::Future,
    ops::{Deref, DerefMut},
    time::Duration,
};
use tokio::time::timeout;

/// The longest wait for the answer to a worker's statement: longer than the server's own limit of 10 s, so that this
/// one ends only what the server cannot.
pub(super) const ANSWER: Duration = Duration::from_secs(15);
/// The longest wait for the answer to a statement on the caller's pool.
const CALLERS_ANSWER: Duration = Duration::from_secs(30);

/// Whose connections are used, and how. Each statement that [`Ask`](super::ask::Ask)s runs on a connection of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sessions<'a> {
    source: Source<'a>,
    pooled: bool,
    /// The settings of each transaction.
    local: Option<&'static str>,
}

#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Own(&'a Own),
    Callers(&'a PgPool),
}

/// A borrowed connection. Dropped without [`give_back`](Self::give_back), it is closed.
#[derive(Debug)]
pub(super) struct Session<'a> {
    held: Held<'a>,
    local: Option<&'static str>,
}

#[derive(Debug)]
enum Held<'a> {
    Own(Lent<'a>),
    Callers(Callers),
}

/// A connection of the caller's pool.
#[derive(Debug)]
struct Callers {
    connection: PoolConnection<Postgres>,
    is_well: bool,
}

impl Drop for Callers {
    fn drop(&mut self) {
        if !self.is_well {
            self.connection.close_on_drop();
        }
    }
}

impl<'a> Sessions<'a> {
    /// The driver's own connections.
    pub(super) fn own(own: &'a Own, pooled: bool, local: Option<&'static str>) -> Self {
        Self { source: Source::Own(own), pooled, local }
    }

    /// Connections of the caller's pool.
    pub(super) fn callers(pool: &'a PgPool, pooled: bool) -> Self {
        Self { source: Source::Callers(pool), pooled, local: None }
    }

    /// Borrows a connection for statements that belong together.
    pub(super) async fn acquire(self) -> Result<Session<'a>, SqlxError> {
        let held = match self.source {
            Source::Own(own) => Held::Own(own.lend().await?),
            Source::Callers(pool) => Held::Callers(Callers { connection: pool.acquire().await?, is_well: false }),
        };
        Ok(Session { held, local: self.local })
    }

    pub(super) async fn run<'q, E>(self, query: E) -> Result<Vec<Either<PgQueryResult, PgRow>>, SqlxError>
    where
        E: Execute<'q, Postgres> + 'q,
    {
        let mut session = self.acquire().await?;
        let limit = match self.source {
            Source::Own(_) => ANSWER,
            Source::Callers(_) => CALLERS_ANSWER,
        };
        let asked = async {
            if !self.pooled {
                return session.fetch_many(query).try_collect().await;
            }
            let mut tx = session.begin().await?;
            let answer = tx.fetch_many(Unnamed(query)).try_collect().await?;
            tx.commit().await?;
            Ok(answer)
        };
        let answer = timeout(limit, asked).await.unwrap_or_else(|_| Err(timed_out()));
        match (&answer, self.source) {
            (Ok(_), _) => session.give_back(),
            (Err(error), _) if !self.pooled && fault::leaves_connection_well(error) => session.give_back(),
            (Err(_), Source::Own(own)) => own.forget_idle(),
            (Err(_), Source::Callers(_)) => {}
        }
        answer
    }
}

impl Session<'_> {
    /// Begins a transaction.
    pub(super) async fn begin(&mut self) -> Result<Transaction<'_, Postgres>, SqlxError> {
        let local = self.local;
        let mut tx = Connection::begin(&mut **self).await?;
        if let Some(local) = local {
            sqlx::raw_sql(local).execute(&mut *tx).await?;
        }
        Ok(tx)
    }

    /// Keeps the connection, which has answered all that it was asked.
    pub(super) fn give_back(self) {
        match self.held {
            Held::Own(lent) => lent.give_back(),
            Held::Callers(mut callers) => callers.is_well = true,
        }
    }
}

impl Deref for Session<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match &self.held {
            Held::Own(lent) => &lent.connection,
            Held::Callers(callers) => &callers.connection,
        }
    }
}

impl DerefMut for Session<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match &mut self.held {
            Held::Own(lent) => &mut lent.connection,
            Held::Callers(callers) => &mut callers.connection,
        }
    }
}

/// A query whose statement gets no name on the server.
struct Unnamed<E>(E);

impl<'q, E: Execute<'q, Postgres>> Execute<'q, Postgres> for Unnamed<E> {
    fn sql(self) -> SqlStr {
        self.0.sql()
    }

    fn statement(&self) -> Option<&PgStatement> {
        self.0.statement()
    }

    fn take_arguments(&mut self) -> Result<Option<PgArguments>, BoxDynError> {
        self.0.take_arguments()
    }

    fn persistent(&self) -> bool {
        false
    }
}

impl Pg {
    /// A statement of ours, for a connection that was acquired.
    pub(super) fn query(&self, sql: &SqlStr) -> Query<'static, Postgres, PgArguments> {
        sqlx::query(sql.clone()).persistent(!self.is_pooled())
    }

    /// A statement of ours that answers one column, for a connection that was acquired.
    pub(super) fn scalar<O>(&self, sql: &SqlStr) -> QueryScalar<'static, Postgres, O, PgArguments>
    where
        (O,): for<'r> FromRow<'r, PgRow>,
    {
        sqlx::query_scalar(sql.clone()).persistent(!self.is_pooled())
    }

    /// Ends a call of several statements that is not answered in time.
    pub(super) async fn bounded<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        timeout(limit, call).await.unwrap_or_else(|_| Err(fault::store("answer a worker")(self.timed_out())))
    }

    /// What a call of several statements comes to that was not answered in time.
    pub(super) fn timed_out(&self) -> SqlxError {
        self.own_connections().forget_idle();
        timed_out()
    }
}
