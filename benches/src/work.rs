//! Measures a worker: how fast it drains, how soon it begins, how quiet it is.

use crate::{
    Outcome, PAUSE, RUNS, database,
    enqueue::rate,
    limit,
    report::{Report, Subject},
    subject::{self, Started, send_mail},
};
use sqlx::PgPool;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// A full queue, from the worker's start to the last acknowledgement.
pub(crate) async fn drain(report: &mut Report) -> Outcome {
    const COUNT: usize = 20_000;
    for _ in 0..RUNS {
        let bare = database::with_new(async |url| {
            let pool = limit::tables(url).await?;
            limit::fill(&pool, COUNT).await?;
            limit::drain(&pool, COUNT).await
        });
        report.add(
            "drain",
            Subject::Limit,
            "two tables, 500 a claim, 2 connections",
            "jobs/s",
            rate(COUNT, bare.await?),
        );
        let ours = database::with_new(async |url| {
            let jobs = subject::jobs(url).await?;
            jobs.enqueue_many::<send_mail>((0..COUNT).map(|_| subject::mail())).await?;
            let (started, mut starts) = mpsc::unbounded_channel();
            let start = Instant::now();
            let worker = jobs.worker().state(Started::told_to(started)).start().await?;
            for _ in 0..COUNT {
                starts.recv().await;
            }
            // Asked only now, so that the questions take nothing from the drain.
            while jobs.counts().await?.iter().any(|count| count.jobs > 0) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let took = start.elapsed();
            worker.drain().await;
            Ok(took)
        });
        report.add("drain", Subject::Jobs, "defaults, history kept", "jobs/s", rate(COUNT, ours.await?));
    }
    Ok(())
}

/// An idle queue, from the enqueue's return to the body's first line.
pub(crate) async fn latency(report: &mut Report) -> Outcome {
    const COUNT: usize = 200;
    for _ in 0..RUNS {
        let bare = database::with_new(async |url| {
            limit::tables(url).await?;
            limit::latency::insert_to_claim(&database::pool(url, 2).await?, url, COUNT).await
        });
        add_times(report, Subject::Limit, "insert and notify, then listen and claim", bare.await?);
        let ours = database::with_new(async |url| {
            let jobs = subject::jobs(url).await?;
            let (started, mut starts) = mpsc::unbounded_channel();
            let worker = jobs.worker().state(Started::told_to(started)).start().await?;
            // The first ones find the listener not yet proven.
            for _ in 0..10 {
                jobs.enqueue::<send_mail>(subject::mail()).await?;
                starts.recv().await;
            }
            let mut times = Vec::with_capacity(COUNT);
            for _ in 0..COUNT {
                tokio::time::sleep(PAUSE).await;
                jobs.enqueue::<send_mail>(subject::mail()).await?;
                let returned = Instant::now();
                let began: Instant = starts.recv().await.ok_or("the worker has ended")?;
                times.push(began.saturating_duration_since(returned));
            }
            worker.drain().await;
            Ok(times)
        });
        add_times(report, Subject::Jobs, "defaults", ours.await?);
    }
    Ok(())
}

/// A worker with nothing to do.
pub(crate) async fn idle(report: &mut Report) -> Outcome {
    const WINDOW: Duration = Duration::from_secs(30);
    for _ in 0..RUNS {
        let statements = database::with_new(async |url| {
            let jobs = subject::jobs(url).await?;
            let counter = Counter::new(url).await?;
            let worker = jobs.worker().state(Started::nobody()).start().await?;
            // Its beginning is not idle.
            tokio::time::sleep(Duration::from_secs(10)).await;
            let before = counter.read().await?;
            tokio::time::sleep(WINDOW).await;
            let statements = counter.read().await? - before;
            worker.drain().await;
            Ok(statements)
        });
        let a_minute = statements.await? * 60.0 / WINDOW.as_secs_f64();
        report.add("idle", Subject::Jobs, "one worker, one queue, defaults", "statements/min", a_minute);
    }
    Ok(())
}

/// Counts the statements of a database, its own left out.
struct Counter {
    server: PgPool,
    database: String,
}

impl Counter {
    async fn new(url: &str) -> Outcome<Self> {
        let database = url.split('?').next().and_then(|url| url.rsplit('/').next()).unwrap_or_default().to_owned();
        // From the maintenance database, so that the question does not count.
        let server = database::pool(&database::server()?, 1).await?;
        sqlx::raw_sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").execute(&server).await?;
        Ok(Self { server, database })
    }

    async fn read(&self) -> Outcome<f64> {
        let statement = sqlx::query_scalar(include_str!("statements.sql"));
        Ok(statement.bind(&self.database).fetch_one(&self.server).await?)
    }
}

fn add_times(report: &mut Report, subject: Subject, config: &'static str, mut times: Vec<Duration>) {
    times.sort();
    for (percent, unit) in [(50, "ms p50"), (99, "ms p99")] {
        let time = times[(times.len() * percent / 100).min(times.len() - 1)];
        report.add("latency", subject, config, unit, time.as_secs_f64() * 1_000.0);
    }
}
