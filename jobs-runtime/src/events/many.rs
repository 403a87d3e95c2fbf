//! The publication of many events in one round trip: refinable, then awaited.

use super::{MAX_BATCH, submit::Submission};
use crate::{
    client::Jobs,
    driver::{JoinTx, NewEvent, Published},
    duration::IntoDuration,
    error::{Error, code},
};
use futures_util::future::BoxFuture;

/// Events that are published when it is awaited: all or nothing, answered in input order. Runs that wait for the same
/// name and key take them in that order.
///
/// # Errors
/// Awaiting it answers with an [`Error`] whose [`index`](Error::index) names the event that was refused, counted from
/// 0; nothing is written then. More than 100,000 events are refused.
#[must_use = "events are published when it is awaited"]
pub struct PublishMany<'a>(Submission<'a>);

impl<'a> PublishMany<'a> {
    pub(super) fn new(jobs: &'a Jobs, records: impl Iterator<Item = Result<NewEvent, Error>>) -> Self {
        Self(Submission::new(jobs, collect(records)))
    }

    /// Sets how long each can be found, as [`Publish::ttl`](super::Publish::ttl).
    pub fn ttl(mut self, ttl: impl IntoDuration) -> Self {
        self.0.set_ttl(ttl);
        self
    }

    /// Publishes each for the runs of one tenant alone, as [`Publish::tenant`](super::Publish::tenant).
    pub fn tenant(mut self, tenant: impl AsRef<str>) -> Self {
        self.0.set_tenant(tenant.as_ref());
        self
    }

    /// Publishes in the caller's open transaction: rolled back, it leaves nothing and wakes nobody.
    pub fn in_tx(mut self, tx: &'a mut impl JoinTx) -> Self {
        self.0.join(tx);
        self
    }
}

impl<'a> IntoFuture for PublishMany<'a> {
    type Output = Result<Vec<Published>, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.0.send(true)
    }
}

/// Stops at the first refusal and at the limit, so that an endless iterator does no harm.
fn collect(records: impl Iterator<Item = Result<NewEvent, Error>>) -> Result<Vec<NewEvent>, Error> {
    let mut batch = Vec::with_capacity(records.size_hint().0.min(MAX_BATCH));
    for (index, record) in records.enumerate() {
        if index == MAX_BATCH {
            let what = format!("a batch holds more than {MAX_BATCH} events, the limit");
            return Err(Error::new(code::BATCH_TOO_LARGE, what));
        }
        batch.push(record.map_err(|refusal| refusal.at_index(index))?);
    }
    Ok(batch)
}
