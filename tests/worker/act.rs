//! One job that does what its input says, and how to wait for what becomes of it.

use jobs::{
    CancelReason, Ctx, Failure, Job, JobId, Jobs, JsonText, Registry, State,
    backoff::Backoff,
    driver::{JobRecord, Memory, NewJob, Overrides, Start},
    serde::{Deserialize, Serialize},
    spec::{JobSpec, Retry},
};
use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// What the job does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(crate = "jobs::serde")]
pub(crate) enum Act {
    Ok,
    Fail,
    Terminal,
    Panic,
    PanicWith42,
    PanicInDrop,
    /// Hangs with a value that panics when it is dropped.
    HangWithBomb,
    /// Snoozes the first time.
    Snooze(u64),
    /// Sleeps in its first run, completes in every other.
    Once(u64),
    Discard,
    Cancel,
    /// Completes if a worker died with it before.
    Rescued,
    /// Sleeps without looking at its cancellation.
    Sleep(u64),
    /// Waits for its cancellation, then returns `Ok` or `Err`.
    UntilCancelled(bool),
    /// Blocks its thread.
    Block(u64),
    /// Reports progress so many times, then sleeps.
    Progress(u64, u64),
}

/// The job.
pub(crate) struct Acts;

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Job for Acts {
    type Input = Act;
    type Output = ();
    const SPEC: JobSpec = JobSpec::new("acts").queue("acts").retry(Retry::new(3, Backoff::fixed("10ms"))).timeout("5s");

    fn tenant(_: &Act) -> Option<String> {
        None
    }

    fn run(ctx: &Ctx, act: Act) -> Boxed<'_, Result<(), Failure>> {
        Box::pin(perform(ctx, act))
    }
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb in a drop");
    }
}

async fn perform(ctx: &Ctx, act: Act) -> Result<(), Failure> {
    let _running = ctx.state::<Log>().ok().map(|log| log.started(ctx));
    match act {
        Act::Ok => Ok(()),
        Act::Fail => Err(Failure::retry("as told")),
        Act::Terminal => Err(Failure::terminal("no use")),
        Act::Panic => panic!("as told, {}", 1),
        Act::PanicWith42 => std::panic::panic_any(42),
        Act::PanicInDrop => {
            let _bomb = Bomb;
            tokio::task::yield_now().await;
            Ok(())
        }
        Act::HangWithBomb => {
            let _bomb = Bomb;
            std::future::pending().await
        }
        Act::Once(millis) if log_count(ctx) == 1 => {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Ok(())
        }
        Act::Once(_) => Ok(()),
        Act::Snooze(millis) if log_count(ctx) == 1 => Err(Failure::snooze(Duration::from_millis(millis))),
        Act::Snooze(_) => Ok(()),
        Act::Rescued if ctx.is_rescued() && ctx.crashes() == 1 => Ok(()),
        Act::Rescued => Err(Failure::terminal("not rescued")),
        Act::Discard => Err(Failure::discard("not wanted")),
        Act::Cancel => Err(Failure::cancel("changed my mind")),
        Act::Sleep(millis) => {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Ok(())
        }
        Act::UntilCancelled(ok) => {
            ctx.cancelled().await;
            if let (Ok(log), Some(reason)) = (ctx.state::<Log>(), ctx.cancel_reason()) {
                log.0.lock().unwrap().reasons.push(reason);
            }
            if ok { Ok(()) } else { Err(Failure::retry("stopped")) }
        }
        Act::Block(millis) => {
            std::thread::sleep(Duration::from_millis(millis));
            Ok(())
        }
        Act::Progress(times, millis) => {
            for done in 1..=times {
                ctx.progress(done, times, format!("step {done}"));
            }
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Ok(())
        }
    }
}

fn log_count(ctx: &Ctx) -> usize {
    ctx.state::<Log>().map_or(0, |log| log.starts_of(ctx.id()))
}

/// What the bodies did.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Logged>>);

#[derive(Default)]
struct Logged {
    starts: Vec<JobId>,
    reasons: Vec<CancelReason>,
    running: usize,
    most: usize,
}

/// Counts a body as running while it lives.
struct Running(Log);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().running -= 1;
    }
}

impl Log {
    fn started(&self, ctx: &Ctx) -> Running {
        let mut logged = self.0.lock().unwrap();
        logged.starts.push(ctx.id());
        logged.running += 1;
        logged.most = logged.most.max(logged.running);
        Running(self.clone())
    }

    pub(crate) fn starts(&self) -> usize {
        self.0.lock().unwrap().starts.len()
    }

    pub(crate) fn starts_of(&self, job: JobId) -> usize {
        self.0.lock().unwrap().starts.iter().filter(|id| **id == job).count()
    }

    /// How many bodies ran at once at most.
    pub(crate) fn most_at_once(&self) -> usize {
        self.0.lock().unwrap().most
    }

    /// Why bodies that waited for their cancellation were cancelled.
    pub(crate) fn reasons(&self) -> Vec<CancelReason> {
        self.0.lock().unwrap().reasons.clone()
    }
}

/// A store in memory that knows the job.
pub(crate) fn jobs() -> Jobs {
    jobs_on(Arc::new(Memory::new()))
}

/// A store that knows the job.
pub(crate) fn jobs_on(driver: Arc<dyn jobs::driver::Driver>) -> Jobs {
    Jobs::new(driver, Registry::builder().job::<Acts>().build().unwrap())
}

/// Enqueues the job.
pub(crate) async fn enqueue(jobs: &Jobs, act: Act) -> JobId {
    jobs.enqueue::<Acts>(act).await.unwrap().id()
}

/// Enqueues the job with a payload that nothing checks, as another program could.
pub(crate) async fn enqueue_raw(jobs: &Jobs, payload: &str) -> JobId {
    enqueue_as(jobs, payload, None).await
}

/// Enqueues the job with a payload that nothing checks, for a tenant.
pub(crate) async fn enqueue_as(jobs: &Jobs, payload: &str, tenant: Option<&str>) -> JobId {
    let job = NewJob {
        id: JobId::new(),
        kind: "acts".to_owned(),
        version: 1,
        queue: "acts".to_owned(),
        tenant: tenant.map(str::to_owned),
        priority: 0,
        start: Start::Now,
        payload: JsonText::trusted(payload),
        unique: None,
        overrides: Overrides::default(),
        expires_after: None,
        metadata: None,
        trace: None,
        enqueued_by: None,
        parent: None,
    };
    jobs.driver().enqueue(&[job], None).await.unwrap()[0].id()
}

/// Waits until a job has ended.
pub(crate) async fn ended(jobs: &Jobs, job: JobId) -> JobRecord {
    until(jobs, job, "ended", |record| record.state.is_final()).await
}

/// Waits until a job is in a state.
pub(crate) async fn in_state(jobs: &Jobs, job: JobId, state: State) -> JobRecord {
    until(jobs, job, state.as_str(), |record| record.state == state).await
}

/// Waits until a job's record is as wanted.
pub(crate) async fn until(jobs: &Jobs, job: JobId, what: &str, wanted: impl Fn(&JobRecord) -> bool) -> JobRecord {
    let began = Instant::now();
    loop {
        let record = jobs.find(job).await.unwrap();
        if wanted(&record) {
            return record;
        }
        assert!(began.elapsed() < Duration::from_secs(15), "job {job} is not {what}: {record:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
