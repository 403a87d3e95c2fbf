//! The macros of the `jobs` crate. Depend on `jobs`, which re-exports them.
//!
//! The passes of `#[job]`: `args` → `item` → `signature` → `outline` → `validate` → `expand`, or `fallback`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod args;
mod errors;
mod event;
mod expand;
mod fallback;
mod item;
mod job;
mod job_error;
mod outline;
mod signature;
mod steps;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro::TokenStream;

/// Makes an `async fn` a durable job.
///
/// The fn stays as it is written and can be called as before. Beside it stands an empty type of the same name, the
/// job's *handle*: it implements `Job`, and has `enqueue` and `enqueue_many`. The job registers itself when the
/// program is linked; a crate of jobs that the program never names is not linked, which `use that_crate as _;`
/// cures. `Registry::builder().job::<send_email>()` registers by hand.
///
/// # The fn
///
/// `async fn name(ctx: &Ctx, input: P) -> Result<T, E>`, free and without generics.
/// - `P` is the input: owned data with serde's two derives. It may be left out: then the input is `()`. With
///   schemars' `JsonSchema` the job has a schema.
/// - `T` is the output, kept in the history: serde's `Serialize`, or `()`.
/// - `E` is `Failure`, an error that derives `JobError`, any other `std::error::Error`, a box of one such as
///   `anyhow::Error`, or a text.
///
/// # Options
///
/// Durations are texts such as `"90s"` or `"1h30m"` (units `d`, `h`, `m`, `s`, `ms`). Where a value is not said to be
/// a literal, a constant will do. In expressions over the input, the input has the name that the signature gives it;
/// it is called `input` where the signature takes it apart or begins its name with `_`.
///
/// - **`tenant = input.org`** or **`tenant = none`**: whose the job is. Required. An expression over the input that
///   gives a text, a UUID, an integer, an `Option` of one, or another type that implements `TenantId`.
/// - **`name = "mail.send"`**: the durable name, a literal. Default: the fn's name. 1 to 100 of the characters `a-z`,
///   `0-9`, `_`, `.`, `-`. Stored rows are found by it: set it where the fn may be renamed.
/// - **`aliases = ["old.name"]`**: earlier names, whose stored rows this job runs. Default: none.
/// - **`version = 2`**: the version of the input's type. Default 1, at most 32767. A later one needs `upgrade`.
/// - **`upgrade = path`**: maps stored inputs of earlier versions:
///   `fn(from: u16, input: serde_json::Value) -> Result<serde_json::Value, E>`. Default: none.
/// - **`queue = "mail"`**: the queue, named by the rules of `name`. Default `"default"`.
/// - **`priority = -10`**: an `i16`; lower runs first. Default 0.
/// - **`unique`** or **`unique(..)`**: jobs of one key exclude each other, within a tenant. Default: not unique. The
///   key is the whole input, or
///   - **`by = [field, address.city]`**: fields of the input, or
///   - **`key = input.order`**: an expression over the input with a text of 1 to 200 bytes; and it is taken
///   - **`while = live`** (the default, until the job has ended), **`queued`** (until it starts) or **`forever`**, or
///   - **`for = "1h"`**: this long from the enqueue. An enqueue that finds the key taken answers
///   - **`on_conflict = existing`** (the default) with the other job, or **`reject`** with an error.
/// - **`retry(..)`**: attempts and waits.
///   - **`max_attempts = 8`**: the first run and all retries. Default 5, at least 1.
///   - **`backoff = exponential("1s", max = "5m")`** (the default is from 1 s, at most 1 h), **`linear("10s", max =
///     "5m")`** or **`fixed("5s")`**: the waits. `max` defaults to 1 h and is not shorter than the first wait.
///   - **`jitter = none`**: waits exactly. Default: between half of the wait and all of it, at random.
/// - **`timeout = "2m"`**: the longest that one attempt may run. Default: no limit.
/// - **`expires_after = "1h"`**: the longest that the job may wait for its first start. Default: no limit.
/// - **`keep = "30d"`** or **`keep = none`**: how long a finished job stays in the history. Default 7 days.
/// - **`dead_letter = false`**: a job that failed for good is dropped. Default `true`: it is kept for an operator.
/// - **`crash_budget = 5`**: how many times the job may take its process down. Default 3, at least 1.
/// - **`needs(Bank, Warehouse)`**: the types of state that a worker must have to run the job. Default: none.
/// - **`then = other_job`**: the job that follows a completion. Its input is `Settled`, or is built `From` it.
/// - **`on_dead = other_job`**: the job that follows a death. Its input as for `then`.
/// - **`on_settled = path`**: a hook that is called after the job has settled, at best effort:
///   `async fn(ctx: &Ctx, settled: Settled) -> Result<(), E>`.
/// - **`schema`**: demands `JsonSchema` of input and output. Default: a type without it is listed without a schema.
/// - **`handle = SendEmail`**: the name of the handle, where another type or module has the fn's name.
/// - **`crate = ::path::to::jobs`**: where the `jobs` crate is, if it was renamed or is re-exported.
/// - **`allow(nondeterminism)`**: silences the warnings below.
///
/// # Checks
///
/// Every mistake is a compile error at the token that makes it, all at once. The body is not parsed; its tokens show the
/// names of its steps, waits and compensations. Errors are two lines of one name without a `key`; a compensation of a step
/// that the fn does not have, without the `key` that its step has, or `always` and after its step; and a durable line in the
/// body of a step. In a body with steps, what gives another answer when the job is replayed (`Utc::now()`, `rand`,
/// `tokio::select!`, …) is a warning where it stands outside a step.
#[proc_macro_attribute]
pub fn job(args: TokenStream, item: TokenStream) -> TokenStream {
    job::job(args.into(), item.into()).into()
}

