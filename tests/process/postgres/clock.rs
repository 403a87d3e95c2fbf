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

/// Where the runtime may read a wall clock, and why it decides nothing there.
const READERS: [(&str, &str); 5] = [
    ("clock.rs", "the clock of the memory driver, which is a store, and of tests"),
    ("id.rs", "ids, which only break ties"),
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
