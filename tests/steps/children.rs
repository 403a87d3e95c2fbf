//! A run spawns other jobs, and waits for them or not.

use crate::log::{harness, note};
use jobs::{Outcome, State, prelude::*};

/// Adds one, unless it is given zero.
#[job(tenant = none, name = "steps.child", retry(max_attempts = 1))]
async fn child(ctx: &Ctx, input: u32) -> Result<u32, Failure> {
    note(ctx, "child");
    if input == 0 { Err(Failure::terminal("zero")) } else { Ok(input + 1) }
}

#[job(tenant = none)]
async fn fans_out(ctx: &Ctx, input: Vec<u32>) -> Result<u32, Failure> {
    let mut children = Vec::new();
    for (place, number) in input.into_iter().enumerate() {
        children.push(spawn!(ctx, "add", key = place, child, number).await?);
    }
    let mut sum = 0;
    for child in children {
        sum += child.join().await?;
    }
    Ok(sum)
}

#[tokio::test]
async fn a_run_waits_for_its_children_and_takes_their_outputs() {
    let (app, log) = harness!(fans_out, child);
    let run = app.run::<fans_out>(vec![1, 2, 3]).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.drain().await;
    assert_eq!(app.output::<u32>(run.job).await, 9);
    assert_eq!(log.count("child"), 3, "each child is spawned once");
}

#[tokio::test]
async fn a_child_that_fails_for_good_fails_its_parent_with_its_reason() {
    let (app, _) = harness!(fans_out, child);
    let run = app.run::<fans_out>(vec![0]).await;
    app.drain().await;
    let record = app.find(run.job).await;
    let failure = record.failure.expect("it failed");
    assert_eq!((record.state, &*failure.code), (State::Dead, "X_CHILD_FAILED"));
    assert!(failure.operator.contains("ended as dead: X_JOB_FAILED: zero"), "{}", failure.operator);
}

/// Spawns a child and does not wait for it.
#[job(tenant = none)]
async fn leaves_a_child(ctx: &Ctx) -> Result<(), Failure> {
    spawn!(ctx, "add", child, 4).await?;
    Ok(())
}

#[tokio::test]
async fn a_child_that_nobody_joins_outlives_its_parent() {
    let (app, log) = harness!(leaves_a_child, child);
    let run = app.run::<leaves_a_child>(()).await;
    assert_eq!(run.outcome, Outcome::Completed);
    let runs = app.drain().await;
    assert_eq!((runs.len(), runs[0].outcome, log.count("child")), (1, Outcome::Completed, 1));
    assert_eq!(app.find(runs[0].job).await.parent, Some(run.job));
}
