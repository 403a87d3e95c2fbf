//! Claims due jobs, runs them, and keeps its lease, from its start to its drain. Upstream: `driver`. Downstream: `execute`.
//!
//! A worker lives on through lost leases: each time it winds up, and begins anew as another incarnation.

mod builder;
mod drain;
mod lease;
mod life;
mod plan;
mod poller;
mod rate;
mod runs;
mod signal;
mod slots;
mod supervise;
mod wake;

pub use builder::WorkerBuilder;

use crate::{
    backoff::{Backoff, Growth},
    client::Jobs,
    ctx::States,
    driver::{NewWorker, WorkerId},
    error::Error,
    logged,
    report::Reporter,
    task::task,
    upkeep,
};
use futures_util::future::BoxFuture;
use life::Life;
use plan::Plan;
#[cfg(feature = "testing")]
pub(crate) use plan::kinds;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use supervise::supervise;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The waits between two tries to begin a new lease. The longest keeps the recovery after an outage within 10 s.
const BEGIN: Backoff = Backoff::new(Growth::Exponential, Duration::from_millis(100), Duration::from_secs(5));

/// A running worker. Dropping the handle does not stop it; it ends with its runtime at the latest.
pub struct Worker(Arc<Shared>);

/// What all incarnations of a worker share.
struct Shared {
    jobs: Jobs,
    plan: Plan,
    states: Arc<States>,
    reporter: Reporter,
    current: AtomicI64,
    abandoned: Arc<AtomicU64>,
    draining: CancellationToken,
    /// Cancelled once a drain's grace shall end at once.
    hurried: CancellationToken,
    aborted: CancellationToken,
    ended: CancellationToken,
}

impl Shared {
    fn new(jobs: Jobs, plan: Plan, states: Arc<States>, reporter: Reporter) -> Self {
        Self {
            jobs,
            plan,
            states,
            reporter,
            current: AtomicI64::new(0),
            abandoned: Arc::default(),
            draining: CancellationToken::new(),
            hurried: CancellationToken::new(),
            aborted: CancellationToken::new(),
            ended: CancellationToken::new(),
        }
    }

    /// Begins a lease. Answers with it a moment that lies before its beginning.
    async fn begin(&self) -> Result<(WorkerId, Instant), Error> {
        let began = Instant::now();
        let worker = NewWorker {
            name: self.plan.name.clone(),
            lease: self.plan.lease,
            queues: self.plan.queues.clone(),
            kinds: self.plan.kinds.to_vec(),
        };
        let id = self.jobs.driver().start_worker(worker).await?;
        self.current.store(id.0, Ordering::Relaxed);
        Ok((id, began))
    }

    /// Begins a lease anew, however long the store is away; `None` if the worker is drained meanwhile.
    async fn begin_anew(&self) -> Option<(WorkerId, Instant)> {
        for failures in 1.. {
            match self.draining.run_until_cancelled(self.begin()).await? {
                Ok(begun) => return Some(begun),
                Err(error) => {
                    tracing::warn!(event = logged::WORKER_LOOP_FAILED, part = "beginning", failures, %error, "tried again");
                }
            }
            let wait = BEGIN.jittered(failures, fastrand::f64());
            self.draining.run_until_cancelled(tokio::time::sleep(wait)).await?;
        }
        None
    }
}

impl Worker {
    async fn start(shared: Arc<Shared>) -> Result<Self, Error> {
        let mut begun = shared.begin().await?;
        tell_what_was_found(&shared, begun.0);
        let worker = Self(shared.clone());
        let lives = task(async move {
            let aborted = shared.aborted.clone();
            let lives = async {
                while live(&shared, begun).await == End::Lost {
                    match shared.begin_anew().await {
                        Some(next) => begun = next,
                        None => break,
                    }
                }
            };
            aborted.run_until_cancelled(lives).await;
            tracing::info!(event = logged::WORKER_STOPPED, "the worker has ended");
            shared.ended.cancel();
        });
        tokio::spawn(lives);
        Ok(worker)
    }

    /// The id of the current incarnation. It changes when a lease is lost.
    #[must_use]
    pub fn id(&self) -> WorkerId {
        WorkerId(self.0.current.load(Ordering::Relaxed))
    }

    /// How many bodies ignored their cancellation past the grace and were left behind, each holding a thread.
    #[must_use]
    pub fn abandoned(&self) -> u64 {
        self.0.abandoned.load(Ordering::Relaxed)
    }

    /// Stops claiming at once, hands back what has not begun, lets runs finish for the grace, hands the rest back
    /// uncounted, and returns when all of it is written.
    pub async fn drain(&self) {
        self.0.draining.cancel();
        self.wait().await;
    }

    /// Waits until the worker has ended.
    pub async fn wait(&self) {
        self.0.ended.cancelled().await;
    }

    /// Stops at once as a crash would: runs are dropped, nothing is handed back, the lease lapses by itself.
    pub fn abort(&self) {
        self.0.aborted.cancel();
    }

