//! The ways from an error to a [`Failure`], the most telling first. [`failure!`](crate::__failure) chooses one by the
//! error's type. Upstream: the body of a job. Downstream: `failure`.

use super::Tag;
use crate::{Failure, JobError, failure_class::classify};
use std::error::Error as StdError;

/// The failure itself.
pub trait Own {
    /// Passes it through.
    fn fail(&self, failure: Failure) -> Failure;
}

impl Own for &&&Tag<Failure> {
    fn fail(&self, failure: Failure) -> Failure {
        failure
    }
}

/// An error that classifies itself, whether or not it is registered.
pub trait Declared<E> {
    /// Keeps it as the cause.
    fn fail(&self, error: E) -> Failure;
}

impl<E: JobError> Declared<E> for &&Tag<E> {
    fn fail(&self, error: E) -> Failure {
        let class = error.classify();
        let failure = Failure::from_error(error);
        match class {
            Some(class) => failure.said(class),
            None => failure,
        }
    }
}

/// A box of some error, such as `anyhow::Error`: the cause is looked at before it is wrapped.
pub trait Opaque<E> {
    /// Keeps it as the cause.
    fn fail(&self, error: E) -> Failure;
}

impl<E> Opaque<E> for &Tag<E>
where
    E: AsRef<dyn StdError + Send + Sync> + Into<Box<dyn StdError + Send + Sync>>,
{
    fn fail(&self, error: E) -> Failure {
        let class = classify(error.as_ref());
        let failure = Failure::from_error(error);
        match class {
            Some(class) => failure.said(class),
            None => failure,
        }
    }
}

/// Any other error.
pub trait Plain<E> {
    /// Keeps it as the cause.
    fn fail(&self, error: E) -> Failure
    where
        E: Cause;
}

impl<E> Plain<E> for Tag<E> {
    fn fail(&self, error: E) -> Failure
    where
        E: Cause,
    {
        Failure::from_error(error)
    }
}

/// What can be the cause of a failure.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a job",
    label = "not an error",
    note = "implement `std::error::Error` for it, or return `jobs::Failure`, `anyhow::Error` or a `String`; an \
            error must be `Send`, `Sync` and `'static` as well"
)]
pub trait Cause: Into<Box<dyn StdError + Send + Sync>> {}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn StdError + Send + Sync>>> Cause for E {}

/// Turns an error into a failure.
#[doc(hidden)]
#[macro_export]
macro_rules! __failure {
    ($error:ident) => {{
        #[allow(unused_imports, reason = "one of them applies")]
        use $crate::__private::failing::{Declared as _, Opaque as _, Own as _, Plain as _};
        (&&&&$crate::__private::Tag::of(&$error)).fail($error)
    }};
}
