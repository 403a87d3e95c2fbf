//! Rolling restarts under load: nothing is lost, no attempt is burnt.

use super::is_full;
use crate::{
    scene::{PATIENCE, Scene, Tally},
    support::role,
    worker::{self, Act, Task, work},
};
use std::time::{Duration, Instant};

/// Jobs per restart: most are short, some are longer than the grace.
const LOAD: i32 = 30;

fn load(round: i32) -> impl Iterator<Item = Task> {
    (0..LOAD).map(move |n| {
        let millis = match n {
            0 => 1_500,
            1..=5 => 300,
            _ => 10,
        };
        Task { n: round * LOAD + n, act: Act::Sleep(millis) }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn rolling_restarts_under_load_lose_nothing_and_burn_no_attempt() {
    let restarts = if is_full() { 200 } else { 20 };
    let scene = Scene::new(role!("worker", worker::main)).await;
    let worker = || scene.worker().set("DRAIN_GRACE", "500ms").set("CANCEL_GRACE", "100ms").set("PREFETCH", 10);
    let begun = Instant::now();
    let mut fleet = [worker().start(), worker().start()];
    for round in 0..restarts {
        scene.enqueue::<work>(load(round)).await;
        let mut old = std::mem::replace(&mut fleet[round as usize % 2], worker().start());
        old.terminate();
        assert_eq!(old.ended(PATIENCE).await, Some(0), "restart {round}");
    }
    scene.wait_for_all(Duration::from_secs(60)).await;

    let jobs = i64::from(restarts * LOAD);
    let again = scene.count(
        "SELECT count(*) FROM (SELECT FROM log WHERE event = 'start' GROUP BY job HAVING count(*) > 1) AS again",
    );
    let (again, elapsed) = (again.await, begun.elapsed());
    println!("{restarts} rolling restarts in {elapsed:.0?}: {jobs} jobs, {again} handed back in their midst, 0 lost");
    assert_eq!(scene.tally().await, Tally::all_well(jobs));
    assert_eq!(scene.count("SELECT count(*) FROM jobs.history WHERE crashes > 0").await, 0);
}
