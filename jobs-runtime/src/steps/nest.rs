//! Knows which step's body the current code is part of, so that a step inside a step is refused.

use super::{error::StepError, run::Run, state::Counter};
use crate::{
    error::code,
    failure::{Failure, Verdict},
};
use std::future::Future;

/// The run and the step whose body is being polled.
#[derive(Clone)]
struct Inside {
    run: usize,
    step: String,
}

tokio::task_local! {
    static INSIDE: Inside;
}

impl Run {
    /// Runs the body of a step, or of a compensation, as such.
    pub(crate) fn inside<F: Future>(&self, step: String, body: F) -> impl Future<Output = F::Output> + use<F> {
        // Each try is given the same values.
        let mut state = self.state();
        for counter in Counter::ALL {
            state.ordinals.remove(&(counter, step.clone()));
        }
        drop(state);
        INSIDE.scope(Inside { run: self.identity(), step }, body)
    }

    /// The step in whose body the current code is.
    pub(super) fn outer(&self) -> Option<String> {
        INSIDE.try_with(|inside| (inside.run == self.identity()).then(|| inside.step.clone())).ok().flatten()
    }

    /// # Errors
    /// A terminal `X_STEP_NESTED` that names both, if the current code is part of another step's body.
    pub(super) fn refuse_nested(&self, step: &str) -> Result<(), StepError> {
        let Some(outer) = self.outer() else { return Ok(()) };
        let text = format!("step `{step}` was begun inside the body of step `{outer}`");
        Err(StepError::new(step, Failure::of(code::STEP_NESTED, Verdict::Terminal, text)))
    }
}
