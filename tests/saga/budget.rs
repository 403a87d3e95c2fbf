//! Compensations that fail: their own tries, their waits, and what an operator can do once these are spent.

use crate::world::{Fault, World, act, harness, to_its_end, undo};
use jobs::{Outcome, driver::StepStatus, prelude::*};
use std::time::Duration;

/// One attempt for the job, three tries for `b`, the job's one for `a` and `c`.
#[job(tenant = none, retry(max_attempts = 1, backoff = fixed("5s")))]
async fn three(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    step!(ctx, "b", async { act(ctx, "b").await }).await?;
    compensate!(ctx, "b", timeout = "200ms", retry(max_attempts = 3, backoff = fixed("20s")), async move |ctx| {
        undo(ctx, "b").await
    });
    step!(ctx, "c", async { act(ctx, "c").await }).await?;
    compensate!(ctx, "c", async move |ctx| { undo(ctx, "c").await });
    Err(Failure::terminal("no").code("X_NO_ROOM"))
}

#[tokio::test]
async fn a_compensation_that_fails_hands_the_run_back_under_the_same_attempt_and_keeps_its_failure() {
    let world = World::default().fault("undo b", Fault::Fail, 1);
    let app = harness(&world);
    let run = app.run::<three>(()).await;
    assert_eq!(run.outcome, Outcome::Retried);
    assert_eq!(run.resume_after, Some(Duration::from_secs(20)));
    assert_eq!(run.error.unwrap().operator, "undo b failed");
    let record = app.find(run.job).await;
    assert_eq!((record.state, record.attempt), (State::Delayed, 1));
    assert_eq!(record.failure.unwrap().code, "X_NO_ROOM", "the failure that it unwinds from");
}

#[tokio::test]
async fn the_next_claim_goes_on_with_the_compensation_that_failed_and_repeats_none_that_is_done() {
    let world = World::default().fault("undo b", Fault::Fail, 1);
    let app = harness(&world);
    let run = app.run::<three>(()).await;
    app.clock().advance("20s");
    let again = app.drain().await;
    assert_eq!(again[0].outcome, Outcome::Dead);
    assert_eq!(world.done(), ["a", "b", "c", "undo c", "undo b", "undo b", "undo a"]);
    assert_eq!(app.find(run.job).await.failure.unwrap().code, "X_NO_ROOM");
}

#[tokio::test]
async fn a_compensation_has_its_own_tries_although_the_job_has_spent_its_own() {
    let world = World::default().fault("undo b", Fault::Fail, 2);
    let app = harness(&world);
    let run = app.run::<three>(()).await;
    to_its_end(&app, run.job).await;
    assert_eq!(world.undone(), ["undo c", "undo b", "undo b", "undo b", "undo a"]);
}

#[tokio::test]
async fn a_compensation_without_a_retry_of_its_own_has_the_jobs() {
    let world = World::default().fault("undo c", Fault::Fail, 1);
    let app = harness(&world);
    let run = app.run::<three>(()).await;
    assert_eq!(run.outcome, Outcome::Dead);
    assert_eq!(app.find(run.job).await.failure.unwrap().code, "X_JOB_COMPENSATION_FAILED");
}

/// A saga whose compensation of `b` has failed for good.
async fn stuck(world: &World) -> (jobs::testing::Harness, jobs::JobId) {
    let app = harness(world);
    let run = app.run::<three>(()).await;
    let record = to_its_end(&app, run.job).await;
    assert_eq!(record.failure.unwrap().code, "X_JOB_COMPENSATION_FAILED");
    (app, run.job)
}

#[tokio::test]
async fn a_spent_budget_ends_in_a_list_of_what_is_undone_and_what_is_not() {
    let world = World::default().fault("undo b", Fault::Fail, 3);
    let (app, job) = stuck(&world).await;
    let record = app.find(job).await;
    assert_eq!(record.state, State::Dead);
    assert_eq!(
        record.failure.unwrap().operator,
        "the compensation of `b` failed 3 times, at last: undo b failed; not undone: `b`, `a`; undone: `c`; it unwound from \
         X_NO_ROOM: no"
    );
    assert_eq!(world.undone(), ["undo c", "undo b", "undo b", "undo b"], "those behind it did not run");
}

