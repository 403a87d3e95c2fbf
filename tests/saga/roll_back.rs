//! An operator cancels a job and has it undo its steps.

use crate::world::{Fault, World, act, harness, undo};
use jobs::{
    CancelReason, JobId, Outcome,
    client::Cancelled,
    driver::Stage,
    failure::Stop,
    prelude::*,
    testing::{Harness, Rig},
};

/// A step, a nap, another step.
#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("1h")))]
async fn napping(ctx: &Ctx, pivots: bool) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    if pivots {
        pivot!(ctx).await?;
    }
    sleep!(ctx, "nap", "1h").await;
    step!(ctx, "b", async { act(ctx, "b").await }).await?;
    compensate!(ctx, "b", async move |ctx| { undo(ctx, "b").await });
    act(ctx, "end").await?;
    Ok(())
}

async fn refused(app: &Harness, job: JobId) -> String {
    app.jobs().roll_back(job).await.unwrap_err().code().name.to_owned()
}

#[tokio::test]
async fn a_job_that_has_not_begun_is_cancelled_at_once() {
    let world = World::default();
    let app = harness(&world);
    let ready = napping::enqueue(app.jobs(), false).await.unwrap().id();
    let delayed = napping::enqueue(app.jobs(), false).delay("1h").await.unwrap().id();
    for job in [ready, delayed] {
        assert_eq!(app.jobs().roll_back(job).await.unwrap(), Cancelled::AtOnce);
        assert_eq!(app.state_of(job).await, State::Cancelled);
    }
    assert!(app.drain().await.is_empty() && world.done().is_empty());
}

#[tokio::test]
async fn a_suspended_job_becomes_ready_undoes_its_steps_and_ends_as_cancelled() {
    let world = World::default();
    let app = harness(&world);
    let job = app.run::<napping>(false).await.job;
    assert_eq!(app.jobs().roll_back(job).await.unwrap(), Cancelled::Asked);
    let record = app.find(job).await;
    assert_eq!((record.state, record.stage), (State::Ready, Stage::Unwinding));
    let run = app.drain().await.remove(0);
    assert_eq!((run.outcome, run.stop), (Outcome::Cancelled, Some(Stop::Cancelled)));
    assert_eq!(world.done(), ["a", "undo a"]);
    let record = app.find(job).await;
    assert_eq!((record.state, &*record.failure.unwrap().code), (State::Cancelled, "X_JOB_CANCELLED"));
}

#[tokio::test]
async fn a_job_that_waits_for_its_next_attempt_undoes_what_the_last_one_did() {
    let world = World::default().fault("b", Fault::Fail, 1);
    let app = harness(&world);
    let job = app.run::<napping>(false).await.job;
    app.clock().advance("61m");
    assert_eq!(app.drain().await[0].outcome, Outcome::Retried);
    assert_eq!(app.jobs().roll_back(job).await.unwrap(), Cancelled::Asked);
    app.drain().await;
    assert_eq!(world.done(), ["a", "b", "undo a"]);
    assert_eq!(app.state_of(job).await, State::Cancelled);
}

#[tokio::test]
async fn a_job_that_undoes_its_steps_already_goes_on_with_it_and_keeps_its_failure() {
    let world = World::default().fault("end", Fault::Terminal, 1).fault("undo b", Fault::Fail, 1);
    let app = harness(&world);
    let job = app.run::<napping>(false).await.job;
    app.clock().advance("61m");
    assert_eq!(app.drain().await[0].outcome, Outcome::Retried);
    assert_eq!(app.jobs().roll_back(job).await.unwrap(), Cancelled::Asked);
    assert_eq!(app.jobs().cancel(job).await.unwrap(), Cancelled::Asked, "nor does a cancel change it");
    app.clock().advance("2h");
    app.drain().await;
    assert_eq!(world.undone(), ["undo b", "undo b", "undo a"]);
    let record = app.find(job).await;
    assert_eq!((record.state, &*record.failure.unwrap().code), (State::Dead, "X_ACT_REFUSED"));
}

#[tokio::test]
async fn a_job_past_its_pivot_is_refused_and_goes_forward() {
    let world = World::default();
    let app = harness(&world);
    let job = app.run::<napping>(true).await.job;
    assert_eq!(refused(&app, job).await, "X_JOB_STATE_REFUSED");
    app.clock().advance("61m");
    app.drain().await;
    assert_eq!(app.state_of(job).await, State::Completed);
}

