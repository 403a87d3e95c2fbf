//! Refines the records of events and writes them in one call of the driver.

use super::check;
use crate::{
    client::Jobs,
    driver::{Capability, EventId, JoinTx, NewEvent, Published, Tx},
    duration::IntoDuration,
    error::{Error, code},
};
use futures_util::future::BoxFuture;

/// Events on their way to the driver, or the first reason why they will not get there.
pub(super) struct Submission<'a> {
    jobs: &'a Jobs,
    records: Result<Vec<NewEvent>, Error>,
    tx: Option<Tx<'a>>,
}

impl<'a> Submission<'a> {
    pub(super) fn new(jobs: &'a Jobs, records: Result<Vec<NewEvent>, Error>) -> Self {
        Self { jobs, records, tx: None }
    }

    pub(super) fn set_ttl(&mut self, ttl: impl IntoDuration) {
        self.each(|record| {
            record.ttl = check::check_ttl(&record.name, ttl)?;
            Ok(())
        });
    }

    pub(super) fn set_tenant(&mut self, tenant: &str) {
        self.each(|record| {
            check::stated_tenant(record, tenant)?;
            record.tenant = Some(tenant.to_owned());
            Ok(())
        });
    }

    pub(super) fn set_id(&mut self, id: EventId) {
        self.each(|record| {
            record.id = id;
            Ok(())
        });
    }

    pub(super) fn join(&mut self, tx: &'a mut impl JoinTx) {
        self.tx = Some(tx.tx());
    }

    /// Writes the events. Only the refusal of a batch names the item.
    pub(super) fn send(self, is_batch: bool) -> BoxFuture<'a, Result<Vec<Published>, Error>> {
        let Self { jobs, records, tx } = self;
        Box::pin(async move {
            let refused = |refusal: Error| if is_batch { refusal } else { refusal.without_index() };
            let records = records.map_err(refused)?;
            if records.is_empty() {
                return Ok(Vec::new());
            }
            let driver = jobs.driver();
            if tx.is_some() && !driver.supports(Capability::Transactions) {
                let what = format!("the driver `{}` cannot publish in the caller's transaction", driver.name());
                return Err(Error::new(code::DRIVER_UNSUPPORTED, what));
            }
            driver.publish(&records, tx).await.map_err(refused)
        })
    }

    /// Checks or changes each record. The first refusal stands.
    fn each(&mut self, apply: impl Fn(&mut NewEvent) -> Result<(), Error>) {
        if let Ok(records) = &mut self.records
            && let Err(refusal) = records
                .iter_mut()
                .enumerate()
                .try_for_each(|(index, record)| apply(record).map_err(|refusal| refusal.at_index(index)))
        {
            self.records = Err(refusal);
        }
    }
}
