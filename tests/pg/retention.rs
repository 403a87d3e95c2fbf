//! A day's history leaves at once; what was missed leaves row by row, and nothing leaves early.

use super::{driver, run};
use crate::support::{Db, shift};
use jobs::{
    JobId, State,
    driver::{Driver, pg::Pg},
    spec::Keep,
    testing::conformance::{HandWorker, job},
};
use std::{sync::Arc, time::Duration};

const DAY: Duration = Duration::from_secs(86_400);

async fn completed(driver: &Arc<Pg>) -> JobId {
    let job = job();
    driver.enqueue(std::slice::from_ref(&job), None).await.expect("accepted");
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = worker.claim_one().await;
    worker.finish(&claimed, State::Completed).await;
    worker.stop().await;
    job.id
}

/// How many rows each of the slots holds, empty ones left out, and the files that the slots are stored in.
async fn slots(driver: &Pg) -> Vec<(i16, i64, i64)> {
    let sql =
        "SELECT slot, count(*), min(pg_relation_filenode(tableoid::regclass))::int8 FROM jobs.history GROUP BY slot";
    sqlx::query_as(sql).fetch_all(driver.pool()).await.expect("the history is counted")
}

async fn is_last_quarter_of_an_hour(driver: &Pg) -> bool {
    let sql = "SELECT extract(epoch FROM clock_timestamp())::int8 % 86400 > 85500";
    sqlx::query_scalar(sql).fetch_one(driver.pool()).await.expect("the time")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_is_truncated_on_its_day() {
    assert_eq!(Keep::DEFAULT, Keep::For(7 * DAY));
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    let old = completed(&driver).await;
    shift(driver.pool(), 7 * DAY).await;
    assert_eq!(driver.purge(1_000).await.expect("a purge"), 0, "its day has not come");
    assert!(driver.find(old).await.expect("a find").is_none(), "yet it is gone for everybody");
    shift(driver.pool(), DAY).await;
    let new = completed(&driver).await;
    let before = slots(&driver).await;
    assert_eq!(before.len(), 2, "{before:?}");
    if is_last_quarter_of_an_hour(&driver).await {
        return;
    }
    assert_eq!(driver.purge(1_000).await.expect("a purge"), 1);
    let after = slots(&driver).await;
    assert_eq!(after.len(), 1, "{after:?}");
    assert!(driver.find(new).await.expect("a find").is_some());
    assert_eq!(driver.purge(1_000).await.expect("a purge"), 0, "once a day");
    let slot = before.iter().find(|slot| !after.contains(slot)).expect("one slot is empty now");
    let sql = format!("SELECT pg_relation_filenode('jobs.history_{:02}')::int8", slot.0);
    let file: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(driver.pool()).await.expect("a file");
    assert_ne!(file, slot.2, "truncated, not deleted from");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_whose_day_was_missed_keeps_what_is_newer() {
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    completed(&driver).await;
    shift(driver.pool(), 8 * DAY).await;
    let kept = completed(&driver).await;
    // Both in one slot, as rows that are kept for 30 days come to be.
    run(
        driver.pool(),
        "UPDATE jobs.history SET slot = (SELECT slot FROM jobs.history ORDER BY purge_at LIMIT 1);
         UPDATE jobs.history_slots SET purged_day = purged_day - 30",
    )
    .await;
    shift_slots(&driver).await;
    assert_eq!(driver.purge(1_000).await.expect("a purge"), 1);
    assert!(driver.find(kept).await.expect("a find").is_some());
    assert_eq!(slots(&driver).await.len(), 1);
}

/// Moves the history's one used slot to yesterday's.
async fn shift_slots(driver: &Pg) {
    let yesterday =
        "UPDATE jobs.history SET slot = (floor(extract(epoch FROM clock_timestamp()) / 86400)::int8 - 1) % 32";
    run(driver.pool(), yesterday).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_of_a_slot_delays_its_purge_only() {
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    completed(&driver).await;
    shift(driver.pool(), 8 * DAY).await;
    let mut reader = driver.pool().begin().await.expect("a transaction");
    let rows: i64 =
        sqlx::query_scalar("SELECT count(*) FROM jobs.history").fetch_one(&mut *reader).await.expect("rows");
    assert_eq!(rows, 1);
    if is_last_quarter_of_an_hour(&driver).await {
        return;
    }
    assert_eq!(driver.purge(1_000).await.expect("a purge answers"), 0);
    completed(&driver).await;
    reader.rollback().await.expect("the reader ends");
    assert_eq!(driver.purge(1_000).await.expect("a purge"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_length_of_keeping_has_its_slot() {
    let db = Db::new();
    let driver = driver(&db).await;
    let sql = "SELECT jobs.history_slot(at, at + keep) FROM (VALUES
        (interval '1 second'), (interval '23 hours'), (interval '31 days'), (interval '1 day'), (interval '30 days')
    ) AS k (keep), (VALUES ('2000-01-01 00:00:00Z'::timestamptz)) AS t (at)";
    let slots: Vec<i16> = sqlx::query_scalar(sql).fetch_all(driver.pool()).await.expect("slots");
    // 2000-01-01 is day 10957 of the era, 13 modulo 32.
    assert_eq!(slots, [32, 32, 32, 15, 12]);
}
