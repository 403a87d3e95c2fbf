//! SIGTERM: nothing new, what has not begun goes back at once, runs may finish, the rest goes back uncounted, exit 0.

use crate::{
    scene::{PATIENCE, Scene, Tally},
    support::{Cluster, eventually, role},
    worker::{self, Act, Task, work},
};
use std::{
    future::ready,
    time::{Duration, Instant},
};

fn tasks(from: i32, count: i32, act: Act) -> impl Iterator<Item = Task> {
    (from..from + count).map(move |n| Task { n, act })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminated_worker_finishes_what_it_can_hands_the_rest_back_uncounted_and_exits_with_0() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    let worker = || scene.worker().lease(5_000).set("CONCURRENCY", 50).set("CANCEL_GRACE", "500ms");
    let mut first = worker().set("PREFETCH", 20).set("DRAIN_GRACE", "4s").set("NAME", "first").start();
    // Fifty runs: some end within the grace, some heed their cancellation, some ignore it, one even blocks a thread.
    scene.enqueue::<work>(tasks(0, 10, Act::Sleep(3_000))).await;
    let held = scene.enqueue::<work>(tasks(100, 34, Act::Hold)).await;
    let ignoring = scene.enqueue::<work>(tasks(200, 5, Act::Ignore)).await;
    scene.wait_for("start", &first, 49).await;
    // Alone: a body that a blocking one wakes is stuck with it on its thread.
    let blocking = scene.enqueue::<work>(tasks(300, 1, Act::Stall)).await;
    scene.wait_for("start", &first, 50).await;
    let unstarted = scene.enqueue::<work>(tasks(400, 20, Act::Sleep(0))).await;
    scene.wait_until(PATIENCE, "SELECT count(*) FROM jobs.running", 70).await;

    let (terminated_at, start) = (scene.now().await, Instant::now());
    first.terminate();
    scene.wait_until(PATIENCE, "SELECT count(*) FROM jobs.ready", 20).await;
    let returned = start.elapsed();
    let running = scene.count("SELECT count(*) FROM jobs.running").await;
    assert!(first.is_running() && running >= 40, "what had not begun goes back while {running} go on");

    let second = worker().set("CONCURRENCY", 100).set("NAME", "second").start();
    second.open_gate();
    scene.wait_for("end", &second, 20).await;
    assert_eq!(scene.waits(&unstarted, terminated_at).await.len(), 20, "they need not wait for the runs");
    assert_eq!(first.ended(PATIENCE).await, Some(0));
    let ended = start.elapsed();
    // The grace, that of a cancellation, the drop of a blocked body, and what a busy machine adds.
    assert!(ended < Duration::from_millis(4_000 + 500 + 1_000 + 5_000), "it ended after {ended:?}");
    scene.wait_for_all(PATIENCE).await;

    let handed_back = scene.waits(&[held, ignoring, blocking].concat(), terminated_at).await;
    assert_eq!(handed_back.len(), 40);
    let pick_up = handed_back[39] - ended.as_secs_f64();
    println!(
        "SIGTERM with 50 runs, grace 4 s: 20 unstarted back after {returned:.1?}, exit 0 after {ended:.1?}, the last of \
         40 handed back started elsewhere {pick_up:.1} s after the exit"
    );
    assert!(pick_up <= 5.0, "the last was started {pick_up} s after the exit");
    assert_eq!(scene.logged("start", Some(first.id())).await, 50, "nothing was started after the signal");
    assert_eq!(scene.logged("end", Some(first.id())).await, 10, "what could finish in time did");
    assert_eq!(scene.logged("start", Some(second.id())).await, 60, "and was not started again");
    assert_eq!(scene.tally().await, Tally::all_well(70));
    assert_eq!(scene.count("SELECT count(*) FROM jobs.history WHERE crashes > 0").await, 0, "no hand-back is a crash");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_the_grace() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    let mut worker = scene.worker().set("DRAIN_GRACE", "10m").start();
    scene.enqueue::<work>(tasks(0, 1, Act::Hold)).await;
    scene.wait_for("start", &worker, 1).await;
    worker.terminate();
    let draining = "SELECT count(*) FROM jobs.ready";
    scene.enqueue::<work>(tasks(1, 1, Act::Hold)).await;
    assert_eq!(scene.count(draining).await, 1);
    eventually("the end after more signals", || {
        worker.terminate();
        ready((!worker.is_running()).then_some(()))
    })
    .await;
    assert_eq!(worker.ended(PATIENCE).await, Some(0));
    assert_eq!(scene.count(draining).await, 2);
    assert_eq!(scene.logged("start", None).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_terminated_while_the_database_is_away_still_ends_and_its_jobs_run_later() {
    let role = role!("worker", worker::main);
    let cluster = Cluster::start();
    let scene = Scene::on(cluster.database(), role).await;
    let mut first = scene.worker().lease(5_000).set("DRAIN_GRACE", "1s").set("CANCEL_GRACE", "500ms").start();
    scene.enqueue::<work>(tasks(0, 5, Act::Hold)).await;
    scene.wait_for("start", &first, 5).await;
    cluster.stop_hard();
    let start = Instant::now();
    first.terminate();
    assert_eq!(first.ended(PATIENCE).await, Some(0));
    println!("SIGTERM with the database away: exit 0 after {:.1?}", start.elapsed());
    cluster.start_again();
    let second = scene.worker().lease(5_000).start();
    second.open_gate();
    scene.wait_for_all(PATIENCE).await;
    assert_eq!(scene.tally().await, Tally::all_well(5));
}
