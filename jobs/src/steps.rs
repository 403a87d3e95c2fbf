//! The macros of a job's body. Each passes its crate on, so that it works under whatever name the crate has.
//! Upstream: users. Downstream: `jobs-macros`.

/// Runs a body once and keeps what it gave: a later attempt, or a replay, takes the kept output and does not run the body.
///
/// `step!(ctx, "name", [options,] body)` is a future of `Result<T, StepError>`; nothing happens before it is awaited. It
/// resolves when the record is durable. Its identity in the run is its name and key.
///
/// ```
/// use jobs::prelude::*;
/// # struct Bank; impl Bank { async fn charge(&self, cents: u64, _key: String) -> Result<u64, std::io::Error> { Ok(cents) } }
///
/// #[job(tenant = none)]
/// async fn take_payment(ctx: &Ctx, cents: u64) -> Result<u64, Failure> {
///     let bank: &Bank = ctx.state()?;
///     let paid: u64 = step!(ctx, "charge", timeout = "10s", async {
///         bank.charge(cents, ctx.idempotency_key("charge")).await
///     })
///     .await?;
///     step!(ctx, "mail", async { Ok(()) }).await?;
///     Ok(paid)
/// }
/// # #[cfg(feature = "testing")] #[tokio::main(flavor = "current_thread")] async fn main() {
/// # let registry = Registry::builder().job::<take_payment>().build().expect("the declarations agree");
/// # let app = jobs::testing::Harness::with(registry).state(Bank);
/// # let run = app.run::<take_payment>(5).await;
/// # assert_eq!(app.output::<u64>(run.job).await, 5);
/// # }
/// # #[cfg(not(feature = "testing"))] fn main() {}
/// ```
///
/// # The body
///
/// - **`async { … }`** or **`async move { … }`** ends with a `Result<T, E>`. In it `?` takes every `std::error::Error`, and
///   the last expression's error may be whatever a job's may be: a `Failure`, an error, a box of one, a text. Blocks, `if`
///   and `match` at the end are looked into. `return` leaves the body, not the job.
/// - Or **any other future** of such a `Result`: `step!(ctx, "charge", bank.charge(5))`. It is made only if the step runs.
/// - `T` is what serde can write and read again, at most 1 MiB of JSON, without NUL and non-finite numbers. It is told by
///   the context, or stated: `let paid: Payment = step!(..).await?`.
/// - No other durable line stands in it: neither step nor sleep nor wait.
///
/// # Options
///
/// - **`once`**: it never runs twice by itself. Default: a crash in the middle runs it again. A `once` step that began and
///   left no result, by a crash, a panic, its own timeout or the job's, is *unknown*: the run waits until a person resolves
///   it. One that returned an error has failed for good: passed on, the error ends the job at that attempt. Not together
///   with `retry(..)`.
/// - **`timeout = "10s"`**: the longest that one try may take, else `X_STEP_TIMEOUT`. A constant. Default: no limit.
/// - **`retry(max_attempts = 3, backoff = exponential("1s", max = "5m"), jitter = none)`**: tries of its own, by the rules
///   of `#[job(retry(..))]`, anew in each attempt of the job. Waits of a second and more hold no worker. Default: one try;
///   an error fails the attempt, unless the body goes on. The body runs in a loop, so it clones what it consumes.
/// - **`key = item.id`**: tells runs of this line apart: an expression that has a text, at most 200 bytes. Default: none,
///   and the line runs once in a run.
/// - **`aliases = ["old name"]`**: earlier names, whose records this step takes. Default: none.
///
/// # Errors
///
/// [`StepError`](crate::StepError), which passed on with `?` fails the job as the step's own error would.
#[macro_export]
macro_rules! step {
    ($($tokens:tt)*) => { $crate::__macros::step! { $crate; $($tokens)* } };
}