/// Says of an error type what its values ask for: another attempt or none, and what a remote caller may learn.
///
/// The type implements `std::error::Error` and is not generic. It is found wherever it stands in the chain of causes
/// of the error that fails an attempt; the first error of the chain that says anything counts. A variant without
/// `#[job_error]` leaves it to its source, and without one that says anything the job is retried with its backoff.
///
/// # Options
///
/// On each variant of an enum, or on a struct:
/// - **`retry = terminal`**: no attempt can mend it. **`retry = backoff`**: the job's own waits; the default.
///   **`retry = after("30s")`**: this wait. **`retry = after(wait)`**: an expression over the fields that is a
///   `Duration`, or an `Option` of one, where `None` is `backoff`. Fields are references; those of a tuple are called
///   `_0`, `_1`, ….
/// - **`code = "X_CARD_DECLINED"`**: a stable code, `X_<AREA>_<WHAT>` in `A-Z`, `0-9` and `_`, none of this library's
///   own. A remote caller learns it. Default: none, and a remote caller learns nothing of the error.
/// - **`title = "the bank declined the card"`**: one line on what the code means. Default: the doc comment's first line;
///   a code needs one of the two.
/// - **`caller_fix = "use another card"`**: what a remote caller can do. Default: nothing. Belongs to a `code`.
/// - **`crate = ::path::to::jobs`**, on the type: where the `jobs` crate is, if it was renamed or is re-exported.
#[proc_macro_derive(JobError, attributes(job_error))]
pub fn job_error(input: TokenStream) -> TokenStream {
    job_error::job_error(input.into()).into()
}

/// Makes a type an event, which is published under a key and which runs wait for.
///
/// The type stays as it is written; the attribute implements `Event` for it. It is owned data with serde's two derives,
/// a struct or an enum, and not generic.
///
/// # Options
///
/// - **`name = "order.shipped"`**: the durable name, a literal. Required. 1 to 100 of the characters `a-z`, `0-9`, `_`,
///   `.`, `-`. Waits find stored events by it.
/// - **`tenant = self.org`**: whose the event is, so that only runs of that tenant see it: an expression over `self` that
///   gives a text, a UUID, an integer, an `Option` of one, or another type that implements `TenantId`.
///   **`tenant = none`**, the default: it is of no tenant, and every run sees it.
/// - **`ttl = "7d"`**: how long after its publication an event can be found. Default: 7 days.
/// - **`crate = ::path::to::jobs`**: where the `jobs` crate is, if it was renamed or is re-exported.
#[proc_macro_attribute]
pub fn event(args: TokenStream, item: TokenStream) -> TokenStream {
    event::event(args.into(), item.into()).into()
}

macro_rules! of_a_body {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("What `jobs::", stringify!($name), "!` passes its crate and its tokens to.")]
            #[doc(hidden)]
            #[proc_macro]
            pub fn $name(tokens: TokenStream) -> TokenStream {
                steps::$name(tokens.into()).into()
            }
        )*
    };
}

of_a_body! {
    step
    step_tx
    compensate
    sleep
    sleep_until
    wait_for
    race
    spawn
    patch
    pivot
}
