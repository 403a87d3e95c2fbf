//! What generated code names. No part of the public interface: it changes without notice.
//!
//! The macros emit little and leave the work to the generic functions and macros here.

#[path = "private/failing.rs"]
pub mod failing;
#[path = "private/returns.rs"]
mod returns;
#[path = "private/saga.rs"]
pub mod saga;
#[path = "private/steps.rs"]
pub mod steps;

pub use returns::{StepReturn, UndoReturn, boxed, step_result, undo_result};

pub use crate::{
    __failure as failure, __register as register, __register_error as register_error, __schema as schema, Ctx, Error,
    Failure, JobError, Jobs, TenantId, UniqueKey,
    backoff::{Backoff, Growth},
    duration,
    enqueue::{Enqueue, EnqueueMany},
    error::code::Code,
    events::Event,
    failure::Verdict,
    failure_class::{Class, DeclaredError},
    job::{Job, JobDef},
    name,
    outline::{OutlineItem, OutlineKind},
    registry::Registration,
    settled::{FollowUp, Settled},
    spec::{Hold, JobSpec, Keep, Need, OnConflict, Retry, Unique},
    steps::{StepError, StepSpec, UndoSpec},
};
use crate::{
    data::{Output, Payload},
    error::code,
};
pub use futures_util::future::BoxFuture;
#[cfg(feature = "inventory")]
pub use inventory;
pub use schemars;
pub use serde;
pub use serde_json;
pub use std::{
    boxed::Box,
    clone::Clone,
    iter::IntoIterator,
    option::Option::{self, None, Some},
    primitive::{bool, i16, str, u16, u32},
    result::Result::{self, Err, Ok},
    string::String,
    time::Duration,
};
use std::{fmt::Display, marker::PhantomData};

/// The declaration's version of a payload: 1 to 32767.
///
/// # Panics
/// In a `const` context, at compile time, if it is 0 or too large.
#[must_use]
#[track_caller]
pub const fn version(version: u16) -> u16 {
    JobSpec::new("_").version(version).version
}

/// The declaration's crash budget: at least 1.
///
/// # Panics
/// In a `const` context, at compile time, if it is 0.
#[must_use]
#[track_caller]
pub const fn crash_budget(budget: u16) -> u16 {
    JobSpec::new("_").crash_budget(budget).crash_budget
}

/// The declaration's number of attempts: at least 1.
///
/// # Panics
/// In a `const` context, at compile time, if it is 0.
#[must_use]
#[track_caller]
pub const fn max_attempts(attempts: u32) -> u32 {
    Retry::new(attempts, Backoff::exponential("1s", "1h")).max_attempts
}

/// The attempts and waits of a job that declares none.
pub const DEFAULT_RETRY: Retry = JobSpec::new("_").retry;

/// The name of a code that an error type declares: `X_<AREA>_<WHAT>`, none of this library's own.
///
/// # Panics
/// In a `const` context, at compile time, if it is not.
#[must_use]
#[track_caller]
pub const fn declared_code(name: &'static str) -> &'static str {
    assert!(
        code::is_name(name),
        "a code is written X_<AREA>_<WHAT> in A-Z, 0-9 and `_`, at most 100 bytes, such as \"X_CARD_DECLINED\""
    );
    assert!(!code::is_own(name), "this code is one of the library's own: choose another");
    name
}

/// How long an error asks to wait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no time to wait",
    label = "not a `Duration` or an `Option` of one",
    note = "`retry = after(..)` takes a text such as \"30s\", or an expression over the fields that is a `Duration`"
)]
pub trait Wait {
    /// A fixed wait, or the job's backoff where the error does not know one.
    fn verdict(&self) -> Verdict;
}

impl Wait for Duration {
    fn verdict(&self) -> Verdict {
        Verdict::After(*self)
    }
}

impl<T: Wait> Wait for Option<T> {
    fn verdict(&self) -> Verdict {
        self.as_ref().map_or(Verdict::Backoff, Wait::verdict)
    }
}

impl<T: Wait + ?Sized> Wait for &T {
    fn verdict(&self) -> Verdict {
        (**self).verdict()
    }
}

/// What the fn of a job returns, seen through type aliases.
#[diagnostic::on_unimplemented(
    message = "the fn of a job must return a `Result`, not `{Self}`",
    label = "not a `Result<T, E>`",
    note = "return `Result<(), jobs::Failure>` if there is nothing to return"
)]
pub trait JobReturn {
    /// The output.
    type Ok;
    /// The error.
    type Err;
    /// The result itself.
    fn result(self) -> Result<Self::Ok, Self::Err>;
}

impl<T, E> JobReturn for Result<T, E> {
    type Ok = T;
    type Err = E;
    fn result(self) -> Self {
        self
    }
}

/// A type as itself, if it can be the input of a job. Named in place of the type, so that one that cannot yields one
/// error, which says what to do, and none in its wake.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a job",
    label = "not owned data that serde can write and read",
    note = "an input is stored: add `#[derive(Serialize, Deserialize)]` to the type, from `jobs::prelude` or serde; it \
            must be `Send`, `Sync` and `'static` as well"
)]
pub trait InputType {
    /// The type.
    type Itself;
}

#[diagnostic::do_not_recommend]
impl<T: Payload> InputType for T {
    type Itself = T;
}

/// A type as itself, if it can be the output of a job, as [`InputType`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a job",
    label = "not owned data that serde can write",
    note = "an output is kept in the history: add `#[derive(Serialize)]` to the type, from `jobs::prelude` or serde, or \
            return `()`"
)]
pub trait OutputType {
    /// The type.
    type Itself;
}