#[tokio::test]
async fn resumed_it_goes_on_with_all_of_its_tries_and_ends_with_the_failure_that_it_unwound_from() {
    let world = World::default().fault("undo b", Fault::Fail, 5);
    let (app, job) = stuck(&world).await;
    app.jobs().resume(job).await.unwrap();
    let record = to_its_end(&app, job).await;
    assert_eq!((record.state, &*record.failure.unwrap().code), (State::Dead, "X_NO_ROOM"));
    assert_eq!(world.undone()[4..], ["undo b", "undo b", "undo b", "undo a"]);
}

#[tokio::test]
async fn a_skipped_compensation_does_not_run_and_is_listed_as_skipped() {
    let world = World::default().fault("undo b", Fault::Fail, 3).fault("undo a", Fault::Terminal, 1);
    let (app, job) = stuck(&world).await;
    app.jobs().skip_undo(job, "b").await.unwrap();
    app.jobs().resume(job).await.unwrap();
    let record = to_its_end(&app, job).await;
    assert_eq!(
        record.failure.unwrap().operator,
        "the compensation of `a` failed once: undo a failed for good; not undone: `a`; undone: `c`; skipped: `b`; it \
         unwound from X_NO_ROOM: no"
    );
}

#[tokio::test]
async fn a_step_that_was_undone_by_hand_is_passed_over() {
    let world = World::default().fault("undo b", Fault::Fail, 3);
    let (app, job) = stuck(&world).await;
    app.jobs().mark_undone(job, "b").await.unwrap();
    app.jobs().resume(job).await.unwrap();
    let record = to_its_end(&app, job).await;
    assert_eq!(record.failure.unwrap().code, "X_NO_ROOM");
    assert_eq!(world.undone(), ["undo c", "undo b", "undo b", "undo b", "undo a"]);
}

#[tokio::test]
async fn what_is_undone_or_was_never_begun_cannot_be_answered_for() {
    let world = World::default().fault("undo b", Fault::Fail, 3);
    let (app, job) = stuck(&world).await;
    for step in ["c", "unheard of"] {
        let error = app.jobs().skip_undo(job, step).await.unwrap_err();
        assert_eq!(error.code().name, "X_STEP_NOT_FOUND");
    }
    let error = app.jobs().mark_undone(job, ("b", "another key")).await.unwrap_err();
    assert_eq!(error.code().name, "X_STEP_NOT_FOUND");
    let error = app.jobs().resume(jobs::JobId::new()).await.unwrap_err();
    assert_eq!(error.code().name, "X_JOB_NOT_FOUND");
}

#[tokio::test]
async fn requeued_it_begins_anew_with_other_idempotency_keys() {
    let world = World::default().fault("undo b", Fault::Fail, 3);
    let (app, job) = stuck(&world).await;
    app.jobs().requeue(job).await.unwrap();
    to_its_end(&app, job).await;
    assert_eq!(world.done().iter().filter(|act| *act == "a").count(), 2, "the first step runs again");
    assert_eq!(world.undone()[4..], ["undo c", "undo b", "undo a"]);
}

#[tokio::test]
async fn a_compensation_that_says_that_no_try_can_mend_it_ends_the_unwinding_at_once() {
    let world = World::default().fault("undo b", Fault::Terminal, 1);
    let (_, _) = stuck(&world).await;
    assert_eq!(world.undone(), ["undo c", "undo b"]);
}

#[tokio::test]
async fn a_panic_in_a_compensation_is_a_failed_try() {
    let world = World::default().fault("undo b", Fault::Panic, 1);
    let app = harness(&world);
    let run = app.run::<three>(()).await;
    assert_eq!(run.error.unwrap().code, "X_JOB_PANIC");
    let record = to_its_end(&app, run.job).await;
    assert_eq!(record.failure.unwrap().code, "X_NO_ROOM");
    assert_eq!(world.undone(), ["undo c", "undo b", "undo b", "undo a"]);
}

