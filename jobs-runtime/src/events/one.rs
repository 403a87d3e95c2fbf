//! The publication of one event: refinable, then awaited.

use super::submit::Submission;
use crate::{
    client::Jobs,
    driver::{EventId, JoinTx, NewEvent, Published},
    duration::IntoDuration,
    error::{Error, code},
};
use futures_util::future::BoxFuture;

/// An event that is published when it is awaited.
///
/// # Errors
/// Awaiting it answers `X_EVENT_INVALID`, naming the field and the limit, where something was refused; nothing is written
/// then. After `X_STORE_UNAVAILABLE` the event may have been published all the same, if only the answer was lost: an
/// [`id`](Self::id) of the caller's own makes a second try harmless.
#[must_use = "an event is published when it is awaited"]
pub struct Publish<'a>(Submission<'a>);

impl<'a> Publish<'a> {
    pub(super) fn new(jobs: &'a Jobs, record: Result<NewEvent, Error>) -> Self {
        Self(Submission::new(jobs, record.map(|record| vec![record])))
    }

    /// Sets how long it can be found: `"7d"` or a `Duration`, longer than zero, at most 36500 days. Default: what its
    /// type says, or 7 days.
    pub fn ttl(mut self, ttl: impl IntoDuration) -> Self {
        self.0.set_ttl(ttl);
        self
    }

    /// Publishes it for the runs of one tenant alone: 1 to 128 bytes of text. An event whose type names its tenant keeps
    /// it, and is refused where another is stated.
    pub fn tenant(mut self, tenant: impl AsRef<str>) -> Self {
        self.0.set_tenant(tenant.as_ref());
        self
    }

    /// Gives it an id of the caller's own making, so that it can be published again, under the same id, where the answer
    /// was lost: it is stored once, and no run takes it twice. Default: a new one.
    pub fn id(mut self, id: EventId) -> Self {
        self.0.set_id(id);
        self
    }

    /// Publishes in the caller's open transaction: rolled back, it leaves nothing and wakes nobody.
    pub fn in_tx(mut self, tx: &'a mut impl JoinTx) -> Self {
        self.0.join(tx);
        self
    }
}

impl<'a> IntoFuture for Publish<'a> {
    type Output = Result<Published, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let sent = self.0.send(false);
        Box::pin(async move {
            let answer = sent.await?.into_iter().next();
            answer.ok_or_else(|| Error::new(code::STORE_FAILED, "the driver gave no answer for an event"))
        })
    }
}
