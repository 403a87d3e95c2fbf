//! The enqueue of one job: refinable, then awaited.

use super::{check, metadata, refine::refinements, submit::Submission};
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

/// An enqueue of one job, written when it is awaited.
///
/// # Errors
/// Awaiting it answers with an [`Error`] that names the field and the limit where something was refused; nothing is
/// written then. `X_STORE_UNAVAILABLE` is the one that trying again may mend; the job may have been written all the same,
/// if only the answer was lost. A unique key keeps a second try from writing a second job.
#[must_use = "an enqueue is written when it is awaited"]
pub struct Enqueue<'a>(Submission<'a>);

refinements!(Enqueue);

impl<'a> Enqueue<'a> {
    pub(crate) fn new(jobs: &'a Jobs, record: Result<NewJob, Error>) -> Self {
        Self(Submission::new(jobs, record.map(|record| vec![record])))
    }

    /// Takes a unique key of the caller's own text, 1 to 200 bytes, in place of the declared one. The job's name and
    /// tenant belong to it. It is held as the job declares; where it declares nothing, while the job is live, and an
    /// enqueue that finds it taken is told of the job that holds it.
    pub fn unique(mut self, key: impl Into<String>) -> Self {
        self.0.take_keys([key.into()], None);
        self
    }

    /// As [`unique`](Self::unique), and says how the key excludes.
    pub fn unique_with(mut self, key: impl Into<String>, how: Unique) -> Self {
        self.0.take_keys([key.into()], Some(how));
        self
    }
}

impl<'a> IntoFuture for Enqueue<'a> {
    type Output = Result<Enqueued, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let sent = self.0.send(false);
        Box::pin(async move {
            let answer = sent.await?.into_iter().next();
            answer.ok_or_else(|| Error::new(code::STORE_FAILED, "the driver gave no answer for a job"))
        })
    }
}
