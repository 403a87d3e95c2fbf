//! The worker program: the test's own, in another role, set up by its environment.

use crate::crash::{Crashing, Point};
use jobs::{Worker, driver::Lease, prelude::*};
use sqlx::PgPool;
use std::{
    env,
    path::PathBuf,
    process,
    str::FromStr,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// A job's number, and what its body does between its first and its last entry in the log.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) n: i32,
    pub(crate) act: Act,
}

/// What a body does. Times are in milliseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Act {
    /// Sleeps.
    Sleep(u64),
    /// Waits for the gate of its process, and gives up when cancelled.
    Hold,
    /// Waits for the gate, whatever cancels it.
    Ignore,
    /// Waits for the gate, then fails; after a rescue it ends well.
    HoldThenFail,
    /// Reports progress until the gate opens; after a rescue it only waits.
    Report,
    /// Blocks its thread.
    Block(u64),
    /// Blocks its thread until the gate opens.
    Stall,
    /// Keeps its thread busy.
    Spin(u64),
    /// Fails on its first attempt.
    FailOnce,
    /// Fails for good.
    Refuse,
    /// Sleeps, then takes its process down.
    Abort(u64),
    /// Takes its process down before anything else.
    AbortAtOnce,
}

/// The job of most tests: no crash and no outage uses it up.
#[job(tenant = none, queue = "work", crash_budget = 10000, retry(max_attempts = 1000, backoff = fixed("200ms")))]
pub(crate) async fn work(ctx: &Ctx, task: Task) -> Result<(), Failure> {
    perform(ctx, task).await
}

/// A job with the crash budget that jobs have by default.
#[job(tenant = none, queue = "fragile", on_dead = mourn)]
pub(crate) async fn fragile(ctx: &Ctx, task: Task) -> Result<(), Failure> {
    perform(ctx, task).await
}

/// Follows the death of a fragile job.
#[job(tenant = none, queue = "fragile")]
pub(crate) async fn mourn(ctx: &Ctx, dead: Settled) -> Result<(), Failure> {
    let task: Task = serde_json::from_str(dead.input.as_str())?;
    log(ctx, task.n, "mourn").await
}

/// One of two kinds that share a queue.
#[job(tenant = none, queue = "shared")]
pub(crate) async fn kind_a(ctx: &Ctx, task: Task) -> Result<(), Failure> {
    perform(ctx, task).await
}

/// The other of two kinds that share a queue.
#[job(tenant = none, queue = "shared")]
pub(crate) async fn kind_b(ctx: &Ctx, task: Task) -> Result<(), Failure> {
    perform(ctx, task).await
}

async fn perform(ctx: &Ctx, Task { n, act }: Task) -> Result<(), Failure> {
    if let Act::AbortAtOnce = act {
        process::abort();
    }
    log(ctx, n, "start").await?;
    match act {
        Act::Sleep(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
        Act::Hold => {
            tokio::select! {
                () = gate() => {}
                () = ctx.cancelled() => return Err(Failure::retry("gave up")),
            }
        }
        Act::Ignore => gate().await,
        Act::HoldThenFail => {
            gate().await;
            if !ctx.is_rescued() {
                return Err(Failure::retry("as its act says"));
            }
        }
        Act::Report => {
            for done in 1.. {
                if gate_is_open() {
                    break;
                }
                if !ctx.is_rescued() {
                    ctx.progress(done, None, "still here");
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        Act::Block(millis) => thread::sleep(Duration::from_millis(millis)),
        Act::Stall => {
            while !gate_is_open() {
                thread::sleep(Duration::from_millis(10));
            }
        }
        Act::Spin(millis) => {
            let end = Instant::now() + Duration::from_millis(millis);
            while Instant::now() < end {
                std::hint::spin_loop();
            }
        }
        Act::FailOnce if ctx.attempt() == 1 => return Err(Failure::retry("as its act says")),
        Act::FailOnce => {}
        Act::Refuse => return Err(Failure::terminal("as its act says").code("X_REFUSED")),
        Act::Abort(millis) => {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            process::abort();
        }
        Act::AbortAtOnce => unreachable!("the process is down"),
    }
    log(ctx, n, "end").await
}

/// Writes into the test's log, past the worker's own connections.
pub(crate) async fn log(ctx: &Ctx, n: i32, event: &str) -> Result<(), Failure> {
    sqlx::query("INSERT INTO log (n, job, attempt, crashes, pid, event) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(n)
        .bind(ctx.id().0)
        .bind(i32::try_from(ctx.attempt())?)
        .bind(i32::from(ctx.crashes()))
        .bind(i32::try_from(process::id())?)
        .bind(event)
        .execute(ctx.state::<PgPool>()?)
        .await?;
    Ok(())
}

fn gate_is_open() -> bool {
    env::var_os("GATE").map(PathBuf::from).is_some_and(|gate| gate.exists())
}

async fn gate() {
    while !gate_is_open() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What the process does: serves until it is told to end. It prints `ready` and its worker's id once it runs.
pub(crate) fn main() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(number("THREADS", 2)).enable_all().build().expect("a runtime starts");
    runtime.block_on(serve());
    // A body that blocks its thread would keep the process from its end.
    runtime.shutdown_background();
}

async fn serve() {
    if let Ok(filter) = env::var("JOBS_TEST_LOG") {
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
    let log = sqlx::postgres::PgPoolOptions::new()
        .max_connections(number("LOG_CONNECTIONS", 4))
        .connect_lazy(&env::var("LOG_URL").expect("set by the test"))
        .expect("the test's URL is one");
    // A process that comes up while the database is down tries again, as one under a supervisor does.
    let worker = loop {
        match start(&log).await {
            Ok(worker) => break worker,
            Err(error) => eprintln!("the worker does not start yet: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    println!("ready {}", worker.id().0);
    worker.run_until_signal().await;
}

async fn start(log: &PgPool) -> Result<Worker, jobs::Error> {
    let mut jobs = Jobs::connect(&env::var("JOBS_URL").expect("set by the test")).await?;
    if let Some(at) = env::var("CRASH_AT").ok().as_deref().and_then(Point::named) {
        jobs = Jobs::builder().driver(Arc::new(Crashing { inner: jobs.driver().clone(), at }))?;
    }
    let lease = Duration::from_millis(number("LEASE", 5_000));
    let mut worker = jobs
        .worker()
        .state(log.clone())
        .concurrency(number("CONCURRENCY", 10))
        .prefetch(number("PREFETCH", 0))
        .lease(Lease { duration: lease, beat: lease / number("BEATS", 4) })
        .name(env::var("NAME").unwrap_or_else(|_| "pod-0".to_owned()))
        .drain_grace(&env::var("DRAIN_GRACE").unwrap_or_else(|_| "30s".to_owned()))
        .cancel_grace(&env::var("CANCEL_GRACE").unwrap_or_else(|_| "5s".to_owned()));
    worker = match env::var("ONLY").as_deref() {
        Ok("kind_a") => worker.only::<kind_a>(),
        Ok("kind_b") => worker.only::<kind_b>(),
        _ => worker,
    };
    worker.start().await
}

fn number<T: FromStr>(name: &str, default: T) -> T {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
