//! The clocks of clients and workers decide nothing.

use crate::{
    scene::{PATIENCE, Scene, Tally},
    support::role,
    worker::{self, Act, Task, work},
};
use jobs::{
    Job, JobId,
    driver::{NewJob, Overrides, Start},
};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};
use uuid::{NoContext, Timestamp, Uuid};

const HOUR: i64 = 3_600;

/// A job as a client makes it whose clock is wrong by so many seconds: its id is all that tells.
fn made_at(n: i32, off: i64) -> NewJob {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a year after 1970").as_secs();
    let id = Uuid::new_v7(Timestamp::from_unix(NoContext, now.saturating_add_signed(off), n as u32));
    NewJob {
        id: JobId(id),
        kind: <work as Job>::SPEC.name.to_owned(),
        version: 1,
        queue: <work as Job>::SPEC.queue.to_owned(),
        tenant: None,
        priority: 0,
        start: Start::Now,
        payload: serde_json::to_value(Task { n, act: Act::Sleep(0) }).expect("a task is JSON").into(),
        unique: None,
        overrides: Overrides::default(),
        expires_after: None,
        metadata: None,
        trace: None,
        enqueued_by: None,
        parent: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_clients_whose_clocks_are_an_hour_off_run_at_once_and_in_turn() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    let before = scene.now().await;
    for (n, off) in [HOUR, -HOUR, 0, HOUR, -HOUR].into_iter().enumerate() {
        scene.jobs.driver().enqueue(&[made_at(n as i32, off)], None).await.expect("it is enqueued");
    }
    let _worker = scene.worker().set("CONCURRENCY", 1).start();
    scene.wait_for_all(PATIENCE).await;
    let order: Vec<i32> = sqlx::query_scalar("SELECT n FROM log WHERE event = 'start' ORDER BY id")
        .fetch_all(&scene.pool)
        .await
        .expect("the log is read");
    assert_eq!(order, [0, 1, 2, 3, 4]);
    assert_eq!(scene.tally().await, Tally::all_well(5));
    let after = scene.now().await;
    let timely: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM jobs.history WHERE created_at BETWEEN $1 AND $2 AND finished_at BETWEEN $1 AND $2",
    )
    .bind(before)
    .bind(after)
    .fetch_one(&scene.pool)
    .await
    .expect("a number");
    assert_eq!(timely, 5, "every stored time is the store's");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_clock_is_an_hour_behind_the_stores_writes_nothing_once_its_lease_is_over() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    // It learns of its lease's end by a renewal, every 10 s. By its own clock most of the lease is left.
    let worker = |name: &str| scene.worker().lease(30_000).set("BEATS", 3).set("CONCURRENCY", 20).set("NAME", name);
    let behind = worker("behind").start();
    let acts = [Act::Hold, Act::HoldThenFail, Act::Report];
    scene.enqueue::<work>((0..12).map(|n| Task { n, act: acts[n as usize % 3] })).await;
    scene.wait_for("start", &behind, 12).await;
    sqlx::query("UPDATE jobs.workers SET lease_until = lease_until - interval '1 hour'")
        .execute(&scene.pool)
        .await
        .expect("the store's clock is an hour ahead");

    let other = worker("other").start();
    scene.wait_for("start", &other, 12).await;
    let before = scene.rows().await;
    behind.open_gate();
    scene.wait_until(PATIENCE, "SELECT count(*) FROM jobs.workers WHERE name = 'behind'", 1).await;
    assert!(scene.count("SELECT max(id) FROM jobs.workers").await > other.incarnation, "it began anew");
    assert_eq!(scene.rows().await, before, "what it wrote on its old lease changed no row");
    other.open_gate();
    scene.wait_for_all(PATIENCE).await;
    assert_eq!(scene.tally().await, Tally::all_well(12));
}

/// Where the runtime may read a wall clock, and why it decides nothing there.
const READERS: [(&str, &str); 6] = [
    ("clock.rs", "the clock of the memory driver, which is a store, and of tests"),
    ("id.rs", "ids, which only break ties"),
    ("driver/types/event.rs", "ids, which only break ties"),
    ("ctx/test.rs", "a context for unit tests"),
    ("enqueue/check.rs", "refuses an absolute start that no store can hold, a hundred years away"),
    ("driver/pg/enqueue.rs", "says in an answer whether a job of the same batch waits"),
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("the sources are there") {
        let path = entry.expect("the sources are listed").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// A process cannot be given another wall clock without privileges. Instead: nothing that runs jobs reads one, and so
/// none can reach the store.
#[test]
fn no_part_of_the_worker_reads_a_wall_clock() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../jobs-runtime/src"));
    let mut files = Vec::new();
    sources(root, &mut files);
    let reads = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a source is readable");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let clocks = ["Utc::now", "Local::now", "SystemTime", "now_v7", "now_utc"];
        code.into_iter().any(|line| clocks.iter().any(|clock| line.contains(clock)))
    };
    let in_testing = root.join("testing");
    let readers: Vec<String> = files
        .iter()
        .filter(|path| !path.starts_with(&in_testing) && reads(path))
        .map(|path| path.strip_prefix(root).expect("below the root").display().to_string())
        .collect();
    let unknown: Vec<_> = readers.iter().filter(|path| READERS.iter().all(|(known, _)| known != path)).collect();
    assert!(unknown.is_empty(), "the store's clock decides, but these read their own: {unknown:?}");
    for worker in ["worker/", "execute/", "commit/", "upkeep/", "settle"] {
        assert!(
            files
                .iter()
                .any(|path| path.strip_prefix(root).is_ok_and(|path| path.display().to_string().starts_with(worker)))
        );
        assert!(readers.iter().all(|reader| !reader.starts_with(worker)));
    }
}
