//! Measures durable steps and their replay.

use crate::{
    Outcome, RUNS, database,
    enqueue::rate,
    limit,
    report::{Report, Subject},
    subject,
};
use jobs::{StepError, prelude::*};
use std::{
    sync::Arc,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::{Duration, Instant},
};
use tokio::sync::mpsc;

/// Ten steps that do nothing.
#[job(queue = "steps", tenant = none)]
async fn ten_steps(ctx: &Ctx, _input: ()) -> Result<u32, StepError> {
    let mut sum = 0;
    for number in 0..10_u32 {
        sum += step!(ctx, "trivial", key = number, async { Ok(number) }).await?;
    }
    Ok(sum)
}

/// 1,000 jobs of ten steps, beside single-row commits of as many connections as the driver writes with.
pub(crate) async fn steps(report: &mut Report) -> Outcome {
    const JOBS: usize = 1_000;
    const STEPS: usize = 10;
    for _ in 0..RUNS {
        let bare = database::with_new(async |url| limit::insert_each(&limit::tables(url).await?, 2_000).await).await?;
        report.add("steps", Subject::Limit, "INSERT, one connection", "steps/s", rate(2_000, bare));
        let ours = database::with_new(async |url| {
            let jobs = subject::jobs(url).await?;
            jobs.enqueue_many::<ten_steps>((0..JOBS).map(|_| ())).await?;
            let start = Instant::now();
            let worker = jobs.worker().queue("steps", 100).queues(["steps"]).start().await?;
            while jobs.counts().await?.iter().any(|count| count.jobs > 0) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let took = start.elapsed();
            worker.drain().await;
            Ok(took)
        });
        let config = "10 steps a job, 1,000 jobs, 100 at a time, history kept";
        report.add("steps", Subject::Jobs, config, "steps/s", rate(JOBS * STEPS, ours.await?));
    }
    Ok(())
}

/// Whom a run tells that its steps are behind it, once it was told to.
struct Replayed {
    armed: AtomicBool,
    passed: mpsc::UnboundedSender<Instant>,
}

/// So many steps, then a wait.
#[job(queue = "replay", tenant = none, allow(nondeterminism))]
async fn many_steps(ctx: &Ctx, steps: u64) -> Result<u64, Failure> {
    let mut sum = 0;
    for number in 0..steps {
        sum += step!(ctx, "trivial", key = number, async { Ok(number) }).await?;
    }
    let replayed: &Arc<Replayed> = ctx.state()?;
    if replayed.armed.load(SeqCst) {
        let _ = replayed.passed.send(Instant::now());
    }
    let _: Go = wait_for!(ctx, "go", key = ctx.id()).await?;
    Ok(sum)
}

/// Lets a run go on.
#[derive(Debug, Serialize, Deserialize)]
#[event(name = "bench.go")]
struct Go {}

/// From the publication that wakes a run to the line after its completed steps: of 1,000 steps, and of one.
pub(crate) async fn replay(report: &mut Report) -> Outcome {
    for _ in 0..RUNS {
        let times = database::with_new(async |url| {
            let jobs = subject::jobs(url).await?;
            Ok([woken(&jobs, 1).await?, woken(&jobs, 1_000).await?])
        });
        let [one, thousand] = times.await?.map(|time: Duration| time.as_secs_f64() * 1_000.0);
        let (first, second) = ("a wake-up with 1 completed step", "a wake-up with 1,000 completed steps");
        report.add("replay", Subject::Jobs, first, "ms", one);
        report.add("replay", Subject::Jobs, second, "ms", thousand);
        report.add("replay", Subject::Jobs, "the difference: replaying 999 steps more", "ms", thousand - one);
    }
    Ok(())
}

/// The median of five runs.
async fn woken(jobs: &Jobs, steps: u64) -> Outcome<Duration> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let (passed, mut passes) = mpsc::unbounded_channel();
        let replayed = Arc::new(Replayed { armed: AtomicBool::new(false), passed });
        let worker = jobs.worker().state(replayed.clone()).queues(["replay"]).start().await?;
        let job = jobs.enqueue::<many_steps>(steps).await?.id();
        while jobs.find(job).await?.state != State::Suspended {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        replayed.armed.store(true, SeqCst);
        let published = Instant::now();
        Go {}.publish(jobs, job).await?;
        let passed = passes.recv().await.ok_or("the worker has ended")?;
        times.push(passed - published);
        worker.drain().await;
    }
    times.sort();
    Ok(times[times.len() / 2])
}
