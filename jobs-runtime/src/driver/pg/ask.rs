//! Sends a query over a connection of its own and reads its rows. Upstream: the verbs. Downstream: `session`.

use super::session::Sessions;
use sqlx::{
    Either, Error as SqlxError, Execute, FromRow, Postgres,
    postgres::{PgArguments, PgRow},
    query::{Query, QueryAs, QueryScalar},
};
use std::future::Future;

/// A query that can be sent over a connection of [`Sessions`].
///
/// `Sessions` is no `Executor`: sqlx's feature `offline`, which a program may turn on, adds a method to that trait.
pub(super) trait Ask<'q>: Execute<'q, Postgres> + Sized + Send + 'q {
    /// What a row becomes.
    type Answer: Send;

    /// Reads a row.
    fn read(row: PgRow) -> Result<Self::Answer, SqlxError>;

    /// All rows.
    fn fetch_all_on(self, sessions: Sessions<'_>) -> impl Future<Output = Result<Vec<Self::Answer>, SqlxError>> + Send {
        async move { sessions.run(self).await?.into_iter().filter_map(Either::right).map(Self::read).collect() }
    }

    /// The first row, if there is one.
    fn fetch_optional_on(
        self,
        sessions: Sessions<'_>,
    ) -> impl Future<Output = Result<Option<Self::Answer>, SqlxError>> + Send {
        async move { sessions.run(self).await?.into_iter().find_map(Either::right).map(Self::read).transpose() }
    }

    /// The first row.
    fn fetch_one_on(self, sessions: Sessions<'_>) -> impl Future<Output = Result<Self::Answer, SqlxError>> + Send {
        async move { self.fetch_optional_on(sessions).await?.ok_or(SqlxError::RowNotFound) }
    }

    /// How many rows were written.
    fn execute_on(self, sessions: Sessions<'_>) -> impl Future<Output = Result<u64, SqlxError>> + Send {
        async move {
            let answers = sessions.run(self).await?;
            Ok(answers.into_iter().filter_map(Either::left).map(|done| done.rows_affected()).sum())
        }
    }
}

impl<'q> Ask<'q> for Query<'q, Postgres, PgArguments> {
    type Answer = PgRow;

    fn read(row: PgRow) -> Result<PgRow, SqlxError> {
        Ok(row)
    }
}

impl<'q, O> Ask<'q> for QueryScalar<'q, Postgres, O, PgArguments>
where
    O: Send + 'static,
    (O,): for<'r> FromRow<'r, PgRow>,
{
    type Answer = O;

    fn read(row: PgRow) -> Result<O, SqlxError> {
        <(O,)>::from_row(&row).map(|(answer,)| answer)
    }
}

impl<'q, O> Ask<'q> for QueryAs<'q, Postgres, O, PgArguments>
where
    O: for<'r> FromRow<'r, PgRow> + Send + 'static,
{
    type Answer = O;

    fn read(row: PgRow) -> Result<O, SqlxError> {
        O::from_row(&row)
    }
}
