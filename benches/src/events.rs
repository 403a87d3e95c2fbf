//! Measures events: how fast they are published, how soon a parked run goes on.

use crate::{
    Outcome, PAUSE, RUNS, database,
    enqueue::rate,
    report::{Report, Subject},
    subject,
};
use jobs::prelude::*;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const PUBLISHERS: u32 = 16;
const EVENTS: u32 = 4_000;

/// What a run waits for.
#[derive(Debug, Serialize, Deserialize)]
#[event(name = "bench.paid")]
struct Paid {
    cents: u32,
}

/// Whom a run tells that it goes on.
struct Resumed(mpsc::UnboundedSender<Instant>);

/// Waits for an event of the key that it was given.
#[job(queue = "waiting", tenant = none, allow(nondeterminism))]
async fn waits(ctx: &Ctx, key: u32) -> Result<u32, Failure> {
    let paid: Paid = wait_for!(ctx, "paid", key = key).await?;
    let _ = ctx.state::<Resumed>()?.0.send(Instant::now());
    Ok(paid.cents)
}

/// Publications by 16 at once, of events that nobody waits for and of events that wake a run each; and the time from a
/// publication to the woken body.
pub(crate) async fn events(report: &mut Report) -> Outcome {
    for _ in 0..RUNS {
        let (without, with) = database::with_new(async |url| {
            let jobs = subject::jobs(url).await?;
            park(&jobs, EVENTS).await?;
            let without = publish(&jobs, EVENTS).await?;
            Ok((without, publish(&jobs, 0).await?))
        })
        .await?;
        let count = EVENTS as usize;
        report.add("events", Subject::Limit, "16 publishers, nobody waits", "events/s", rate(count, without));
        report.add("events", Subject::Jobs, "16 publishers, each wakes a parked run", "events/s", rate(count, with));
        let mut times = database::with_new(resumes).await?;
        times.sort();
        for (percent, unit) in [(50, "ms p50"), (99, "ms p99")] {
            let time = times[times.len() * percent / 100].as_secs_f64() * 1_000.0;
            report.add("events", Subject::Jobs, "from the publication's return to the woken body", unit, time);
        }
    }
    Ok(())
}

/// Parks so many runs, each on its number as the key.
async fn park(jobs: &Jobs, runs: u32) -> Outcome {
    let (resumed, _) = mpsc::unbounded_channel();
    jobs.enqueue_many::<waits>(0..runs).await?;
    let worker = jobs.worker().state(Resumed(resumed)).queues(["waiting"]).concurrency(200).start().await?;
    let parked = |count: &jobs::driver::KindCount| count.state == State::Suspended && count.jobs == u64::from(runs);
    while !jobs.counts().await?.iter().any(parked) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    worker.drain().await;
    Ok(())
}

/// Publishes to each key from the first on, by 16 at once. No worker runs.
async fn publish(jobs: &Jobs, first: u32) -> Outcome<Duration> {
    let start = Instant::now();
    let publishers = (0..PUBLISHERS).map(|publisher| {
        let jobs = jobs.clone();
        tokio::spawn(async move {
            for event in (publisher..EVENTS).step_by(PUBLISHERS as usize) {
                Paid { cents: event }.publish(&jobs, first + event).await?;
            }
            Ok::<(), jobs::Error>(())
        })
    });
    for publisher in publishers.collect::<Vec<_>>() {
        publisher.await??;
    }
    Ok(start.elapsed())
}

/// One parked run after the other is woken.
async fn resumes(url: &str) -> Outcome<Vec<Duration>> {
    const RUNS: u32 = 300;
    let jobs = subject::jobs(url).await?;
    let (resumed, mut resumes) = mpsc::unbounded_channel();
    let worker = jobs.worker().state(Resumed(resumed)).queues(["waiting"]).start().await?;
    jobs.enqueue_many::<waits>(0..RUNS).await?;
    let parked = |count: &jobs::driver::KindCount| count.state == State::Suspended && count.jobs == u64::from(RUNS);
    while !jobs.counts().await?.iter().any(parked) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut times = Vec::new();
    for run in 0..RUNS {
        tokio::time::sleep(PAUSE).await;
        Paid { cents: run }.publish(&jobs, run).await?;
        let returned = Instant::now();
        let began: Instant = resumes.recv().await.ok_or("the worker has ended")?;
        times.push(began.saturating_duration_since(returned));
    }
    worker.drain().await;
    Ok(times)
}
