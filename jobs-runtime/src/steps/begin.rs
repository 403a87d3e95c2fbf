//! Runs the body of `step!`, or answers it from its record. Upstream: the macros. Downstream: `journal`.

use super::{error::StepError, output::StepOutput, spec::StepSpec, tries::Tries};
use crate::{ctx::Ctx, driver::StepKind, failure::Failure};
use std::future::Future;

/// What a step comes to at its beginning.
#[derive(Debug)]
pub enum Begin<T, R> {
    /// It is done: this is its output.
    Done(T),
    /// It is to run.
    Run(R),
}

/// A step whose body is to run. Dropped, it leaves no result.
#[derive(Debug)]
pub struct Running(Tries);

/// Begins a step.
///
/// # Errors
/// The failure that is recorded of it; `X_STEP_DUPLICATE`, `X_STEP_NESTED`, `X_STEP_NAME_INVALID`, `X_STEP_OUTSIDE_RUN`.
pub async fn begin<T: StepOutput>(
    ctx: &Ctx,
    spec: &'static StepSpec,
    key: Option<String>,
) -> Result<Begin<T, Running>, StepError> {
    Ok(match Tries::begin(ctx, StepKind::Step, spec, key).await? {
        Begin::Done(output) => Begin::Done(output),
        Begin::Run(tries) => Begin::Run(Running(tries)),
    })
}

impl Running {
    /// Runs the body of a step without `retry(..)`.
    ///
    /// # Errors
    /// The body's own; a timeout; an output that cannot be stored.
    pub async fn once<T, F>(mut self, body: F) -> Result<T, StepError>
    where
        T: StepOutput,
        F: Future<Output = Result<T, Failure>>,
    {
        let result = self.0.perform(body).await;
        self.0.conclude(result).await
    }

    /// Runs the body of a step with `retry(..)` for one try. `None`: try again, the wait is over.
    ///
    /// # Errors
    /// As [`once`](Self::once), after the last try.
    pub async fn attempt<T, F>(&mut self, body: F) -> Option<Result<T, StepError>>
    where
        T: StepOutput,
        F: Future<Output = Result<T, Failure>>,
    {
        let result = self.0.perform(body).await;
        self.0.follow(result).await
    }
}
