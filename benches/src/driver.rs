//! Measures the Postgres driver alone: from claims to landed completions, without a worker around it.

use crate::{
    Outcome, RUNS, database,
    enqueue::rate,
    limit,
    report::{Report, Subject},
    subject::{self, send_mail},
};
use jobs::{
    Jobs, State,
    driver::{
        Change, Claim, Driver, Finish, KnownKind, Lease, ListFilter, Migrate, NewWorker, WorkerId, Write, Written,
        pg::Pg,
    },
    spec::Keep,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const COUNT: usize = 100_000;
const TASKS: usize = 2;
const BATCH: u32 = 500;
const QUEUE: &str = "mail";
const KIND: &str = "send_mail";

/// A full queue, claimed and completed by two tasks, with and without history.
pub(crate) async fn claims(report: &mut Report) -> Outcome {
    for _ in 0..RUNS {
        let bare = database::with_new(async |url| {
            let pool = limit::tables(url).await?;
            limit::fill(&pool, COUNT).await?;
            limit::drain(&pool, COUNT).await
        });
        report.add(
            "claims",
            Subject::Limit,
            "two tables, 500 a claim, 2 connections",
            "jobs/s",
            rate(COUNT, bare.await?),
        );
        for (keep, config) in [
            (Keep::None, "driver alone, 500 a claim, 2 connections, no history"),
            (Keep::For(Duration::from_secs(7 * 86_400)), "driver alone, 500 a claim, 2 connections, history kept"),
        ] {
            let took = database::with_new(async |url| drain(url, keep).await).await?;
            report.add("claims", Subject::Jobs, config, "jobs/s", rate(COUNT, took));
        }
    }
    Ok(())
}

async fn drain(url: &str, keep: Keep) -> Outcome<Duration> {
    let driver = Arc::new(Pg::connect(url).await?);
    driver.migrate(Migrate::ApplyAll).await?;
    let jobs = Jobs::builder().driver(driver.clone())?;
    jobs.enqueue_many::<send_mail>((0..COUNT).map(|_| subject::mail())).await?;
    sqlx::raw_sql("ANALYZE jobs.ready").execute(driver.pool()).await?;
    let kinds: Arc<[KnownKind]> =
        Arc::new([KnownKind { name: KIND.to_owned(), version: 1, queue: QUEUE.to_owned(), outline: &[] }]);
    let worker = driver
        .start_worker(NewWorker {
            name: "bench".to_owned(),
            lease: Lease { duration: Duration::from_secs(600), ..Lease::default() },
            queues: vec![(QUEUE.to_owned(), BATCH)],
            kinds: kinds.to_vec(),
        })
        .await?;
    let start = Instant::now();
    let tasks: Vec<_> =
        (0..TASKS).map(|_| tokio::spawn(drain_one(driver.clone(), worker, kinds.clone(), keep))).collect();
    for task in tasks {
        task.await??;
    }
    let took = start.elapsed();
    driver.stop_worker(worker).await?;
    let left = driver.list(ListFilter { state: Some(State::Ready), ..ListFilter::default() }).await?;
    if left.is_empty() { Ok(took) } else { Err("jobs were left".into()) }
}

async fn drain_one(driver: Arc<Pg>, worker: WorkerId, kinds: Arc<[KnownKind]>, keep: Keep) -> Outcome {
    loop {
        let queues = vec![(QUEUE.to_owned(), BATCH)];
        let claimed = driver.claim(Claim { worker, queues, kinds: kinds.clone() }).await?;
        if claimed.is_empty() {
            return Ok(());
        }
        let finish = || Finish { state: State::Completed, output: None, failure: None, keep, follow_up: None };
        let writes: Vec<_> =
            claimed.iter().map(|job| Write { fence: job.fence, change: Change::Finish(finish()) }).collect();
        let written = driver.commit(worker, &writes).await?;
        if !written.iter().all(|written| matches!(written, Written::Landed)) {
            return Err("a completion did not land".into());
        }
    }
}
