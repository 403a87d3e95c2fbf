//! Lets an enqueue join the caller's transaction, and opens transactions that are bound to a tenant.
//! Upstream: `enqueue`, `ctx`. Downstream: nothing.

use super::{Pg, fault};
use crate::{
    driver::{JoinTx, Tx},
    error::Error,
    logged,
};
use sqlx::{PgConnection, Postgres, Row, SqlStr, Transaction};
use std::sync::atomic::Ordering;

impl JoinTx for PgConnection {
    fn tx(&mut self) -> Tx<'_> {
        Tx::new(self)
    }
}

impl JoinTx for Transaction<'_, Postgres> {
    fn tx(&mut self) -> Tx<'_> {
        Tx::new::<PgConnection>(self)
    }
}

const SET: &str = include_str!("sql/set_tenant.sql");
const UNGUARDED: &str = include_str!("sql/unguarded.sql");

impl Pg {
    /// Begins a transaction on the caller's pool whose `app.tenant` setting is the tenant, for row-level security.
    ///
    /// - The setting ends with the transaction: no pooled connection remembers a tenant.
    /// - Without a tenant the setting is the empty text, whatever the connection was set to before.
    ///
    /// The first such transaction warns of tables whose row-level security does not hold for the pool's role.
    ///
    /// # Errors
    /// `X_STORE_UNAVAILABLE` if the database does not answer.
    pub async fn begin_for_tenant(&self, tenant: Option<&str>) -> Result<Transaction<'static, Postgres>, Error> {
        let mut tx = self.pool.begin().await.map_err(fault::store("begin a tenant's transaction"))?;
        self.query(&SqlStr::from_static(SET))
            .bind(tenant.unwrap_or_default())
            .execute(&mut *tx)
            .await
            .map_err(fault::store("set a transaction's tenant"))?;
        if tenant.is_some() && !self.has_looked_at_guards.swap(true, Ordering::Relaxed) {
            self.warn_of_unguarded(&mut tx).await?;
        }
        Ok(tx)
    }

    async fn warn_of_unguarded(&self, tx: &mut PgConnection) -> Result<(), Error> {
        let tables: Option<String> = self
            .query(&SqlStr::from_static(UNGUARDED))
            .fetch_one(tx)
            .await
            .and_then(|row| row.try_get(0))
            .map_err(fault::store("look at row-level security"))?;
        if let Some(tables) = tables {
            tracing::warn!(
                event = logged::TENANT_UNGUARDED,
                tables,
                "row-level security does not hold: the role is a superuser, has BYPASSRLS, or owns the tables without FORCE"
            );
        }
        Ok(())
    }
}
