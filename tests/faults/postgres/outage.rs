//! A server that crashes, a network that breaks every socket, a server that turns read-only or is full.

use super::{driver, sql};
use crate::{
    jobs_of_tests::{Gate, Runs, all_completed, gated, knowing, note, start_delay},
    support::{Cluster, Db, Fault, Proxy, eventually, eventually_within, pool},
};
use jobs::{
    Enqueued, JobId, Jobs, Registry, Worker,
    driver::{Lease, pg::Pg},
};
use sqlx::{PgPool, postgres::PgPoolOptions};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// Until everything works again after a fault has ended, and what a busy machine adds.
const RECOVERY: Duration = Duration::from_secs(10);

/// What a worker reported.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<String>>>);

impl Reports {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

struct Rig {
    jobs: Jobs,
    worker: Worker,
    runs: Runs,
    gate: Gate,
    reports: Reports,
}

/// A pool whose callers are refused after 2 s.
async fn impatient(url: &str) -> PgPool {
    PgPoolOptions::new().max_connections(2).acquire_timeout(Duration::from_secs(2)).connect(url).await.unwrap()
}

/// A worker that runs notes and gated jobs.
async fn rig(driver: Pg, lease: Lease) -> Rig {
    let registry = Registry::builder().job::<note>().job::<gated>().build().unwrap();
    let jobs = Jobs::new(Arc::new(driver), registry);
    let (runs, gate, reports) = (Runs::default(), Gate::closed(), Reports::default());
    let heard = reports.clone();
    let worker = jobs.worker().state(runs.clone()).state(gate.clone()).concurrency(8).lease(lease);
    let worker = worker.on_error(move |report| heard.0.lock().unwrap().push(format!("{report:?}")));
    Rig { worker: worker.start().await.expect("a worker starts"), jobs, runs, gate, reports }
}

impl Rig {
    /// Enqueues gated jobs and waits until eight of them run.
    async fn fill(&self, count: u64) -> Vec<JobId> {
        let answers = self.jobs.enqueue_many::<gated>(1_000..1_000 + count).await.expect("a batch");
        eventually("eight bodies run", async || (self.runs.count() >= 8).then_some(())).await;
        answers.iter().map(Enqueued::id).collect()
    }