#[tokio::test(start_paused = true)]
async fn a_compensation_that_runs_longer_than_its_timeout_is_a_failed_try() {
    let world = World::default().fault("undo b", Fault::Hang, 1);
    let app = harness(&world);
    let run = app.run::<three>(()).await;
    let failure = run.error.unwrap();
    assert_eq!((run.outcome, &*failure.code), (Outcome::Retried, "X_STEP_TIMEOUT"));
    to_its_end(&app, run.job).await;
    assert_eq!(world.undone(), ["undo c", "undo b", "undo b", "undo a"]);
}

/// Has little time for each of its runs.
#[job(tenant = none, timeout = "1s", retry(max_attempts = 2, backoff = fixed("5s")))]
async fn brief(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    act(ctx, "end").await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_the_job_bounds_each_run_that_unwinds_and_counts_for_the_compensation_under_way() {
    let world = World::default().fault("end", Fault::Terminal, 1).fault("undo a", Fault::Hang, 1);
    let app = harness(&world);
    let run = app.run::<brief>(()).await;
    assert_eq!((run.outcome, &*run.error.unwrap().code), (Outcome::Retried, "X_JOB_TIMEOUT"));
    let records = app.jobs().steps(run.job).await.unwrap();
    let undo = records.last().unwrap();
    assert_eq!((undo.status, undo.tries), (StepStatus::Tried, 1));
    let record = to_its_end(&app, run.job).await;
    assert_eq!(record.failure.unwrap().code, "X_ACT_REFUSED");
    assert_eq!(world.undone(), ["undo a", "undo a"]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_ran_out_of_time_for_the_last_time_is_undone() {
    let world = World::default().fault("end", Fault::Hang, 2);
    let app = harness(&world);
    let run = app.run::<brief>(()).await;
    assert_eq!(run.outcome, Outcome::Retried);
    let record = to_its_end(&app, run.job).await;
    assert_eq!(record.failure.unwrap().code, "X_JOB_TIMEOUT");
    assert_eq!(world.undone(), ["undo a"]);
}

/// Tells its idempotency keys, and looks for another way to end its job.
#[job(tenant = none, retry(max_attempts = 4, backoff = fixed("1s")))]
async fn odd(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| {
        let key = ctx.idempotency_key("undo a");
        undo(ctx, &key).await?;
        let tries = ctx.state::<World>()?.undone().len();
        match tries {
            1 => Err(Failure::snooze(Duration::from_secs(1))),
            2 => Err(Failure::discard("not wanted")),
            3 => Err(Failure::cancel("not wanted")),
            _ => Ok(()),
        }
    });
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn each_try_of_a_compensation_has_the_same_idempotency_key() {
    let world = World::default();
    let app = harness(&world);
    let run = app.run::<odd>(()).await;
    to_its_end(&app, run.job).await;
    let keys = world.undone();
    assert_eq!(keys.len(), 4);
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}

#[tokio::test]
async fn a_compensation_cannot_end_its_job_and_one_that_asks_for_time_is_not_counted() {
    let app = harness(&World::default());
    let run = app.run::<odd>(()).await;
    assert_eq!(run.outcome, Outcome::Retried);
    let record = to_its_end(&app, run.job).await;
    assert_eq!((record.state, &*record.failure.unwrap().operator), (State::Dead, "no"));
    let records = app.jobs().steps(run.job).await.unwrap();
    assert_eq!(records.last().unwrap().tries, 2, "the snooze was none");
}

/// Begins a step where the macro cannot see it.
async fn between(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "in between", async { act(ctx, "in between").await }).await?;
    Ok(())
}

/// Begins a step where none may stand.
#[job(tenant = none)]
async fn inside(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", retry(max_attempts = 1, backoff = fixed("1s")), async move |ctx| { between(ctx).await });
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn a_step_in_a_compensation_is_refused_and_named() {
    let world = World::default();
    let app = harness(&world);
    let run = app.run::<inside>(()).await;
    let failure = app.find(run.job).await.failure.unwrap();
    assert_eq!(failure.code, "X_JOB_COMPENSATION_FAILED");
    assert!(failure.operator.contains("step `in between`"), "{failure:?}");
    assert_eq!(world.done(), ["a"]);
}
