//! Measures enqueues.

use crate::{
    Outcome, RUNS, database, limit,
    report::{Report, Subject},
    subject::{self, send_mail},
};
use std::time::{Duration, Instant};

/// One job at a time, each acknowledged before the next.
pub(crate) async fn one(report: &mut Report) -> Outcome {
    const COUNT: usize = 2_000;
    for _ in 0..RUNS {
        let bare = database::with_new(async |url| limit::insert_each(&limit::tables(url).await?, COUNT).await).await?;
        report.add("enqueue_1", Subject::Limit, "INSERT, one connection", "jobs/s", rate(COUNT, bare));
        let ours = database::with_new(async |url| {
            let jobs = subject::jobs(url).await?;
            jobs.enqueue::<send_mail>(subject::mail()).await?;
            let start = Instant::now();
            for _ in 0..COUNT {
                jobs.enqueue::<send_mail>(subject::mail()).await?;
            }
            Ok(start.elapsed())
        });
        report.add("enqueue_1", Subject::Jobs, "defaults, one caller", "jobs/s", rate(COUNT, ours.await?));
    }
    Ok(())
}

/// 1,000 jobs a call.
pub(crate) async fn many(report: &mut Report) -> Outcome {
    const COUNT: usize = 50_000;
    const BATCH: usize = 1_000;
    for _ in 0..RUNS {
        let bare = database::with_new(async |url| limit::copy(&limit::tables(url).await?, COUNT, BATCH).await).await?;
        report.add("enqueue_many", Subject::Limit, "COPY, 1,000 rows a call", "jobs/s", rate(COUNT, bare));
        let ours = database::with_new(async |url| {
            let jobs = subject::jobs(url).await?;
            jobs.enqueue::<send_mail>(subject::mail()).await?;
            let start = Instant::now();
            for _ in 0..COUNT / BATCH {
                jobs.enqueue_many::<send_mail>((0..BATCH).map(|_| subject::mail())).await?;
            }
            Ok(start.elapsed())
        });
        report.add("enqueue_many", Subject::Jobs, "defaults, 1,000 jobs a call", "jobs/s", rate(COUNT, ours.await?));
    }
    Ok(())
}

/// Jobs a second.
#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
pub(crate) fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}
