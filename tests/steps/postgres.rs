//! Steps on Postgres: what only a real store shows.

use crate::{
    log::{Log, count, note},
    support::Db,
};
use jobs::{
    JobId, Jobs, State, StepTx, Worker,
    driver::{Driver, Migrate, StepRecord, pg::Pg},
    prelude::*,
    testing::{Overlay, eventually},
};
use sqlx::Connection;
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

/// Postgres, counting how often a run's records are read, and how long that takes.
#[derive(Clone)]
struct Counting {
    pg: Arc<Pg>,
    reads: Arc<AtomicU32>,
    micros: Arc<Mutex<Vec<u64>>>,
}

impl Overlay for Counting {
    fn under(&self) -> &dyn Driver {
        &*self.pg
    }

    fn steps(&self, job: JobId) -> Pin<Box<dyn Future<Output = Result<Vec<StepRecord>, jobs::Error>> + Send + '_>> {
        self.reads.fetch_add(1, SeqCst);
        Box::pin(async move {
            let began = Instant::now();
            let records = self.under().steps(job).await;
            self.micros.lock().expect("no panic").push(began.elapsed().as_micros() as u64);
            records
        })
    }
}

struct Scene {
    jobs: Jobs,
    store: Counting,
    log: Log,
    worker: Worker,
    db: Db,
}

async fn scene(registry: Registry) -> Scene {
    let (db, log) = (Db::new(), Log::default());
    let pg = Pg::connect(db.url()).await.expect("it connects");
    pg.migrate(Migrate::VerifyOnly).await.expect("it is migrated");
    let store = Counting { pg: Arc::new(pg), reads: Arc::default(), micros: Arc::default() };
    let jobs = Jobs::new(Arc::new(store.clone()), registry);
    let worker = jobs.worker().state(log.clone()).start().await.expect("it starts");
    Scene { jobs, store, log, worker, db }
}

macro_rules! scene {
    ($($job:ty),+) => { scene(Registry::builder()$(.job::<$job>())+.build().expect("the jobs agree")).await };
}

impl Scene {
    async fn in_state(&self, job: JobId, state: State) {
        eventually(|| async { self.jobs.find(job).await.is_ok_and(|record| record.state == state) }).await;
    }

    async fn output<T: serde::de::DeserializeOwned>(&self, job: JobId) -> T {
        let record = self.jobs.find(job).await.expect("it is stored");
        let output = record.output.unwrap_or_else(|| panic!("{:?}", record.failure));
        output.decode().expect("it decodes")
    }
}

