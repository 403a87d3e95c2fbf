//! Connections that break at any byte of any answer.

use super::driver;
use crate::{
    jobs_of_tests::{Runs, all_completed, knowing, note, start_delay, work},
    support::{Db, Fault, Proxy, pool},
};
use jobs::{Enqueued, driver::pg::Pg};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

#[tokio::test]
async fn answers_that_are_lost_cost_no_job_and_repeat_none() {
    const JOBS: u64 = 2_000;
    let db = Db::new();
    let proxy = Proxy::before(db.url());
    let direct = knowing::<note>(&Arc::new(driver(&db).await));
    let behind = knowing::<note>(&Arc::new(Pg::new(pool(proxy.url(), 2).await).unwrap()));
    let runs = Runs::default();
    let ids: Vec<_> = direct.enqueue_many::<note>(0..JOBS).await.unwrap().iter().map(Enqueued::id).collect();
    let worker = work(&behind, &runs, 8).await;
    let before = worker.id();

    let (began, mut cuts, mut bytes) = (Instant::now(), 0, 1_usize);
    while (runs.count() as u64) < JOBS && began.elapsed() < Duration::from_secs(10) {
        // Each cut at another place: before an answer, within it, or in one of the next.
        bytes = bytes * 31 % 4_099;
        proxy.fail_open(Fault::CutAfter(bytes));
        cuts += 1;
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    proxy.fail_open(Fault::None);
    all_completed(&direct, &ids, Duration::from_secs(30)).await;
    let (again, kept) = (runs.again(), worker.id() == before);
    println!("{JOBS} jobs, every connection cut {cuts} times: {again} run again, the lease was kept: {kept}");
    assert_eq!((runs.count() as u64, again), (JOBS, 0));
    assert!(kept);
    start_delay(&direct, &runs, JOBS, Duration::from_secs(10)).await;
    worker.drain().await;
}
