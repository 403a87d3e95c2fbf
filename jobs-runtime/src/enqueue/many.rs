//! The enqueue of many jobs in one round trip: refinable, then awaited.

use super::{MAX_BATCH, check, metadata, refine::refinements, submit::Submission};
use crate::{
    backoff::Backoff,
    client::Jobs,
    driver::{Enqueued, JoinTx, NewJob, Start},
    duration::IntoDuration,
    error::{Error, code},
    spec::Unique,
};
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use serde::Serialize;

/// An enqueue of many jobs, written when it is awaited: all or nothing, answered in input order.
///
/// # Errors
/// Awaiting it answers with an [`Error`] whose [`index`](Error::index) names the item that was refused, counted from
/// 0; nothing is written then. More than 100,000 jobs are refused. After `X_STORE_UNAVAILABLE` all of them may have been
/// written or none, as [`Enqueue`](super::Enqueue) says.
#[must_use = "an enqueue is written when it is awaited"]
pub struct EnqueueMany<'a>(Submission<'a>);

refinements!(EnqueueMany);

impl<'a> EnqueueMany<'a> {
    pub(crate) fn new(jobs: &'a Jobs, records: impl Iterator<Item = Result<NewJob, Error>>) -> Self {
        Self(Submission::new(jobs, collect(records)))
    }

    /// Takes a unique key for each job, in input order, as [`Enqueue::unique`](super::Enqueue::unique) does. A count
    /// that differs from the jobs' is refused.
    pub fn unique_each<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.0.take_keys(keys.into_iter().map(Into::into), None);
        self
    }

    /// As [`unique_each`](Self::unique_each), and says how the keys exclude.
    pub fn unique_each_with<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>, how: Unique) -> Self {
        self.0.take_keys(keys.into_iter().map(Into::into), Some(how));
        self
    }
}

impl<'a> IntoFuture for EnqueueMany<'a> {
    type Output = Result<Vec<Enqueued>, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.0.send(true)
    }
}

/// Stops at the first refusal and at the limit, so that an endless iterator does no harm.
fn collect(records: impl Iterator<Item = Result<NewJob, Error>>) -> Result<Vec<NewJob>, Error> {
    let mut batch = Vec::with_capacity(records.size_hint().0.min(MAX_BATCH));
    for (index, record) in records.enumerate() {
        if index == MAX_BATCH {
            return Err(Error::new(
                code::BATCH_TOO_LARGE,
                format!("a batch holds more than {MAX_BATCH} jobs, the limit"),
            ));
        }
        batch.push(record.map_err(|refusal| refusal.at_index(index))?);
    }
    Ok(batch)
}
