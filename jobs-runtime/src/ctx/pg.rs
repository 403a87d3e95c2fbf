//! Opens transactions that are bound to the run's tenant, on Postgres. Downstream: `driver::pg`.

use super::{CrossTenant, Ctx};
use crate::{
    driver::{Capability, pg::Pg},
    error::{Error, code},
};
use sqlx::{Postgres, Transaction};

impl Ctx {
    /// Begins a transaction whose `app.tenant` setting is the run's tenant, so that row-level security applies to all
    /// it does. The setting ends with the transaction; without a tenant it is empty.
    ///
    /// # Errors
    /// `X_DRIVER_UNSUPPORTED` on a driver without such transactions, `X_STORE_UNAVAILABLE` if the database does not
    /// answer.
    pub async fn tx(&self) -> Result<Transaction<'static, Postgres>, Error> {
        self.begin(self.tenant()).await
    }

    async fn begin(&self, tenant: Option<&str>) -> Result<Transaction<'static, Postgres>, Error> {
        let driver = self.jobs().driver();
        let pg = driver.as_any().downcast_ref::<Pg>().filter(|_| driver.supports(Capability::TenantTransactions));
        let Some(pg) = pg else {
            let (job, name) = (self.job(), driver.name());
            let text = format!("job `{job}` asked for a tenant's transaction, which the {name} driver does not have");
            let fix =
                "store the jobs in Postgres; a unit test calls the fn with `Ctx::for_test(&Jobs::postgres(pool)?)`";
            return Err(Error::new(code::DRIVER_UNSUPPORTED, text).with_fix(fix));
        };
        pg.begin_for_tenant(tenant).await
    }
}

impl CrossTenant<'_> {
    /// Begins a transaction without a tenant: its `app.tenant` setting is empty.
    ///
    /// # Errors
    /// As [`Ctx::tx`].
    pub async fn tx(self) -> Result<Transaction<'static, Postgres>, Error> {
        self.ctx.begin(None).await
    }
}
