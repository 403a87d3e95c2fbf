//! Durable, typed, tenant-aware jobs, declared where they are written.
//!
//! Annotate an `async fn` with [`#[job]`](macro@job) and it becomes a durable job: enqueue it in your own transaction, and let any
//! worker process find it at startup and run it. Postgres is the store, memory the embedded default.
//!
//! ```no_run
//! use jobs::prelude::*;
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! pub struct PlaceOrder { pub org: String, pub order: Uuid, pub cents: u64 }
//!
//! /// Charges an order.
//! #[job(
//!     queue = "orders",
//!     tenant = input.org,
//!     unique(by = [order], while = live),
//!     retry(max_attempts = 5, backoff = exponential("1s", max = "5m")),
//!     timeout = "2m",
//! )]
//! pub async fn place_order(ctx: &Ctx, input: PlaceOrder) -> Result<(), Failure> {
//!     let bank: &Bank = ctx.state()?;
//!     bank.charge(input.cents, ctx.id()).await?;
//!     Ok(())
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), jobs::Error> {
//!     let jobs = Jobs::connect("postgres://localhost/app").await?;
//!     jobs.migrate(Migrate::ApplyAll).await?;
//!     let order = PlaceOrder { org: "acme".to_owned(), order: Uuid::now_v7(), cents: 4_200 };
//!     place_order::enqueue(&jobs, order).delay("5m").await?;
//!     jobs.worker().state(Bank).queue("orders", 10).run().await
//! }
//! # pub struct Bank;
//! # impl Bank { async fn charge(&self, _: u64, _: jobs::JobId) -> Result<(), std::io::Error> { Ok(()) } }
//! ```
//!
//! **An acknowledged enqueue is never lost. A job runs at least once.** [Guarantees](docs::guarantees) says what that rests
//! on, and what it does not give.
//!
//! - [Getting started](docs::getting_started): declare, enqueue, run, register.
//! - [Enqueuing](docs::enqueue): refinements, transactions, unique jobs, limits.
//! - [Failing](docs::failing): retries, what a caller learns, what follows.
//! - [Steps](docs::steps): what runs once, waits, children, and how code changes under runs in flight.
//! - [Sagas](docs::sagas): steps that are undone when the job fails for good.
//! - [Events](docs::events): publish what happened, wake the runs that wait for it, look at a run.
//! - [Tenants](docs::tenants): whose job it is, and how it stays so.
//! - [Workers](docs::workers): state, queues, deploys, a web server beside them.
//! - [On Postgres](docs::postgres): connections, privileges, outages, poolers, enqueue and publish from SQL.
//! - [Testing](docs::testing): run a job in place, move the clock, assert what was enqueued.
//! - [States](docs::states) and [error codes](docs::errors).
//!
//! The crate's `examples` run on memory with no set-up: `cargo run --example quickstart`.
//!
//! # Features
//! - `pg` (default): the Postgres driver, `jobs::driver::pg`.
//! - `inventory` (default): jobs register themselves at link time.
//! - `testing`: `jobs::testing`, to run jobs in place under a clock of the test's own, and the conformance suite of drivers.

/// Derives what an error says of itself: whether to try again, and what a remote caller may learn.
///
/// ```
/// use jobs::{JobError, failure::Verdict, prelude::*};
/// use std::time::Duration;
///
/// #[derive(Debug, thiserror::Error, JobError)]
/// enum ChargeError {
///     #[error("the card was declined")]
///     #[job_error(code = "X_CARD_DECLINED", title = "the bank declined the card", retry = terminal)]
///     Declined,
///     #[error("the bank asks to wait")]
///     #[job_error(retry = after(wait))]
///     Busy { wait: Duration },
/// }
///
/// let failure = Failure::from(ChargeError::Busy { wait: Duration::from_secs(30) });
/// assert_eq!(failure.asks(), Verdict::After(Duration::from_secs(30)));
/// ```
pub use jobs_macros::JobError;
/// Makes a type an event, which is published under a key and which runs wait for.
///
/// ```
/// use jobs::prelude::*;
///
/// #[derive(Debug, Serialize, Deserialize)]
/// #[event(name = "order.shipped", tenant = self.org, ttl = "30d")]
/// struct OrderShipped { org: String, parcel: String }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Failure> {
/// let jobs = Jobs::memory()?;
/// let shipped = OrderShipped { org: "acme".to_owned(), parcel: "1Z".to_owned() };
/// shipped.publish(&jobs, 4_711).await?; // a run that waits for order 4711 goes on
/// assert_eq!(OrderShipped::NAME, "order.shipped");
/// # Ok(()) }
/// ```
pub use jobs_macros::event;
/// Declares a job: the attribute of an `async fn`.
///
/// ```
/// use jobs::prelude::*;
///
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// struct Email { org: String, to: String }
///
/// /// Sends a message.
/// #[job(tenant = input.org, queue = "mail", retry(max_attempts = 8), timeout = "30s")]
/// async fn send_email(_ctx: &Ctx, input: Email) -> Result<usize, Failure> {
///     Ok(input.to.len())
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Failure> {
/// let email = || Email { org: "acme".to_owned(), to: "ada@acme.example".to_owned() };
/// let jobs = Jobs::memory()?;
/// send_email::enqueue(&jobs, email()).delay("5m").await?; // the handle: a type
/// # #[cfg(feature = "testing")]
/// assert_eq!(send_email(&Ctx::for_test(&jobs).build(), email()).await?, 16); // the fn, as written
/// assert_eq!(send_email::SPEC.queue, "mail");
/// # Ok(()) }
/// ```
pub use jobs_macros::job;
pub use jobs_runtime::{
    CancelReason, Child, Class, CrossTenant, Ctx, Enqueued, Error, Event, Execution, Failure, FollowUp, Job, JobDef,
    JobError, JobId, Jobs, JsonText, Migrate, Outcome, Output, Payload, Registry, Report, Resolution, Settled, State,
    StepError, StepOutput, StepTx, TenantId, UniqueKey, Worker, WorkerBuilder, backoff, client, clock, driver,
    duration, enqueue, error, events, failure, logged, name, outline, registry, replay, report, spec, state, timeline,
};
#[doc(no_inline)]
pub use jobs_runtime::{chrono, schemars, serde, serde_json, uuid};

#[cfg(feature = "testing")]
pub use jobs_runtime::{TestCtx, conformance_suite, testing};

pub mod docs;
pub mod prelude;
mod steps;

/// Names crates whose jobs the program shall know. The linker drops a crate that nothing names in source, and its jobs
/// with it.
///
/// Write it in the program itself: in a library it holds only for who links the library. `jobs.registry().expect(..)`
/// proves at startup that it worked.
///
/// # Examples
/// ```
/// jobs::link!(serde_json, uuid);
/// ```
#[macro_export]
macro_rules! link {
    ($($name:ident),+ $(,)?) => {
        $(use $name as _;)+
    };
}

/// What generated code names. No part of the public interface.
#[doc(hidden)]
pub use jobs_runtime::__private;

/// What the macros of a body pass their tokens to. No part of the public interface.
#[doc(hidden)]
pub mod __macros {
    pub use jobs_macros::{compensate, patch, pivot, race, sleep, sleep_until, spawn, step, step_tx, wait_for};
}

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
