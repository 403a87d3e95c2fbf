//! Jobs that block every thread of their runtime do not lose the lease, which is renewed on a thread of its own.

use super::is_full;
use crate::{
    scene::{Scene, Tally},
    support::role,
    worker::{self, Act, Task, work},
};
use std::time::Duration;

const LEASE: u64 = 3_000;
const THREADS: i32 = 2;

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_hold_all_threads_for_five_leases_are_not_rescued() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    // In the long form they also take the processor from the thread that renews.
    let act = if is_full() { Act::Spin(5 * LEASE) } else { Act::Block(5 * LEASE) };
    let blocked = scene.worker().lease(LEASE).set("THREADS", THREADS).start();
    let tasks = scene.enqueue::<work>((0..THREADS).map(|n| Task { n, act })).await;
    scene.wait_for("start", &blocked, tasks.len() as i64).await;
    let idle = scene.worker().lease(LEASE).start();
    scene.wait_for_all(Duration::from_secs(60)).await;
    assert_eq!(scene.logged("start", None).await, i64::from(THREADS), "each was started once");
    assert_eq!(scene.logged("start", Some(idle.id())).await, 0);
    assert_eq!(scene.tally().await, Tally::all_well(i64::from(THREADS)));
    let lease = scene.count("SELECT min(id) FROM jobs.workers").await;
    assert_eq!(lease, blocked.incarnation, "the lease that it began with");
    println!("{THREADS} jobs held {THREADS} threads for five leases of 3 s: one start each, the lease never lapsed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_blocks_one_thread_does_not_keep_the_other_from_its_work() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    let blocked = scene.worker().set("THREADS", 2).start();
    for n in 0..5 {
        scene.enqueue::<work>([Task { n: 2 * n, act: Act::Block(1_500) }]).await;
        scene.wait_for("start", &blocked, i64::from(2 * n) + 1).await;
        scene.enqueue::<work>([Task { n: 2 * n + 1, act: Act::Sleep(0) }]).await;
        scene.wait_for("end", &blocked, i64::from(2 * n) + 2).await;
    }
    let while_blocked = "
        SELECT count(*)
        FROM log AS other
        JOIN log AS blocking ON blocking.n = other.n - 1 AND blocking.event = 'end'
        WHERE other.n % 2 = 1
            AND other.event = 'end'
            AND other.at < blocking.at";
    assert_eq!(scene.count(while_blocked).await, 5);
}
