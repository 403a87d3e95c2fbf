//! The trait that `#[job]` implements, and the erased definition that the registry holds.
//! Upstream: the macros. Downstream: `registry`.

use crate::{
    ctx::Ctx,
    data::{Output, Payload},
    driver::NewJob,
    enqueue,
    error::{Error, code},
    failure::{Failure, Verdict},
    json::JsonText,
    payload,
    settled::Settled,
    spec::JobSpec,
};
use futures_util::future::BoxFuture;
use schemars::Schema;
use std::any::TypeId;

/// A job: its declaration, its payload types, and its body. `#[job]` writes the implementation; by hand it is the
/// same few items.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a job",
    label = "not a job",
    note = "a job is an `async fn` with `#[job(..)]`, or a type that implements `jobs::Job`"
)]
pub trait Job: Sized + Send + Sync + 'static {
    /// The payload.
    type Input: Payload;
    /// What a completed run returns, kept in the history.
    type Output: Output;
    /// The declaration.
    const SPEC: JobSpec;

    /// The tenant that the input belongs to; `None` where the job declares `tenant = none`.
    fn tenant(input: &Self::Input) -> Option<String>;

    /// Runs the body.
    fn run(ctx: &Ctx, input: Self::Input) -> BoxFuture<'_, Result<Self::Output, Failure>>;

    /// The unique key of the input, where the job declares one.
    ///
    /// # Errors
    /// If the key cannot be built from the input.
    fn unique_key(_input: &Self::Input) -> Result<Option<UniqueKey>, Error> {
        Ok(None)
    }

    /// Maps the payload of an older version to the current one.
    ///
    /// # Errors
    /// If the version cannot be mapped: the attempt fails, the stored payload stays.
    fn upgrade(from: u16, _payload: serde_json::Value) -> Result<serde_json::Value, Failure> {
        Err(Failure::of(
            code::PAYLOAD_UNREADABLE,
            Verdict::Backoff,
            format!("job `{}` has no upgrade from payload version {from}", Self::SPEC.name),
        ))
    }

    /// The JSON Schema of the input, if the type has one.
    fn input_schema() -> Option<Schema> {
        None
    }

    /// The JSON Schema of the output, if the type has one.
    fn output_schema() -> Option<Schema> {
        None
    }

    /// The hook that runs after the job has settled, where the job declares one.
    fn on_settled(_ctx: &Ctx, _settled: Settled) -> Option<BoxFuture<'_, Result<(), Failure>>> {
        None
    }
}

/// What a unique key is made of. The job's name and its tenant belong to every key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UniqueKey {
    /// The caller's own text: 1 to 200 bytes, not blank, without NUL.
    Text(String),
    /// Chosen fields or the whole input, as JSON text of any length.
    Json(String),
}

/// A body with its input, ready to run.
type Body = Box<dyn FnOnce(Ctx) -> BoxFuture<'static, Result<Option<JsonText>, Failure>> + Send>;
/// The hook of a job, if it has one.
type Hook = for<'a> fn(&'a Ctx, Settled) -> Option<BoxFuture<'a, Result<(), Failure>>>;

/// A decoded payload that is ready to run.
pub(crate) struct Prepared {
    /// The tenant that the payload resolves to.
    pub(crate) tenant: Option<String>,
    /// The body. Its output is `None` for `()`.
    pub(crate) body: Body,
}

/// The erased definition of a job: what the registry holds and the worker runs.
pub struct JobDef {
    /// The declaration.
    pub spec: JobSpec,
    /// The JSON Schema of the input, built when called.
    pub input_schema: fn() -> Option<Schema>,
    /// The JSON Schema of the output, built when called.
    pub output_schema: fn() -> Option<Schema>,
    identity: fn() -> TypeId,
    pub(crate) prepare: fn(&JsonText, u16) -> Result<Prepared, Failure>,
    pub(crate) record: fn(&JsonText) -> Result<NewJob, Error>,
    pub(crate) on_settled: Hook,
}

impl JobDef {
    /// The definition of a job.
    #[must_use]
    pub const fn of<J: Job>() -> Self {
        Self {
            spec: J::SPEC,
            input_schema: J::input_schema,
            output_schema: J::output_schema,
            identity: TypeId::of::<J>,
            prepare: prepare::<J>,
            record: |payload| {
                let input = payload::decode::<J::Input>(J::SPEC.name, payload)?;
                enqueue::record::<J>(&input)
            },
            on_settled: J::on_settled,
        }
    }
}

impl JobDef {
    /// Whether both define one job. A definition has no address of its own: it may be copied into each crate.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.identity)() == (other.identity)()
    }
}

impl std::fmt::Debug for JobDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.spec.name, self.spec.place)
    }
}

fn prepare<J: Job>(payload: &JsonText, version: u16) -> Result<Prepared, Failure> {
    let input: J::Input = if version < J::SPEC.version {
        payload::upgrade::<J>(payload, version)?
    } else {
        payload::decode(J::SPEC.name, payload)?
    };
    Ok(Prepared {
        tenant: J::tenant(&input),
        body: Box::new(move |ctx| {
            Box::pin(async move {
                let output = J::run(&ctx, input).await?;
                payload::output(J::SPEC.name, &output)
            })
        }),
    })
}
