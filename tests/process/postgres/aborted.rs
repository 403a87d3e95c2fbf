//! A job that takes its process down is quarantined after three deaths; what ran beside it is done.

use crate::{
    scene::{LIVE, Scene, Tally},
    support::{eventually_within, role},
    worker::{self, Act, Task, fragile},
};
use jobs::State;
use std::time::Duration;

const INNOCENTS: i32 = 8;

/// Runs the job beside innocent ones, one worker after another, until all have ended. Gives how many workers died.
async fn deaths(scene: &Scene, act: Act) -> u32 {
    let start = || scene.worker().lease(2_000).set("CONCURRENCY", 20).spawn();
    let killer = scene.enqueue::<fragile>([Task { n: 0, act }]).await[0];
    scene.enqueue::<fragile>((1..=INNOCENTS).map(|n| Task { n, act: Act::Sleep(600) })).await;

    let mut worker = start();
    let mut deaths = 0;
    // The supervisor of a process: what ends is started again.
    eventually_within(Duration::from_secs(90), "no job is live", || {
        if !worker.is_running() {
            deaths += 1;
            worker = start();
        }
        let live = scene.count(LIVE);
        async move { (live.await == 0).then_some(()) }
    })
    .await;

    let dead = scene.jobs.find(killer).await.expect("it is kept");
    let failure = dead.failure.expect("its failure is recorded");
    assert_eq!((dead.state, dead.attempt, dead.crashes), (State::Dead, 1, 3));
    assert_eq!(failure.code, "X_JOB_QUARANTINED");
    assert_eq!(scene.logged("mourn", Some(worker.id())).await, 1, "its follow-up ran");
    // The innocents and the follow-up.
    let completed = i64::from(INNOCENTS) + 1;
    assert_eq!(scene.tally().await, Tally { dead: 1, ..Tally::all_well(completed) });
    deaths
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_aborts_its_process_is_quarantined_after_three_deaths_and_its_neighbours_complete() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    assert_eq!(deaths(&scene, Act::Abort(300)).await, 3, "the quarantined job took no fourth process down");
    let beside = "SELECT count(DISTINCT n) FROM log WHERE n > 0 AND event = 'start' AND crashes = 0";
    assert_eq!(scene.count(beside).await, i64::from(INNOCENTS), "each had run beside it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_aborts_before_anything_else_takes_no_neighbour_into_quarantine() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    assert_eq!(deaths(&scene, Act::AbortAtOnce).await, 3);
}