/// Runs a body in a transaction that also writes the step's record: it takes effect exactly once.
///
/// `step_tx!(ctx, "name", [options,] async |tx| { … })` is a future of `Result<T, StepError>`. `tx` is a
/// [`&mut StepTx`](crate::StepTx): `tx.pg()?` is the connection, and `.in_tx(tx)` enqueues and publishes with it. An error
/// rolls all of it back.
///
/// ```no_run
/// use jobs::prelude::*;
///
/// #[job(tenant = none)]
/// async fn book(ctx: &Ctx, cents: i64) -> Result<(), Failure> {
///     step_tx!(ctx, "book", async |tx| {
///         sqlx::query("INSERT INTO ledger (cents) VALUES ($1)").bind(cents).execute(tx.pg()?).await?;
///         Ok(())
///     })
///     .await?;
///     Ok(())
/// }
/// # fn main() {}
/// ```
///
/// # Options
///
/// - **`timeout`**, **`retry(..)`**, **`key`** and **`aliases`** as for [`step!`]. There is no `once`: it is already so.
///
/// # Errors
///
/// As [`step!`]; `X_DRIVER_UNSUPPORTED` where the driver has no such transactions.
#[macro_export]
macro_rules! step_tx {
    ($($tokens:tt)*) => { $crate::__macros::step_tx! { $crate; $($tokens)* } };
}

/// Says how a step is undone, beside the step. It makes the job a saga.
///
/// `compensate!(ctx, "step", [options,] [captures], async move |ctx| { … })` is a statement: it registers the closure and
/// runs nothing. If the job fails for good, or an operator has it rolled back, the closures of the steps that are recorded
/// run, in reverse order of the steps' starts, each recorded and tried as a step is.
///
/// ```
/// use jobs::prelude::*;
/// # #[derive(Clone, Serialize, Deserialize)] struct Hold { id: u64 }
/// # struct Stock; impl Stock {
/// #     async fn hold(&self) -> Result<Hold, std::io::Error> { Ok(Hold { id: 1 }) }
/// #     async fn release(&self, _: u64) -> Result<(), std::io::Error> { Ok(()) }
/// # }
///
/// #[job(tenant = none)]
/// async fn order(ctx: &Ctx) -> Result<(), Failure> {
///     let hold: Hold = step!(ctx, "hold stock", async { ctx.state::<Stock>()?.hold().await }).await?;
///     compensate!(ctx, "hold stock", [id = hold.id], async move |ctx| ctx.state::<Stock>()?.release(id).await);
///     Err(Failure::terminal("no courier"))
/// }
/// # #[cfg(feature = "testing")] #[tokio::main(flavor = "current_thread")] async fn main() {
/// # let registry = Registry::builder().job::<order>().build().expect("the declarations agree");
/// # let app = jobs::testing::Harness::with(registry).state(Stock);
/// # assert_eq!(app.run::<order>(()).await.outcome, jobs::Outcome::Dead);
/// # }
/// # #[cfg(not(feature = "testing"))] fn main() {}
/// ```
///
/// # The parts
///
/// - **`"step"`**: the step of this job, a `step!`, `step_tx!` or `spawn!`, that it undoes.
/// - **`[hold, id = order.id]`**: what the closure takes: clones of variables, and values. The closure outlives the body,
///   so these borrow nothing. May be left out.
/// - **`async move |ctx| { … }`**: `ctx` is a `&Ctx`. It ends with a `Result<(), E>`, by the rules of a [`step!`]'s body, and
///   no durable line stands in it. It may run more than once.
///
/// # Options
///
/// - **`always`**: it also undoes a step that began and left no result, whose effect may exist. It stands before its step,
///   and the closure takes what the step gave, if anything: `async move |ctx, done: Option<T>| { … }`.
/// - **`timeout = "10s"`**: the longest that one try may take. Default: no limit.
/// - **`retry(..)`**: its tries and waits. Default: those of the job, counted anew.
/// - **`key = item.id`**: the key of its step, where that has one.
#[macro_export]
macro_rules! compensate {
    ($($tokens:tt)*) => { $crate::__macros::compensate! { $crate; $($tokens)* } };
}

