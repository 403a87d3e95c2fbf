//! What the bodies of steps and compensations return. Upstream: the macros of a body. Downstream: `failure`.

use crate::Failure;
use futures_util::future::BoxFuture;

/// What the body of a step ends with. The parts are parameters, so that a body that ends with another thing is one
/// error.
#[diagnostic::on_unimplemented(
    message = "the body of a step must end with a `Result`, not `{Self}`",
    label = "not a `Result<T, E>`",
    note = "write `Ok(..)` around the value; a `?` before the end already passes an error on"
)]
pub trait StepReturn<T, E> {
    /// The result itself.
    fn result(self) -> Result<T, E>;
}

impl<T, E> StepReturn<T, E> for Result<T, E> {
    fn result(self) -> Self {
        self
    }
}

/// What a compensation ends with.
#[diagnostic::on_unimplemented(
    message = "a compensation must end with a `Result<(), E>`, not `{Self}`",
    label = "not a `Result<(), E>`",
    note = "nothing is kept of a compensation but that it is done: write `Ok(())` at its end"
)]
pub trait UndoReturn<E> {
    /// The result itself.
    fn result(self) -> Result<(), E>;
}

impl<E> UndoReturn<E> for Result<(), E> {
    fn result(self) -> Self {
        self
    }
}

/// The result of a step's body, its error a failure.
///
/// # Errors
/// The failure that its error asks for.
pub fn step_result<T, E>(result: impl StepReturn<T, E>, fail: impl FnOnce(E) -> Failure) -> Result<T, Failure> {
    result.result().map_err(fail)
}

/// The result of a compensation's body, its error a failure.
///
/// # Errors
/// The failure that its error asks for.
pub fn undo_result<E>(result: impl UndoReturn<E>, fail: impl FnOnce(E) -> Failure) -> Result<(), Failure> {
    result.result().map_err(fail)
}

/// Boxes the body of a step or a compensation. What runs it is then compiled once for each output, not for each body.
pub fn boxed<'a, T>(body: impl Future<Output = Result<T, Failure>> + Send + 'a) -> BoxFuture<'a, Result<T, Failure>> {
    Box::pin(body)
}
