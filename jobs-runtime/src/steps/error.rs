//! Why a step gave no value. Upstream: the body of a job. Downstream: `failure`.

use crate::failure::Failure;
use std::{error::Error as StdError, fmt};

/// Why a step, a wait or a child gave no value.
///
/// It holds the [`Failure`] that the step's own error became. Passed on with `?`, in whatever error type, it fails the
/// job as that failure would: with its verdict, its code and its causes.
#[derive(Debug)]
pub struct StepError {
    step: String,
    failure: Failure,
}

impl StepError {
    /// The failure of the step of this name.
    #[must_use]
    pub fn new(step: impl Into<String>, failure: Failure) -> Self {
        Self { step: step.into(), failure }
    }

    /// The step's name, with its key in brackets where it has one.
    #[must_use]
    pub fn step(&self) -> &str {
        &self.step
    }

    /// What failed.
    #[must_use]
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// What failed, by value.
    #[must_use]
    pub fn into_failure(self) -> Failure {
        self.failure
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step `{}`: {}", self.step, self.failure)
    }
}

/// The causes of the step's own error follow.
impl StdError for StepError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.failure.cause().map(|cause| cause as &(dyn StdError + 'static))
    }
}
