//! A rolling deploy: a worker that does not know a kind frees what a dead one held, and decides nothing about it.

use crate::{
    scene::{PATIENCE, Scene, Tally},
    support::{eventually, role},
    worker::{self, Act, Task, kind_a, kind_b},
};
use jobs::State;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_does_not_know_the_kind_frees_a_dead_workers_job_and_another_reruns_it() {
    let scene = Scene::new(role!("worker", worker::main)).await;
    let knowing = |kind: &str| scene.worker().lease(2_000).set("ONLY", kind).start();
    let old = knowing("kind_a");
    let mut new = knowing("kind_b");
    let job = scene.enqueue::<kind_b>([Task { n: 1, act: Act::Hold }]).await[0];
    scene.wait_for("start", &new, 1).await;
    new.kill();

    let freed = eventually("the job is free", async || {
        let record = scene.jobs.find(job).await.expect("it is stored");
        (record.state == State::Ready).then_some(record)
    });
    let freed = freed.await;
    assert_eq!((freed.attempt, freed.crashes), (1, 1));
    assert!(freed.failure.is_none(), "{:?}", freed.failure);

    // The old worker goes by the job: it does its own kind's, which came later, again and again.
    for n in 10..15 {
        scene.enqueue::<kind_a>([Task { n, act: Act::Sleep(0) }]).await;
        scene.wait_for("end", &old, i64::from(n) - 9).await;
    }
    let passed_by = scene.jobs.find(job).await.expect("it is stored");
    assert_eq!((passed_by.state, passed_by.attempt, passed_by.crashes), (State::Ready, 1, 1));
    let counts = scene.jobs.counts().await.expect("jobs are counted");
    let waiting = counts.iter().find(|count| count.kind == "kind_b").expect("it is counted");
    assert!(!waiting.has_worker, "it is listed as a kind that no live worker knows");

    let again = knowing("kind_b");
    again.open_gate();
    scene.wait_for("end", &again, 1).await;
    scene.wait_for_all(PATIENCE).await;
    assert_eq!(scene.tally().await, Tally::all_well(6));
}