    fn assert_no_panic(&self) {
        let reports = self.reports.take();
        assert!(!reports.iter().any(|report| report.contains("panic")), "{reports:?}");
    }
}

/// Stops the server in mid-work, lets bodies finish while it is away for so long, and starts it again.
async fn crash(lease: Lease, away: Duration) -> (usize, Duration) {
    let cluster = Arc::new(Cluster::start());
    let db = cluster.database();
    let rig = rig(Pg::new(impatient(db.url()).await).unwrap(), lease).await;
    let ids = rig.fill(40).await;
    let stopped = Arc::clone(&cluster);
    tokio::task::spawn_blocking(move || stopped.stop_hard()).await.unwrap();
    let began = Instant::now();
    rig.gate.open();
    let refused = rig.jobs.enqueue::<note>(1).await.expect_err("there is no server");
    assert!(refused.is_unavailable(), "{refused}");
    // The length of the outage.
    tokio::time::sleep(away.saturating_sub(began.elapsed())).await;
    let started = Arc::clone(&cluster);
    tokio::task::spawn_blocking(move || started.start_again()).await.unwrap();
    let returned = Instant::now();
    let note = eventually_within(RECOVERY, "an enqueue", async || rig.jobs.enqueue::<note>(2).await.ok()).await;
    all_completed(&rig.jobs, &[note.id()], RECOVERY).await;
    let serves = returned.elapsed();
    assert!(serves <= RECOVERY, "served again {serves:?} after the server's return");
    all_completed(&rig.jobs, &ids, RECOVERY * 3).await;
    rig.assert_no_panic();
    rig.worker.drain().await;
    (rig.runs.again(), serves)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_of_the_server_within_the_lease_costs_no_run() {
    let (again, serves) = crash(Lease::default(), Duration::from_secs(2)).await;
    println!("server away for 2 s: served again {serves:?} after its return, {again} jobs run again");
    assert_eq!(again, 0, "what finished meanwhile was settled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_of_the_server_that_outlasts_the_lease_redoes_what_was_not_settled() {
    let lease = Lease { duration: Duration::from_secs(3), beat: Duration::from_secs(1) };
    let (again, serves) = crash(lease, Duration::from_secs(6)).await;
    println!("server away for 6 s, lease of 3 s: served again {serves:?} after its return, {again} jobs run again");
}

/// Makes every socket fail for a while, then spares only new ones.
async fn broken_sockets(fault: Fault, length: Duration) -> Duration {
    let db = Db::new();
    let proxy = Proxy::before(db.url());
    let rig = rig(Pg::new(pool(proxy.url(), 4).await).unwrap(), Lease::default()).await;
    let direct = knowing::<note>(&Arc::new(driver(&db).await));
    start_delay(&direct, &rig.runs, 0, RECOVERY).await;

    proxy.fail_all(fault);
    let during = direct.enqueue_many::<note>(1..20).await.expect("a batch");
    // The length of the outage.
    tokio::time::sleep(length).await;
    proxy.fail_coming(Fault::None);
    let healed = Instant::now();
    start_delay(&direct, &rig.runs, 100, RECOVERY).await;
    let serves = healed.elapsed();
    let during: Vec<_> = during.iter().map(Enqueued::id).collect();
    all_completed(&direct, &during, RECOVERY * 2).await;
    rig.assert_no_panic();
    rig.worker.drain().await;
    serves
}

#[tokio::test]
async fn sockets_that_were_reset_are_replaced() {
    let serves = broken_sockets(Fault::Reset, Duration::from_secs(3)).await;
    println!("every socket reset for 3 s: served again {serves:?} after healing");
}

#[tokio::test]
async fn sockets_that_went_silent_for_good_are_replaced() {
    let serves = broken_sockets(Fault::BlackHole, Duration::from_secs(12)).await;
    println!("every socket silent for 12 s, the old ones for good: served again {serves:?} after healing");
}

#[tokio::test]
async fn a_lease_whose_connection_went_silent_is_kept_on_another_one() {
    let db = Db::new();
    let proxy = Proxy::before(db.url());
    let lease = Lease { duration: Duration::from_secs(9), beat: Duration::from_secs(3) };
    let rig = rig(Pg::new(pool(proxy.url(), 4).await).unwrap(), lease).await;
    let ids = rig.fill(8).await;
    let before = rig.worker.id();
    proxy.fail_named("jobs:lease", Fault::BlackHole);
    let silent = Instant::now();
    // Until the lease would have lapsed, and once more.
    while silent.elapsed() < Duration::from_secs(18) {
        let workers = rig.jobs.workers().await.expect("workers are listed");
        assert_eq!(workers.iter().map(|worker| worker.id).collect::<Vec<_>>(), [before.0], "the lease is kept");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    rig.gate.open();
    all_completed(&rig.jobs, &ids, RECOVERY).await;
    assert_eq!((rig.runs.again(), rig.worker.id()), (0, before));
    rig.assert_no_panic();
    rig.worker.drain().await;
}

#[tokio::test]
async fn the_clients_own_sockets_that_went_silent_are_replaced() {
    let db = Db::new();
    let proxy = Proxy::before(db.url());
    let driver = Pg::connect(proxy.url()).await.unwrap();
    let jobs = knowing::<note>(&Arc::new(driver));
    let several: Vec<_> = (0..4).map(|number| jobs.enqueue::<note>(number).into_future()).collect();
    futures_util::future::try_join_all(several).await.expect("four at once open connections");
    proxy.fail_open(Fault::BlackHole);
    // Until the idle ones are asked whether they are well.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let asked = Instant::now();
    jobs.enqueue::<note>(9).await.expect("an enqueue on a new connection");
    println!("client with silent idle connections: enqueued after {:?}", asked.elapsed());
    assert!(asked.elapsed() < RECOVERY);
}

#[tokio::test]
async fn a_server_that_turned_read_only_is_waited_out() {
    let db = Db::new();
    let admin = db.pool(1).await;
    sql(&admin, "SET default_transaction_read_only = off").await;
    let rig = rig(driver(&db).await, Lease::default()).await;
    start_delay(&rig.jobs, &rig.runs, 0, RECOVERY).await;
    let all_others = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = '{}' AND pid <> pg_backend_pid()",
        db.name()
    );
    sql(&admin, format!("ALTER DATABASE {} SET default_transaction_read_only = on", db.name())).await;
    sql(&admin, all_others).await;
    let refused = eventually("a refusal", async || rig.jobs.enqueue::<note>(1).await.err()).await;
    assert!(refused.is_unavailable(), "{refused}");
    // Written past the driver, so that the worker has something to claim, again and again in vain.
    sql(&admin, "SET transaction_read_only = off").await;
    let copy =
        "INSERT INTO jobs.ready (id, ready_at, created_at, attempt, version, crashes, priority, kind, queue, payload)
                VALUES (gen_random_uuid(), now(), now(), 1, 1, 0, 0, 'note', 'notes', '7')";
    sql(&admin, copy).await;
    let began = Instant::now();
    let reports = eventually("the worker reports it", async || {
        let reports = rig.reports.take();
        (!reports.is_empty()).then_some(reports)
    });
    let reports = reports.await;
    // Long enough to see that it backs off.
    tokio::time::sleep(Duration::from_secs(4)).await;
    let more = rig.reports.take().len();
    assert!(rig.runs.first(7).is_none(), "nothing is claimed meanwhile");
    sql(&admin, format!("ALTER DATABASE {} RESET default_transaction_read_only", db.name())).await;
    let reset = Instant::now();
    eventually_within(RECOVERY, "the job runs", async || rig.runs.first(7)).await;
    println!(
        "read-only for {:?}: {} reports; claimed again {:?} after it was writable",
        reset - began,
        reports.len() + more,
        reset.elapsed()
    );
    rig.assert_no_panic();
    rig.worker.drain().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_server_is_asked_again_with_growing_waits() {
    let cluster = Cluster::start();
    let db = cluster.database();
    let admin = db.pool(1).await;
    let app = super::tenants::app_role(&admin).await;
    sql(&admin, format!("ALTER ROLE {app} LOGIN PASSWORD 'app'")).await;
    let (_, address) = db.url().split_once('@').unwrap();
    let proxy = Proxy::before(&format!("postgres://{app}:app@{address}"));
    let rig = rig(Pg::new(impatient(proxy.url()).await).unwrap(), Lease::default()).await;
    start_delay(&rig.jobs, &rig.runs, 0, RECOVERY).await;

    sql(&admin, format!("ALTER ROLE {app} CONNECTION LIMIT 0")).await;
    sql(&admin, format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{app}'")).await;
    let (before, began) = (proxy.accepted(), Instant::now());
    let refused = eventually("a refusal", async || rig.jobs.enqueue::<note>(1).await.err()).await;
    assert!(refused.is_unavailable(), "{refused}");
    eventually("more tries", async || (proxy.accepted() > before + 5).then_some(())).await;
    // Long enough to see that the waits grow.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let (tried, length) = (proxy.accepted() - before, began.elapsed());
    sql(&admin, format!("ALTER ROLE {app} CONNECTION LIMIT 6")).await;
    let freed = Instant::now();
    let note = eventually_within(RECOVERY, "an enqueue", async || rig.jobs.enqueue::<note>(2).await.ok()).await;
    all_completed(&rig.jobs, &[note.id()], RECOVERY).await;
    println!("server full (53300) for {length:?}: {tried} tries; served again after {:?}", freed.elapsed());
    assert!(tried < 60, "{tried} tries in {length:?}");
    rig.assert_no_panic();
    rig.worker.drain().await;
}
