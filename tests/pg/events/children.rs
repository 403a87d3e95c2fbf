//! A child's end and its parent's park, in every order.

use super::*;
use jobs::driver::{NewJob, StepKind, StepRef, StepStatus, StepWrite};

/// A claimed run that has spawned a child.
async fn spawned(stage: &Stage) -> (Claimed, JobId) {
    let parent = stage.claimed(1).await.remove(0);
    let child = NewJob { parent: Some(parent.fence.job), ..job() };
    let id = StepRef { name: "child".to_owned(), key: String::new() };
    let spawn = StepWrite::new(id, StepKind::Spawn, StepStatus::Started, 1);
    let child_id = child.id;
    let spawn = StepWrite { child: Some(Box::new(child)), ..spawn };
    let written = stage.worker.write(&parent, Change::Step(Box::new(spawn))).await;
    assert!(matches!(written, Written::Landed), "{written:?}");
    (parent, child_id)
}

/// Begins a transaction in which the child ends.
async fn ending(stage: &Stage, parent: JobId, child: JobId) -> Transaction<'static, Postgres> {
    let mut tx = stage.begin("READ COMMITTED").await;
    sqlx::query("SELECT jobs.end_run($1, $2, 4::int2, '1', NULL, NULL, NULL, NULL)")
        .bind(child.0)
        .bind(parent.0)
        .execute(&mut *tx)
        .await
        .expect("it ends");
    tx
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_has_ended_makes_its_parent_ready_at_once() {
    let stage = Stage::new().await;
    let (parent, child) = spawned(&stage).await;
    ending(&stage, parent.fence.job, child).await.commit().await.expect("a commit");
    stage.park(&parent, vec![Wait::Child(child)]).await;
    assert_eq!(stage.state(parent.fence.job).await, State::Ready);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_ends_after_the_park_makes_its_parent_ready_with_the_commit() {
    let stage = Stage::new().await;
    let (parent, child) = spawned(&stage).await;
    stage.park(&parent, vec![on("never"), Wait::Child(child)]).await;
    assert_eq!(stage.waits().await, (2, 0));
    let tx = ending(&stage, parent.fence.job, child).await;
    assert_eq!(stage.state(parent.fence.job).await, State::Suspended);
    tx.commit().await.expect("a commit");
    assert_eq!(stage.state(parent.fence.job).await, State::Ready);
    assert_eq!(stage.waits().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_is_about_to_end_during_the_park_is_looked_at_again() {
    let stage = Stage::new().await;
    let (parent, child) = spawned(&stage).await;
    let tx = ending(&stage, parent.fence.job, child).await;
    stage.park(&parent, vec![Wait::Child(child)]).await;
    assert_eq!((stage.waits().await, stage.wake().await), ((1, 1), 0));
    tx.commit().await.expect("a commit");
    assert_eq!(stage.wake().await, 1);
    assert_eq!(stage.state(parent.fence.job).await, State::Ready);
    assert!(!stage.unwoken().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_did_not_end_after_all_is_waited_for() {
    let stage = Stage::new().await;
    let (parent, child) = spawned(&stage).await;
    let tx = ending(&stage, parent.fence.job, child).await;
    stage.park(&parent, vec![Wait::Child(child)]).await;
    tx.rollback().await.expect("a rollback");
    assert_eq!(stage.wake().await, 0);
    assert!(!stage.unwoken().await);
    let claimed = stage.worker.claim_one().await;
    assert_eq!(claimed.fence.job, child);
    stage.worker.finish(&claimed, State::Completed).await;
    assert_eq!(stage.state(parent.fence.job).await, State::Ready);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_ends_in_a_transaction_of_one_snapshot_is_not_missed() {
    let stage = Stage::new().await;
    for level in ONE_SNAPSHOT {
        for parks_first in [true, false] {
            let (parent, child) = spawned(&stage).await;
            let mut tx = stage.begin(level).await;
            if parks_first {
                stage.park(&parent, vec![Wait::Child(child)]).await;
            }
            let cancel = sqlx::query_scalar("SELECT jobs.cancel_run($1, false, 60, 'X', '', NULL)").bind(child.0);
            let answer: i16 = cancel.fetch_one(&mut *tx).await.expect("it is cancelled");
            assert_eq!(answer, 0);
            tx.commit().await.expect("a commit");
            if !parks_first {
                stage.park(&parent, vec![Wait::Child(child)]).await;
            }
            let woken = stage.wake().await;
            assert_eq!(woken, u32::from(parks_first), "{level}, {parks_first}");
            assert_eq!(stage.state(parent.fence.job).await, State::Ready, "{level}, {parks_first}");
            assert_eq!(stage.waits().await, (0, 0), "{level}, {parks_first}");
            assert!(!stage.unwoken().await);
            run(stage.driver.pool(), "DELETE FROM jobs.ready").await;
        }
    }
}