/// A thousand steps; all attempts but the last fail after them. Notes how long each attempt took.
#[job(tenant = none, retry(max_attempts = 5, backoff = fixed("10ms")), allow(nondeterminism))]
async fn thousand(ctx: &Ctx) -> Result<(), Failure> {
    let began = Instant::now();
    for number in 0..1_000 {
        step!(ctx, "number", key = number, async { Ok(number) }).await?;
    }
    note(ctx, began.elapsed().as_micros().to_string());
    if ctx.attempt() < 5 { Err(Failure::retry("once more")) } else { Ok(()) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_steps_are_replayed_by_one_query_within_50_ms() {
    let scene = scene!(thousand);
    let job = scene.jobs.enqueue::<thousand>(()).await.expect("accepted").id();
    crate::within(Duration::from_secs(60), async || {
        scene.jobs.find(job).await.is_ok_and(|record| record.state == State::Completed)
    })
    .await;
    assert_eq!(scene.store.reads.load(SeqCst), 4, "one for each attempt but the first");
    let replays = scene.log.take().into_iter().skip(1).map(|micros| micros.parse::<u64>().expect("a number"));
    let reads = scene.store.micros.lock().expect("no panic").clone();
    let both: Vec<(u64, u64)> = reads.into_iter().zip(replays).collect();
    println!("1,000 steps, read and replayed in us: {both:?}");
    // The machine may do something else meanwhile, but not every time.
    assert!(both.iter().any(|(read, replay)| read + replay < 50_000), "{both:?}");
    scene.worker.drain().await;
}

#[derive(Debug, Serialize, Deserialize)]
struct Paid(u32);

impl Event for Paid {
    const NAME: &'static str = "steps.paid";
}

/// All durable lines in one run.
#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("10ms")))]
async fn everything(ctx: &Ctx) -> Result<(u32, u32, bool, u32), Failure> {
    ctx.now().await?;
    let one = step!(ctx, "one", once, async {
        note(ctx, "one");
        Ok(1)
    })
    .await?;
    sleep!(ctx, "nap", "50ms").await;
    let (paid, two) = tokio::join!(
        wait_for!(ctx, "paid", key = ctx.id(), timeout = "1h"),
        step!(ctx, "two", retry(max_attempts = 2, backoff = fixed("1s")), async {
            note(ctx, "two");
            if count(ctx, "two") == 1 { Err(Failure::retry("not yet")) } else { Ok(2) }
        })
    );
    let paid: Option<Paid> = paid?;
    let child = spawn!(ctx, "child", doubles, one + two?).await?;
    let doubled = child.join().await?;
    let is_new = patch!(ctx, "patch").await?;
    pivot!(ctx).await?;
    if ctx.attempt() == 1 {
        return Err(Failure::retry("once more"));
    }
    Ok((one, paid.map_or(0, |paid| paid.0), is_new, doubled))
}

#[job(tenant = none, name = "steps.doubles")]
async fn doubles(_ctx: &Ctx, input: u32) -> Result<u32, Failure> {
    Ok(input * 2)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_durable_line_works_through_parks_and_a_retry() {
    let scene = scene!(everything, doubles);
    let job = scene.jobs.enqueue::<everything>(()).await.expect("accepted").id();
    scene.in_state(job, State::Suspended).await;
    Paid(7).publish(&scene.jobs, job).await.expect("published");
    scene.in_state(job, State::Completed).await;
    assert_eq!(scene.output::<(u32, u32, bool, u32)>(job).await, (1, 7, true, 6));
    assert_eq!(scene.log.take(), ["one", "two", "two"]);
    scene.worker.drain().await;
}

/// Adds to a ledger in the step's transaction; its first try fails after that, and so does its first attempt.
#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("10ms")))]
async fn pays(ctx: &Ctx, input: i64) -> Result<i64, Failure> {
    let sum: i64 = step_tx!(ctx, "pay", retry(max_attempts = 2, backoff = fixed("1ms")), async |tx| {
        add(tx, input).await?;
        note(ctx, "pay");
        if count(ctx, "pay") % 2 == 1 {
            return Err(Failure::retry("rolled back"));
        }
        Ok(input)
    })
    .await?;
    if ctx.attempt() == 1 { Err(Failure::retry("once more")) } else { Ok(sum) }
}

async fn add(tx: &mut StepTx, amount: i64) -> Result<(), Failure> {
    sqlx::query("INSERT INTO ledger VALUES ($1)").bind(amount).execute(tx.pg()?).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transactional_step_takes_effect_once() {
    let scene = scene!(pays);
    let pool = scene.db.pool(2).await;
    sqlx::query("CREATE TABLE ledger (amount BIGINT)").execute(&pool).await.expect("made");
    let job = scene.jobs.enqueue::<pays>(5).await.expect("accepted").id();
    scene.in_state(job, State::Completed).await;
    let sum: Option<i64> =
        sqlx::query_scalar("SELECT SUM(amount)::BIGINT FROM ledger").fetch_one(&pool).await.expect("read");
    assert_eq!((sum, scene.output::<i64>(job).await, scene.log.count("pay")), (Some(5), 5, 2));
    scene.worker.drain().await;
}

/// Sleeps for a year.
#[job(tenant = none)]
async fn hibernates(ctx: &Ctx, _input: u32) -> Result<(), Failure> {
    sleep!(ctx, "winter", "365d").await;
    Ok(())
}

/// How many transactions the database has seen, its own question left out: a statement alone is one.
async fn transactions(db: &Db) -> i64 {
    // Over the server's own database: a question in this one would count.
    let server = std::env::var("DATABASE_URL").expect("it is set: the database was made on it");
    let mut server = sqlx::PgConnection::connect(&server).await.expect("the server answers");
    let sql = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1";
    sqlx::query_scalar(sql).bind(db.name()).fetch_one(&mut server).await.expect("it counts")
}

/// How many statements an idle worker sends in ten seconds.
async fn sent_in_ten_seconds(db: &Db) -> i64 {
    // A connection that fell idle tells its statements up to ten seconds later.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let before = transactions(db).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    transactions(db).await - before
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_parked_runs_cost_an_idle_worker_no_statement() {
    let (empty, scene) = (scene!(hibernates), scene!(hibernates));
    scene.jobs.enqueue_many::<hibernates>(0..1_000).await.expect("accepted");
    crate::within(Duration::from_secs(60), async || {
        let counts = scene.jobs.driver().counts().await.expect("it answers");
        counts.iter().any(|count| count.state == State::Suspended && count.jobs == 1_000)
    })
    .await;
    let (mut without, mut with) = (i64::MAX, i64::MAX);
    // The server's autovacuum counts as well; it comes once a minute at most.
    for _ in 0..3 {
        let sent = tokio::join!(sent_in_ten_seconds(&empty.db), sent_in_ten_seconds(&scene.db));
        (without, with) = (without.min(sent.0), with.min(sent.1));
        if with <= without + 3 {
            break;
        }
    }
    println!("statements in 10 s: {without} without, {with} with 1,000 parked runs");
    assert!(without > 0, "the worker does look");
    // One more where a beat falls on the edge, of each of its loops.
    assert!(with <= without + 3, "{with} statements with 1,000 parked runs, {without} without");
    scene.worker.drain().await;
    empty.worker.drain().await;
}
