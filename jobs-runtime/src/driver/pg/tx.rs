//! Lets an enqueue join the caller's transaction, and opens transactions that are bound to a tenant.
//! Upstream: `enqueue`, `ctx`. Downstream: nothing.

use super::{Pg, fault};
use crate::{
    driver::{JoinTx, Tx},
    error::Error,
};
use sqlx::{PgConnection, Postgres, SqlStr, Transaction};

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

impl Pg {
    /// Begins a transaction on the caller's pool whose `app.tenant` setting is the tenant, for row-level security.
    ///
    /// - The setting ends with the transaction: no pooled connection remembers a tenant.
    /// - Without a tenant the setting is the empty text, whatever the connection was set to before.
    ///
    /// # Errors
    /// `X_STORE_UNAVAILABLE` if the database does not answer.
    pub async fn begin_for_tenant(&self, tenant: Option<&str>) -> Result<Transaction<'static, Postgres>, Error> {
        let mut tx = self.pool.begin().await.map_err(fault::store("begin a tenant's transaction"))?;
        self.query(&SqlStr::from_static("SELECT pg_catalog.set_config('app.tenant', $1, true)"))
            .bind(tenant.unwrap_or_default())
            .execute(&mut *tx)
            .await
            .map_err(fault::store("set a transaction's tenant"))?;
        Ok(tx)
    }
}