/// Sleeps for some time, which may be months: the run is parked and holds no worker, connection or task.
///
/// `sleep!(ctx, "name", [options,] "1h").await` gives `()`. The time is a text, read while compiling, or an expression that
/// is a `Duration`, at most 36500 days. It counts from the first call, by the store's clock, whatever comes between.
///
/// ```
/// use jobs::prelude::*;
/// use std::time::Duration;
///
/// #[job(tenant = none)]
/// async fn remind(ctx: &Ctx, days: u64) -> Result<(), Failure> {
///     sleep!(ctx, "cool down", "1h").await;
///     sleep!(ctx, "days", Duration::from_secs(days * 86_400)).await;
///     Ok(())
/// }
/// # fn main() {}
/// ```
///
/// # Options
///
/// - **`key`** and **`aliases`** as for [`step!`].
#[macro_export]
macro_rules! sleep {
    ($($tokens:tt)*) => { $crate::__macros::sleep! { $crate; $($tokens)* } };
}

/// Sleeps until a time, as [`sleep!`]. A time that has passed is over at once.
///
/// `sleep_until!(ctx, "name", [options,] time).await` gives `()`; `time` is a `chrono::DateTime<Utc>`.
///
/// ```
/// use jobs::{chrono::{DateTime, Utc}, prelude::*};
///
/// #[job(tenant = none)]
/// async fn open_sale(ctx: &Ctx, at: DateTime<Utc>) -> Result<(), Failure> {
///     sleep_until!(ctx, "doors", at).await;
///     Ok(())
/// }
/// # fn main() {}
/// ```
///
/// # Options
///
/// - **`key`** and **`aliases`** as for [`step!`].
#[macro_export]
macro_rules! sleep_until {
    ($($tokens:tt)*) => { $crate::__macros::sleep_until! { $crate; $($tokens)* } };
}

/// Waits for an event of a key; the run is parked meanwhile.
///
/// `wait_for!(ctx, "name", key = k, [options]).await?` gives the event, of the type that the context tells: an
/// [`#[event]`](macro@crate::event). With a `timeout` it gives an `Option`, `None` when the time is over. Two waits of one
/// run for one event and key take two events, the earliest first.
///
/// ```
/// use jobs::prelude::*;
///
/// #[derive(Serialize, Deserialize)]
/// #[event(name = "order.shipped")]
/// struct Shipped { parcel: String }
///
/// #[job(tenant = none)]
/// async fn follow(ctx: &Ctx, order: u64) -> Result<bool, Failure> {
///     let shipped: Option<Shipped> = wait_for!(ctx, "shipped", key = order, timeout = "3d").await?;
///     Ok(shipped.is_some())
/// }
/// # fn main() {}
/// ```
///
/// # Options
///
/// - **`key = order.id`**: the key under which the event is published: an expression that has a text of 1 to 200 bytes.
///   It also tells runs of this line apart. Required, unless `event_key` is given.
/// - **`event_key = order.id`**: the key under which the event is published, where `key` is to tell runs of this line apart
///   and no more: `key = day, event_key = order.id` waits for one order's event day after day. Default: `key`.
/// - **`timeout = "3d"`**: the longest wait, a text or an expression that is a `Duration`. Default: no limit. An event that
///   was published before it ended counts, however late the run looks.
/// - **`aliases`** as for [`step!`].
#[macro_export]
macro_rules! wait_for {
    ($($tokens:tt)*) => { $crate::__macros::wait_for! { $crate; $($tokens)* } };
}

/// Takes the first of several futures, and the same one in every replay.
///
/// `race!(ctx, "name", [options,] pattern = future => value, …).await?` gives the value of the branch whose future was
/// ready first; of two that are ready together, the upper one's. The others are dropped, and a replay does not poll them.
///
/// ```
/// use jobs::prelude::*;
/// # #[derive(Serialize, Deserialize)] #[event(name = "order.paid")] struct Paid { cents: u64 }
///
/// #[job(tenant = none)]
/// async fn collect(ctx: &Ctx, order: u64) -> Result<u64, Failure> {
///     let cents = race!(ctx, "paid or late",
///         paid = wait_for!(ctx, "paid", key = order) => {
///             let Paid { cents } = paid?;
///             cents
///         },
///         () = sleep!(ctx, "patience", "14d") => 0,
///     )
///     .await?;
///     Ok(cents)
/// }
/// # fn main() {}
/// ```
///
/// # The branches
///
/// - **`pattern`** fits whatever the future gives: a step gives a `Result`.
/// - **`future`**: a step, a wait, a sleep, a child's `join()`, or a future of your own that has no lasting effect.
/// - **`value`** may hold further steps. In it, `?` passes on the error of a step, a wait or a child; `return` leaves the
///   race, not the job.
///
/// # Options
///
/// - **`key`** and **`aliases`** as for [`step!`].
#[macro_export]
macro_rules! race {
    ($($tokens:tt)*) => { $crate::__macros::race! { $crate; $($tokens)* } };
}