    /// Runs until SIGTERM or SIGINT (Ctrl-C where there are no signals), then drains. A second signal ends the grace.
    ///
    /// A body that blocks its thread for good keeps its runtime from ending, and so a `#[tokio::main]` too. Where there
    /// may be such bodies, leave by `std::process::exit` or `Runtime::shutdown_background`.
    pub async fn run_until_signal(self) {
        let mut signals = signal::Signals::new();
        tokio::select! {
            () = signals.next() => self.0.draining.cancel(),
            () = self.wait() => return,
        }
        tokio::select! {
            () = signals.next() => self.0.hurried.cancel(),
            () = self.wait() => return,
        }
        self.wait().await;
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Worker {} `{}`", self.id().0, self.0.plan.name)
    }
}

/// How an incarnation ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Drained,
    Lost,
}

/// Lives one incarnation to its end.
async fn live(shared: &Arc<Shared>, (id, began): (WorkerId, Instant)) -> End {
    let (life, pipeline) = Life::new(shared, id);
    let pipeline = tokio::spawn(task(pipeline.run()));
    let held = match lease::hold(&life, began) {
        Ok(held) => held,
        Err(error) => {
            life.lose(&error.to_string());
            life.committed.cancel();
            tokio::time::sleep(Duration::from_secs(1)).await;
            return End::Lost;
        }
    };
    let poller = background(&life, &life.lost, "poller", |life| Box::pin(poller::poll(life)));
    background(&life, &life.ending, "dispatcher", |life| {
        Box::pin(async {
            life.dispatch().await;
            Ok(())
        })
    });
    background(&life, &life.ending, "listener", |life| Box::pin(wake::listen(life)));
    background(&life, &life.closing, "lookout", |life| {
        Box::pin(async move {
            let queues = life.shared.plan.queue_names();
            upkeep::lookout(life.driver(), &queues, &life.signals, |queue| life.slots.found(queue)).await
        })
    });
    background(&life, &life.closing, "promoter", |life| {
        Box::pin(async move { upkeep::promote(life.driver(), &life.signals, || life.slots.wake_all()).await })
    });
    background(&life, &life.closing, "rescuer", |life| {
        Box::pin(async move { upkeep::rescue(life.driver(), &life.signals, || life.slots.wake_all()).await })
    });
    background(&life, &life.closing, "waker", |life| {
        Box::pin(async move { upkeep::wake(life.driver(), &life.signals, || life.slots.wake_all()).await })
    });
    background(&life, &life.closing, "event purger", |life| {
        Box::pin(async move {
            upkeep::purge_events(&life.shared.jobs, &life.shared.plan.queue_names(), &life.signals).await
        })
    });
    background(&life, &life.closing, "purger", |life| Box::pin(async move { upkeep::purge(life.driver()).await }));
    tokio::select! {
        biased;
        () = life.lost.cancelled() => {
            drain::wind_up(&life, held).await;
            End::Lost
        }
        () = shared.draining.cancelled() => {
            drain::drain(&life, poller, pipeline, held).await;
            End::Drained
        }
    }
}

/// Runs a loop of the incarnation, supervised, until a token ends it.
fn background(
    life: &Arc<Life>,
    until: &CancellationToken,
    name: &'static str,
    run: fn(Arc<Life>) -> BoxFuture<'static, Result<(), Error>>,
) -> JoinHandle<()> {
    let (life, until) = (life.clone(), until.clone());
    let aborted = life.shared.aborted.clone();
    tokio::spawn(task(async move {
        let reporter = life.shared.reporter.clone();
        let supervised = supervise(name, reporter, move || run(life.clone()));
        tokio::select! {
            () = supervised => {}
            () = until.cancelled() => {}
            () = aborted.cancelled() => {}
        }
    }))
}

/// Logs the jobs that the registry found, by queue.
fn tell_what_was_found(shared: &Shared, id: WorkerId) {
    let mut by_queue: BTreeMap<&str, usize> = BTreeMap::new();
    for (queue, _) in &shared.plan.queues {
        by_queue.insert(queue, 0);
    }
    for job in shared.jobs.registry().iter().filter(|job| shared.plan.knows(job.spec.name)) {
        *by_queue.entry(job.spec.queue).or_default() += 1;
    }
    let jobs: usize = by_queue.values().sum();
    let queues: Vec<String> = by_queue.iter().map(|(queue, jobs)| format!("{queue}: {jobs}")).collect();
    let (worker, name, driver, queues) = (id.0, &shared.plan.name, shared.jobs.driver().name(), queues.join(", "));
    tracing::info!(event = logged::WORKER_STARTED, worker, name, driver, jobs, queues, "the worker runs");
    let unnamed: Vec<&str> = by_queue.iter().filter(|(_, jobs)| **jobs == 0).map(|(queue, _)| *queue).collect();
    if !unnamed.is_empty() {
        let queues = unnamed.join(", ");
        tracing::warn!(event = logged::WORKER_QUEUE_UNNAMED, queues, "no registered job names these queues");
    }
}