#[tokio::test]
async fn a_failure_past_the_pivot_goes_forward_and_never_undoes_a_step() {
    let world = World::default().fault("b", Fault::Fail, 3);
    let app = harness(&world);
    let job = app.run::<napping>(true).await.job;
    for _ in 0..4 {
        app.clock().advance("61m");
        app.drain().await;
    }
    let record = app.find(job).await;
    assert_eq!((record.state, record.attempt), (State::Dead, 3), "it was retried like any other job");
    assert_eq!(world.done(), ["a", "b", "b", "b"]);
}

#[tokio::test]
async fn a_job_that_has_ended_or_is_not_stored_is_refused() {
    let world = World::default().fault("a", Fault::Terminal, 1);
    let app = harness(&world);
    let dead = app.run::<napping>(false).await.job;
    assert_eq!(refused(&app, dead).await, "X_JOB_STATE_REFUSED");
    let completed = app.run::<napping>(false).await.job;
    app.clock().advance("61m");
    app.drain().await;
    assert_eq!(refused(&app, completed).await, "X_JOB_STATE_REFUSED");
    assert_eq!(refused(&app, JobId::new()).await, "X_JOB_NOT_FOUND");
    assert!(world.undone().is_empty());
}

/// Waits for its cancellation in the middle of a step.
#[job(tenant = none)]
async fn busy(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    step!(ctx, "b", async {
        act(ctx, "b").await?;
        ctx.cancelled().await;
        act(ctx, format!("stopped for {:?}", ctx.cancel_reason())).await
    })
    .await?;
    compensate!(ctx, "b", async move |ctx| { undo(ctx, "b").await });
    step!(ctx, "c", async { act(ctx, "c").await }).await?;
    Ok(())
}

#[tokio::test]
async fn a_running_job_is_told_begins_no_further_step_and_undoes_what_it_did() {
    let (world, app) = (World::default(), harness(&World::default()));
    let worker = app.jobs().worker().state(world.clone()).start().await.unwrap();
    let job = busy::enqueue(app.jobs(), ()).await.unwrap().id();
    while !world.done().contains(&"b".to_owned()) {
        tokio::task::yield_now().await;
    }
    assert_eq!(app.jobs().roll_back(job).await.unwrap(), Cancelled::Asked);
    crate::support::eventually("the job is cancelled", || async {
        (app.state_of(job).await == State::Cancelled).then_some(())
    })
    .await;
    let told = format!("stopped for {:?}", Some(CancelReason::RollBack));
    assert_eq!(world.done(), ["a", "b", &told, "undo b", "undo a"]);
    worker.drain().await;
}

#[tokio::test]
async fn a_job_whose_worker_died_before_it_was_told_is_rolled_back_by_the_rescue() {
    let world = World::default().fault("end", Fault::Hang, 1);
    let app = harness(&world);
    let job = app.run::<napping>(false).await.job;
    app.clock().advance("61m");
    let rig = Rig::of(app.jobs()).state(world.clone()).start().await.unwrap();
    tokio::select! {
        ended = rig.next() => panic!("{ended:?}"),
        () = async { while !world.done().contains(&"end".to_owned()) { tokio::task::yield_now().await } } => {}
    }
    assert_eq!(app.jobs().roll_back(job).await.unwrap(), Cancelled::Asked);
    drop(rig);
    app.clock().advance("2h");
    app.jobs().driver().rescue().await.unwrap();
    app.drain().await;
    assert_eq!(world.undone(), ["undo b", "undo a"]);
    assert_eq!(app.state_of(job).await, State::Cancelled);
}

#[tokio::test]
async fn a_plain_cancel_of_a_suspended_job_undoes_nothing() {
    let world = World::default();
    let app = harness(&world);
    let job = app.run::<napping>(false).await.job;
    assert_eq!(app.jobs().cancel(job).await.unwrap(), Cancelled::AtOnce);
    assert!(app.drain().await.is_empty());
    assert_eq!((app.state_of(job).await, world.undone().len()), (State::Cancelled, 0));
}
