//! Measures the Postgres driver alone: jobs per second from claims to landed completions, without a worker around it.
//!
//! `DATABASE_URL=.. cargo run --release -p jobs --example drain_probe [jobs] [rounds] [claim size] [tasks] [keep]`
//! with `keep` 0 (no history, the default) or 1. Empties the tables of schema `drain_probe`.

use jobs::{
    Error, JobId, JsonText,
    driver::{
        Change, Claim, Driver, Finish, KnownKind, Lease, Migrate, NewJob, NewWorker, Overrides, Start, WorkerId, Write,
        Written, pg::Pg,
    },
    spec::Keep,
    state::State,
};
use std::{env, sync::Arc, time::Instant};

const PAYLOAD: &str = r#"{"to":"someone@example.test","template":"welcome","vars":{"name":"x","n":12345}}"#;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument =
        |at: usize, default: usize| env::args().nth(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (jobs, rounds, claim, tasks) = (argument(1, 100_000), argument(2, 3), argument(3, 500), argument(4, 2));
    let keep = if argument(5, 0) == 0 { Keep::None } else { Keep::DEFAULT };
    let driver = Arc::new(Pg::options().schema("drain_probe").connect(&env::var("DATABASE_URL")?).await?);
    driver.migrate(Migrate::ApplyAll).await?;
    for round in 1..=rounds {
        clear(&driver).await?;
        let began = Instant::now();
        fill(&driver, jobs).await?;
        let filled = jobs as f64 / began.elapsed().as_secs_f64();
        vacuum(&driver).await?;
        let began = Instant::now();
        let drained = drain(&driver, claim as u32, tasks, keep).await?;
        let rate = drained as f64 / began.elapsed().as_secs_f64();
        println!(
            "round {round}: {drained} jobs, k={claim}, tasks={tasks}, keep={keep:?}: fill {filled:.0}/s, drain {rate:.0}/s"
        );
    }
    Ok(())
}

async fn clear(driver: &Pg) -> sqlx::Result<()> {
    for table in ["ready", "running", "waiting", "history"] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("TRUNCATE drain_probe.{table}"))).execute(driver.pool()).await?;
    }
    Ok(())
}

async fn vacuum(driver: &Pg) -> sqlx::Result<()> {
    sqlx::raw_sql("VACUUM ANALYZE drain_probe.ready").execute(driver.pool()).await.map(drop)
}

async fn fill(driver: &Pg, jobs: usize) -> Result<(), Error> {
    let mut left = jobs;
    while left > 0 {
        let batch: Vec<_> = (0..left.min(5_000)).map(|_| job()).collect();
        driver.enqueue(&batch, None).await?;
        left -= batch.len();
    }
    Ok(())
}

fn job() -> NewJob {
    NewJob {
        id: JobId::new(),
        kind: "mail.send".to_owned(),
        version: 1,
        queue: "default".to_owned(),
        tenant: None,
        priority: 0,
        start: Start::Now,
        payload: JsonText::trusted(PAYLOAD),
        unique: None,
        overrides: Overrides::default(),
        expires_after: None,
        metadata: None,
        trace: None,
        enqueued_by: None,
    }
}

async fn drain(driver: &Arc<Pg>, claim: u32, tasks: usize, keep: Keep) -> Result<usize, Box<dyn std::error::Error>> {
    let kinds: Arc<[KnownKind]> =
        Arc::new([KnownKind { name: "mail.send".to_owned(), version: 1, queue: "default".to_owned() }]);
    let worker = driver
        .start_worker(NewWorker {
            name: "probe".to_owned(),
            lease: Lease::default(),
            queues: vec![("default".to_owned(), claim)],
            kinds: kinds.to_vec(),
        })
        .await?;
    let running: Vec<_> = (0..tasks)
        .map(|_| tokio::spawn(drain_task(Arc::clone(driver), worker, Arc::clone(&kinds), claim, keep)))
        .collect();
    let mut drained = 0;
    for task in running {
        drained += task.await??;
    }
    driver.stop_worker(worker).await?;
    Ok(drained)
}

async fn drain_task(
    driver: Arc<Pg>,
    worker: WorkerId,
    kinds: Arc<[KnownKind]>,
    limit: u32,
    keep: Keep,
) -> Result<usize, Error> {
    let mut drained = 0;
    loop {
        let queues = vec![("default".to_owned(), limit)];
        let claimed = driver.claim(Claim { worker, queues, kinds: Arc::clone(&kinds) }).await?;
        if claimed.is_empty() {
            return Ok(drained);
        }
        let finish = || Finish { state: State::Completed, output: None, failure: None, keep, follow_up: None };
        let writes: Vec<_> =
            claimed.iter().map(|job| Write { fence: job.fence, change: Change::Finish(finish()) }).collect();
        let written = driver.commit(worker, &writes).await?;
        assert!(written.iter().all(|written| matches!(written, Written::Landed)), "every completion lands");
        drained += claimed.len();
    }
}
