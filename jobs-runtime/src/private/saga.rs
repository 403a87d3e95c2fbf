//! What `compensate!` expands to.

use crate::{
    ctx::Ctx,
    driver::StepRef,
    error::code,
    failure::{Failure, Verdict},
    json::JsonText,
    saga::Compensation,
    steps::UndoSpec,
};
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;

/// Registers what undoes a step. It runs only if the job fails for good, or an operator has it rolled back.
pub fn undo(
    ctx: &Ctx,
    spec: &'static UndoSpec,
    key: Option<String>,
    run: impl FnOnce(Ctx, Option<JsonText>) -> BoxFuture<'static, Result<(), Failure>> + Send + 'static,
) {
    let step = StepRef { name: spec.step.to_owned(), key: key.unwrap_or_default() };
    ctx.compensations().register(Compensation { step, spec, run: Box::new(run) });
}

/// The output of the step that is undone, for an `always` compensation.
///
/// # Errors
/// A failure with the path of the fault if the stored output does not decode into the type. It is tried again: another
/// release may decode it.
pub fn decode<T: DeserializeOwned>(output: Option<JsonText>) -> Result<Option<T>, Failure> {
    let Some(output) = output else { return Ok(None) };
    output.decode().map(Some).map_err(|error| {
        let text = format!("the stored output of the step does not decode: {error}");
        Failure::of(code::STEP_MISMATCH, Verdict::Backoff, text)
    })
}
