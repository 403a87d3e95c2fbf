//! What follows a job that has settled: the follow-up jobs of `then` and `on_dead`, and the `on_settled` hook.

use crate::{
    driver::NewJob, error::Error, failure::RecordedFailure, id::JobId, job::Job, json::JsonText, state::State,
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
        J::Input: From<Settled>,
    {
        Self { job: J::SPEC.name, build: |settled| crate::enqueue::record::<J>(&J::Input::from(settled)) }
    }
}
