//! SIGKILL at the claim, in the body, before the acknowledgement: what a dead worker held restarts in time.

use crate::{
    crash::Point,
    scene::{PATIENCE, Scene, Tally},
    support::role,
    worker::{self, Act, Task, work},
};
use chrono::{DateTime, Utc};
use jobs::{JobId, State, client::Cancelled};
use std::time::Duration;

/// How many jobs each worker holds when it is killed. All of them have one name, `pod-0`.
const HELD: i64 = 20;

fn tasks(from: i32) -> impl Iterator<Item = Task> {
    (from..from + HELD as i32).map(|n| Task { n, act: Act::Hold })
}

/// Lets a worker of one lease hold jobs, and kills it at the point, or in the midst of the bodies. Gives when.
async fn killed(scene: &Scene, at: Option<Point>, from: i32) -> (Vec<JobId>, DateTime<Utc>) {
    let mut victim = scene.worker().lease(5_000).set("CONCURRENCY", HELD);
    if let Some(point) = at {
        victim = victim.set("CRASH_AT", format!("{point:?}"));
    }
    let mut victim = victim.start();
    let jobs = scene.enqueue::<work>(tasks(from)).await;
    if at != Some(Point::Claimed) {
        scene.wait_for("start", &victim, HELD).await;
    }
    match at {
        Some(_) => {
            victim.open_gate();
            assert_eq!(victim.ended(Duration::from_secs(30)).await, None, "ended by a signal");
        }
        None => drop(victim.kill()),
    }
    let started = scene.logged("start", Some(victim.id())).await;
    assert_eq!(started, if at == Some(Point::Claimed) { 0 } else { HELD }, "at {at:?}");
    (jobs, scene.now().await)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_worker_held_that_was_killed_at_any_point_restarts_within_ten_seconds_at_a_lease_of_five() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    // All hold their jobs at once, since each has claimed before the next begins, and all are named `pod-0`.
    let in_the_body = killed(&scene, None, 0).await;
    let before_the_ack = killed(&scene, Some(Point::Finishing), 100).await;
    let after_the_ack = killed(&scene, Some(Point::Finished), 200).await;
    let at_the_claim = killed(&scene, Some(Point::Claimed), 300).await;

    let rescuer = scene.worker().lease(5_000).set("CONCURRENCY", 4 * HELD).start();
    rescuer.open_gate();
    scene.wait_for_all(Duration::from_secs(30)).await;

    let points = [
        ("at the claim", at_the_claim),
        ("in the body", in_the_body),
        ("before the ack", before_the_ack),
        ("after the ack", after_the_ack),
    ];
    for (point, (jobs, at)) in points {
        let waits = scene.waits(&jobs, at).await;
        let restarted = waits.len() as i64;
        if point == "after the ack" {
            assert!(restarted < HELD, "what was acknowledged is not done again");
        } else {
            assert_eq!(restarted, HELD, "each job held by the one killed {point} was started again");
        }
        print(&format!("killed {point}, lease 5 s"), &waits);
        assert!(waits.iter().all(|wait| *wait <= 10.0), "killed {point}: {waits:?}");
    }
    assert_eq!(scene.tally().await, Tally::all_well(4 * HELD));
    assert_eq!(scene.count("SELECT count(*) FROM log WHERE crashes > 1").await, 0, "each was counted as one crash");
    assert_eq!(scene.count("SELECT count(*) FROM jobs.workers").await, 1, "the dead workers' leases are gone");
}

fn print(what: &str, waits: &[f64]) {
    if let (Some(longest), Some(median)) = (waits.last(), waits.get(waits.len() / 2)) {
        println!("{what}: {} restarted, median {median:.1} s, longest {longest:.1} s", waits.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_orphans_restart_within_sixty_seconds_at_the_default_lease() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    let default = || scene.worker().lease(30_000).set("BEATS", 3).set("CONCURRENCY", HELD);
    let mut victim = default().start();
    let orphans = scene.enqueue::<work>(tasks(0)).await;
    scene.wait_for("start", &victim, HELD).await;
    victim.kill();
    let killed_at = scene.now().await;
    let rescuer = default().start();
    rescuer.open_gate();
    scene.wait_for_all(Duration::from_secs(80)).await;
    let waits = scene.waits(&orphans, killed_at).await;
    assert_eq!(waits.len() as i64, HELD);
    print("killed in the body, default lease", &waits);
    assert!(waits.iter().all(|wait| *wait <= 60.0), "{waits:?}");
    assert_eq!(scene.tally().await, Tally::all_well(HELD));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_in_its_drain_has_returned_what_had_not_begun_and_the_rest_is_rescued() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    let mut victim = scene.worker().lease(3_000).set("CONCURRENCY", 4).set("PREFETCH", 46).start();
    let jobs = scene.enqueue::<work>((0..50).map(|n| Task { n, act: Act::Hold })).await;
    scene.wait_for("start", &victim, 4).await;
    scene.wait_until(PATIENCE, "SELECT count(*) FROM jobs.running", 50).await;
    victim.terminate();
    scene.wait_until(PATIENCE, "SELECT count(*) FROM jobs.ready", 46).await;
    victim.kill();
    let killed_at = scene.now().await;

    let rescuer = scene.worker().lease(3_000).set("CONCURRENCY", 50).start();
    rescuer.open_gate();
    scene.wait_for_all(PATIENCE).await;
    assert_eq!(scene.waits(&jobs, killed_at).await.len(), 50);
    assert_eq!(scene.tally().await, Tally::all_well(50));
    let crashed = "SELECT count(*) FROM jobs.history WHERE crashes = 1";
    assert_eq!(scene.count(crashed).await, 4, "only what had begun was taken down");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_was_cancelled_while_its_worker_could_not_hear_is_not_started_again_after_the_worker_died() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    let mut victim = scene.worker().lease(2_000).start();
    let jobs = scene.enqueue::<work>((0..2).map(|n| Task { n, act: Act::Hold })).await;
    scene.wait_for("start", &victim, 2).await;
    victim.stop();
    assert_eq!(scene.jobs.cancel(jobs[0]).await.expect("it is stored"), Cancelled::Asked);
    victim.kill();

    let rescuer = scene.worker().lease(2_000).start();
    rescuer.open_gate();
    scene.wait_for_all(PATIENCE).await;
    assert_eq!(scene.tally().await, Tally { other: 1, ..Tally::all_well(1) });
    assert_eq!(scene.jobs.find(jobs[0]).await.expect("it is kept").state, State::Cancelled);
    assert_eq!(scene.logged("start", Some(rescuer.id())).await, 1);
}
