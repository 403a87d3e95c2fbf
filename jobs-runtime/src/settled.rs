//! What follows a job that has settled: the follow-up jobs of `then` and `on_dead`, and the `on_settled` hook.
//! Upstream: `settle`. Downstream: `driver`, which writes the follow-up in the settling statement.

mod announce;

pub(crate) use announce::announce;

use crate::{
    __private::FollowUpInput,
    client::Jobs,
    driver::NewJob,
    error::{Error, code},
    failure::RecordedFailure,
    id::JobId,
    job::Job,
    json::JsonText,
    payload,
    spec::JobSpec,
    state::State,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A job that has settled, as its follow-up and its hook see it. It is the input of a follow-up job, unless that
/// job's own input is built `From<Settled>`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// The job's id.
    #[schemars(with = "uuid::Uuid")]
    pub id: JobId,
    /// The job's name.
    pub job: String,
    /// The job's tenant.
    pub tenant: Option<String>,
    /// The attempt that settled it, from 1.
    pub attempt: u32,
    /// How it ended.
    #[schemars(with = "String")]
    pub state: State,
    /// The input, as stored.
    #[schemars(with = "serde_json::Value")]
    pub input: JsonText,
    /// The output of a completed job; `None` where the body returned `()`.
    #[schemars(with = "Option<serde_json::Value>")]
    pub output: Option<JsonText>,
    /// The failure of a job that did not complete.
    #[schemars(with = "Option<serde_json::Value>")]
    pub failure: Option<RecordedFailure>,
}

/// A job to be written in the statement that settles another.
#[derive(Debug, Clone, Copy)]
pub struct FollowUp {
    /// The follow-up's name.
    pub job: &'static str,
    pub(crate) build: fn(Settled) -> Result<NewJob, Error>,
}

impl FollowUp {
    /// The follow-up job `J`, whose input is built from what settled.
    #[must_use]
    pub const fn to<J>() -> Self
    where
        J: Job,
        J::Input: FollowUpInput,
    {
        Self { job: J::SPEC.name, build: |settled| crate::enqueue::record::<J>(&J::Input::from(settled)) }
    }
}

/// How much larger than a payload a follow-up's may be: it can hold the input and the output of the job it follows.
const FOLLOW_UP_FACTOR: usize = 2;
/// And the failure, and the names around them.
const FOLLOW_UP_EXTRA: usize = 16 * 1024;

/// The job that follows, where the declaration names one for this end: `then` after `completed`, `on_dead` after
/// `dead` and `dropped`.
///
/// # Errors
/// `X_JOB_FOLLOW_UP_INVALID` if it cannot be built from what settled. The job that settled is settled all the same.
pub(crate) fn follow_up(jobs: &Jobs, spec: &JobSpec, settled: Settled) -> Result<Option<NewJob>, Error> {
    let follow_up = match settled.state {
        State::Completed => spec.then,
        State::Dead | State::Dropped => spec.on_dead,
        _ => None,
    };
    let Some(follow_up) = follow_up else { return Ok(None) };
    let limit = jobs.payload_limit().saturating_mul(FOLLOW_UP_FACTOR).saturating_add(FOLLOW_UP_EXTRA);
    let built = (follow_up.build)(settled)
        .and_then(|record| payload::check_size(&record.kind, &record.payload, limit).map(|()| record));
    built.map(Some).map_err(|error| {
        let detail =
            format!("the follow-up `{}` of `{}` cannot be built: {}", follow_up.job, spec.name, error.detail());
        Error::new(code::JOB_FOLLOW_UP_INVALID, detail).with_source(error)
    })
}
