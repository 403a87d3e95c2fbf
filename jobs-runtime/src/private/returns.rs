//! What the bodies of steps and compensations return. Upstream: the macros of a body. Downstream: `failure`.

use crate::Failure;
use futures_util::future::BoxFuture;

/// What the body of a step ends with.
#[diagnostic::on_unimplemented(
    message = "the body of a step must end with a `Result`, not `{Self}`",
    label = "not a `Result<T, E>`",
    note = "write `Ok(..)` around the value; a `?` before the end already passes an error on"
)]
pub trait StepReturn {
    /// The output.
    type Ok;
    /// The error.
    type Err;
    /// The result itself.
    fn result(self) -> Result<Self::Ok, Self::Err>;
}

impl<T, E> StepReturn for Result<T, E> {
    type Ok = T;
    type Err = E;
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
pub trait UndoReturn {
    /// The error.
    type Err;
    /// The result itself.
    fn result(self) -> Result<(), Self::Err>;
}

impl<E> UndoReturn for Result<(), E> {
    type Err = E;
    fn result(self) -> Self {
        self
    }
}

/// The result of a step's body, its error a failure.
///
/// # Errors
/// The failure that its error asks for.
pub fn step_result<R: StepReturn>(result: R, fail: impl FnOnce(R::Err) -> Failure) -> Result<R::Ok, Failure> {
    result.result().map_err(fail)
}

/// The result of a compensation's body, its error a failure.
///
/// # Errors
/// The failure that its error asks for.
pub fn undo_result<R: UndoReturn>(result: R, fail: impl FnOnce(R::Err) -> Failure) -> Result<(), Failure> {
    result.result().map_err(fail)
}

/// Boxes the body of a compensation.
pub fn boxed(
    body: impl Future<Output = Result<(), Failure>> + Send + 'static,
) -> BoxFuture<'static, Result<(), Failure>> {
    Box::pin(body)
}
