//! Many jobs over few connections.

use super::sql;
use crate::{
    jobs_of_tests::{Gate, Runs, all_completed, note},
    support::{Db, eventually_within, pool},
};
use jobs::{Jobs, Registry, driver::pg::Pg, prelude::*};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

/// Enqueues, in its own transaction and outside of it, and reports progress.
#[job(queue = "busy", tenant = none, retry(max_attempts = 1, backoff = fixed("1s")))]
async fn busy(ctx: &Ctx, number: u64) -> Result<(), Failure> {
    ctx.progress(1, 3, "begun");
    ctx.jobs().enqueue::<note>(number * 2).await?;
    ctx.progress(2, 3, "enqueued");
    let mut tx = ctx.tx().await?;
    sqlx::query("INSERT INTO busy VALUES ($1)").bind(number as i64).execute(&mut *tx).await?;
    ctx.jobs().enqueue::<note>(number * 2 + 1).in_tx(&mut tx).await?;
    tx.commit().await?;
    ctx.progress(3, 3, "done");
    Ok(())
}

/// Waits for the gate, then returns 1 MiB that does not compress.
#[job(queue = "large", tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn large(ctx: &Ctx, number: u64) -> Result<String, Failure> {
    ctx.state::<Runs>()?.add(number);
    let mut random = number + 1;
    let text = std::iter::repeat_with(|| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + (random >> 58) as u8 % 75)
    });
    let text = text.filter(|character| !matches!(character, '\\')).take((1 << 20) - 2).collect();
    let _ = ctx.state::<Gate>()?.0.acquire().await;
    Ok(text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_outputs_of_1_mib_land_at_once() {
    const JOBS: u64 = 100;
    let db = Db::new();
    let driver = Pg::new(db.pool(2).await).unwrap();
    let jobs = Jobs::new(Arc::new(driver), Registry::builder().job::<large>().build().unwrap());
    let (runs, gate) = (Runs::default(), Gate::closed());
    let worker =
        jobs.worker().state(runs.clone()).state(gate.clone()).queue("large", JOBS as u32).start().await.unwrap();
    let ids: Vec<_> = jobs.enqueue_many::<large>(0..JOBS).await.unwrap().iter().map(Enqueued::id).collect();
    let all = async || (runs.count() as u64 == JOBS).then_some(());
    eventually_within(Duration::from_secs(40), "all of them run", all).await;
    gate.open();
    let opened = Instant::now();
    all_completed(&jobs, &ids, Duration::from_secs(40)).await;
    println!("{JOBS} outputs of 1 MiB, returned at once, landed within {:?}", opened.elapsed());
    assert_eq!(runs.again(), 0);
    worker.drain().await;
}

/// The connections of a process with one worker: the pool, the driver's own, the lease, the listener.
const POOL: u32 = 2;
const OWN: u32 = 2;
const MOST: i64 = POOL as i64 + OWN as i64 + 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_of_2_serves_64_jobs_at_a_time() {
    const JOBS: u64 = 400;
    let db = Db::new();
    let admin = db.pool(1).await;
    sql(&admin, "CREATE TABLE busy (number int8)").await;
    let driver = Pg::options().worker_connections(OWN).build(pool(db.url(), POOL).await).unwrap();
    let jobs = Jobs::new(Arc::new(driver), Registry::builder().job::<busy>().job::<note>().build().unwrap());
    let (runs, done, most) = (Runs::default(), Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(0)));
    let watch = tokio::spawn({
        let (admin, done, most) = (admin.clone(), Arc::clone(&done), Arc::clone(&most));
        async move {
            let query = "SELECT count(*) FROM pg_stat_activity
                         WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
                            AND application_name <> 'jobs:start'";
            while !done.load(Ordering::Relaxed) {
                let count: i64 = sqlx::query_scalar(query).fetch_one(&admin).await.unwrap();
                most.fetch_max(count, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
    let worker = jobs.worker().state(runs.clone()).queue("busy", 64).queue("notes", 64).start().await.unwrap();
    let began = Instant::now();
    let ids: Vec<_> = jobs.enqueue_many::<busy>(0..JOBS).await.unwrap().iter().map(Enqueued::id).collect();
    eventually_within(Duration::from_secs(60), "all notes run", async || {
        (runs.count() as u64 == 2 * JOBS).then_some(())
    })
    .await;
    let took = began.elapsed();
    all_completed(&jobs, &ids, Duration::from_secs(20)).await;
    worker.drain().await;
    done.store(true, Ordering::Relaxed);
    watch.await.unwrap();
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM busy").fetch_one(&admin).await.unwrap();
    assert_eq!(rows as u64, JOBS, "each ran once");
    let deadlocks: i64 =
        sqlx::query_scalar("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
            .fetch_one(&admin)
            .await
            .unwrap();
    let most = most.load(Ordering::Relaxed);
    println!(
        "{JOBS} jobs at 64 over a pool of 2, and {} more: {took:?}, {most} connections at most, {deadlocks} deadlocks",
        2 * JOBS
    );
    assert_eq!(deadlocks, 0);
    assert!(most <= MOST, "{most} connections, documented are {MOST}");
}