#[diagnostic::do_not_recommend]
impl<T: Output> OutputType for T {
    type Itself = T;
}

/// The input of a follow-up job.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a follow-up job",
    label = "its input is not built from what settled",
    note = "take `jobs::Settled` as the input of the follow-up job, or write `impl From<jobs::Settled> for {Self}`"
)]
pub trait FollowUpInput: From<Settled> {}

#[diagnostic::do_not_recommend]
impl<T: From<Settled>> FollowUpInput for T {}

/// Boxes a job's body.
pub fn body<'a, R>(
    body: impl Future<Output = R> + Send + 'a,
    fail: impl FnOnce(R::Err) -> Failure + Send + 'a,
) -> BoxFuture<'a, Result<R::Ok, Failure>>
where
    R: JobReturn + 'a,
{
    Box::pin(async move { body.await.result().map_err(fail) })
}

/// Boxes an `on_settled` hook.
pub fn hook<'a, R>(
    hook: impl Future<Output = R> + Send + 'a,
    fail: impl FnOnce(R::Err) -> Failure + Send + 'a,
) -> Option<BoxFuture<'a, Result<(), Failure>>>
where
    R: JobReturn + 'a,
{
    Some(Box::pin(async move { hook.await.result().map(drop).map_err(fail) }))
}

/// Calls an `upgrade`.
///
/// # Errors
/// The failure that its error asks for.
pub fn upgraded<R: JobReturn>(upgraded: R, fail: impl FnOnce(R::Err) -> Failure) -> Result<R::Ok, Failure> {
    upgraded.result().map_err(fail)
}

/// A unique key from chosen fields: a JSON object, sorted by field.
///
/// # Errors
/// If a field cannot be encoded.
pub fn unique_fields<const N: usize>(
    job: &str,
    mut fields: [(&str, serde_json::Result<serde_json::Value>); N],
) -> Result<Option<UniqueKey>, Error> {
    fields.sort_by_key(|field| field.0);
    let mut key = serde_json::Map::new();
    for (name, value) in fields {
        let value = value.map_err(|error| {
            Error::new(code::KEY_INVALID, format!("field `{name}` of `{job}` cannot be part of a unique key: {error}"))
        })?;
        key.insert(name.to_owned(), value);
    }
    Ok(Some(UniqueKey::Json(serde_json::Value::Object(key).to_string())))
}

/// A unique key of the caller's own.
///
/// # Errors
/// Never; the text is checked when the job is enqueued.
pub fn unique_text(key: &(impl Display + ?Sized)) -> Result<Option<UniqueKey>, Error> {
    Ok(Some(UniqueKey::Text(key.to_string())))
}

/// A type as a value, to choose a trait by what the type implements.
pub struct Tag<T>(PhantomData<T>);

impl<T> Tag<T> {
    /// The tag.
    pub const NEW: Self = Self(PhantomData);

    /// The tag of a value's type.
    pub const fn of(_value: &T) -> Self {
        Self::NEW
    }
}

/// A type with a JSON Schema.
pub trait WithSchema {
    /// Its schema.
    fn schema(&self) -> Option<schemars::Schema>;
}

impl<T: schemars::JsonSchema> WithSchema for &Tag<T> {
    fn schema(&self) -> Option<schemars::Schema> {
        Some(schemars::SchemaGenerator::default().into_root_schema_for::<T>())
    }
}

/// A type without a JSON Schema.
pub trait WithoutSchema {
    /// Nothing.
    fn schema(&self) -> Option<schemars::Schema>;
}

impl<T> WithoutSchema for Tag<T> {
    fn schema(&self) -> Option<schemars::Schema> {
        None
    }
}

/// The schema of a type that must have one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema, which `#[job(schema)]` demands",
    label = "no `JsonSchema`",
    note = "add `#[derive(jobs::schemars::JsonSchema)]` to the type, or leave the option `schema` out"
)]
pub trait HasSchema: schemars::JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema> HasSchema for T {}

/// The schema of a type that must have one.
#[must_use]
pub fn demanded_schema<T: HasSchema>() -> Option<schemars::Schema> {
    WithSchema::schema(&&Tag::<T>::NEW)
}

/// The schema of a type, if it has one.
#[doc(hidden)]
#[macro_export]
macro_rules! __schema {
    ($type:ty) => {{
        #[allow(unused_imports, reason = "one of them applies")]
        use $crate::__private::{WithSchema as _, WithoutSchema as _};
        (&&$crate::__private::Tag::<$type>::NEW).schema()
    }};
}

/// Registers a job at link time.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "inventory")]
macro_rules! __register {
    ($job:ty) => {
        $crate::__private::inventory::submit! {
            $crate::__private::Registration(const { &$crate::__private::JobDef::of::<$job>() })
        }
    };
}

/// Without the feature `inventory`, jobs are registered by hand.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "inventory"))]
macro_rules! __register {
    ($job:ty) => {};
}

/// Registers an error type at link time.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "inventory")]
macro_rules! __register_error {
    ($error:ty) => {
        $crate::__private::inventory::submit! { $crate::__private::DeclaredError::of::<$error>() }
    };
}

/// Without the feature `inventory`, an error is classified where a job returns it, not deeper in a chain of causes.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "inventory"))]
macro_rules! __register_error {
    ($error:ty) => {};
}
