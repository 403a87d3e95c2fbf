//! SIGSTOP for three leases: others redo the work, and what the stopped worker writes late changes nothing.

use crate::{
    scene::{PATIENCE, Scene, Tally},
    support::{eventually_within, role},
    worker::{self, Act, Task, work},
};
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(2);
const RUNS: i64 = 60;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_stopped_for_three_leases_changes_nothing_and_works_on_as_a_new_incarnation() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    let worker = |name: &str| scene.worker().lease(LEASE.as_millis() as u64).set("CONCURRENCY", RUNS).set("NAME", name);
    let stopped = worker("stopped").start();
    // What it writes late: ends, hand-backs, failures, progress, and the renewals of its lease.
    let acts = [Act::Ignore, Act::Hold, Act::HoldThenFail, Act::Report];
    scene.enqueue::<work>((0..RUNS as i32).map(|n| Task { n, act: acts[n as usize % 4] })).await;
    scene.wait_for("start", &stopped, RUNS).await;
    scene.wait_until(PATIENCE, "SELECT count(*) FROM jobs.running WHERE progress IS NOT NULL", RUNS / 4).await;
    stopped.stop();
    let three_leases = scene.now().await + LEASE * 3;

    let other = worker("other").start();
    scene.wait_for("start", &other, RUNS).await;
    eventually_within(LEASE * 10, "three leases", async || (scene.now().await > three_leases).then_some(())).await;
    let before = scene.rows().await;
    assert_eq!(before.len() as i64, RUNS);

    stopped.open_gate();
    stopped.resume();
    scene.wait_until(PATIENCE, "SELECT count(*) FROM jobs.workers WHERE name = 'stopped'", 1).await;
    let anew = scene.count("SELECT max(id) FROM jobs.workers WHERE name = 'stopped'").await;
    assert!(anew > other.incarnation, "a lease that has lapsed is not renewed");
    // Its old runs are over: the new incarnation begins when they are gone.
    assert_eq!(scene.rows().await, before, "no late write changed a row");

    other.open_gate();
    scene.wait_for_all(PATIENCE).await;
    assert_eq!(scene.tally().await, Tally::all_well(RUNS));

    drop(other);
    scene.enqueue::<work>([Task { n: 99, act: Act::Sleep(0) }]).await;
    scene.wait_for_all(PATIENCE).await;
    let by_the_stopped = "SELECT count(*) FROM log WHERE n = 99 AND event = 'end'";
    assert_eq!(scene.count(by_the_stopped).await, 1);
    assert_eq!(scene.count("SELECT max(id) FROM jobs.workers WHERE name = 'stopped'").await, anew);
    assert_eq!(scene.tally().await, Tally::all_well(RUNS + 1));
}