/// Enqueues another job as a part of this run, once. Cancelling the run cancels it, and undoing the run undoes it first.
///
/// `spawn!(ctx, "name", [options,] job, input).await?` gives a [`Child`](crate::Child); `child.join().await?` waits for its
/// end, the run parked meanwhile, and gives its output. A child that ended in another way is `X_CHILD_FAILED`.
///
/// ```
/// use jobs::prelude::*;
///
/// #[job(tenant = none)]
/// async fn resize(_ctx: &Ctx, width: u32) -> Result<u32, Failure> {
///     Ok(width / 2)
/// }
///
/// #[job(tenant = none)]
/// async fn album(ctx: &Ctx, widths: Vec<u32>) -> Result<u32, Failure> {
///     let mut children = Vec::new();
///     for (place, width) in widths.into_iter().enumerate() {
///         children.push(spawn!(ctx, "resize", key = place, resize, width).await?);
///     }
///     let mut sum = 0;
///     for child in children {
///         sum += child.join().await?;
///     }
///     Ok(sum)
/// }
/// # #[cfg(feature = "testing")] #[tokio::main(flavor = "current_thread")] async fn main() {
/// # let registry = Registry::builder().job::<album>().job::<resize>().build().expect("the declarations agree");
/// # let app = jobs::testing::Harness::with(registry);
/// # let run = app.run::<album>(vec![4, 6]).await;
/// # app.drain().await;
/// # assert_eq!(app.output::<u32>(run.job).await, 5);
/// # }
/// # #[cfg(not(feature = "testing"))] fn main() {}
/// ```
///
/// # Options
///
/// - **`key`** and **`aliases`** as for [`step!`].
#[macro_export]
macro_rules! spawn {
    ($($tokens:tt)*) => { $crate::__macros::spawn! { $crate; $($tokens)* } };
}

/// Whether the run takes a change of its code: `true` where it comes to this line for the first time, `false` where it went
/// past it before the change was deployed. The answer is recorded.
///
/// `patch!(ctx, "id of the change").await?` gives a `bool`. The id is a name as a step's, used once in a run.
///
/// ```
/// use jobs::prelude::*;
///
/// #[job(tenant = none)]
/// async fn greet_a_user(ctx: &Ctx) -> Result<(), Failure> {
///     if patch!(ctx, "greet by letter").await? {
///         step!(ctx, "letter", async { Ok(()) }).await?;
///     } else {
///         step!(ctx, "mail", async { Ok(()) }).await?;
///     }
///     Ok(())
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! patch {
    ($($tokens:tt)*) => { $crate::__macros::patch! { $crate; $($tokens)* } };
}

/// Marks the point of no return: a failure after it is retried, and never undoes the run.
///
/// `pivot!(ctx).await?`. A second one changes nothing.
///
/// ```
/// use jobs::prelude::*;
///
/// #[job(tenant = none)]
/// async fn ship(ctx: &Ctx) -> Result<(), Failure> {
///     step!(ctx, "pack", async { Ok(()) }).await?;
///     compensate!(ctx, "pack", async move |_| Ok(()));
///     pivot!(ctx).await?; // the truck has left
///     step!(ctx, "notify", async { Ok(()) }).await?;
///     Ok(())
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! pivot {
    ($($tokens:tt)*) => { $crate::__macros::pivot! { $crate; $($tokens)* } };
}
