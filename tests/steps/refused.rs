//! Misuse is refused before it has any effect, naming the step.

use crate::log::{Log, harness, note};
use jobs::{Execution, Outcome, failure::Stop, prelude::*, testing::Harness};
use std::sync::atomic::Ordering::SeqCst;

fn assert_dead_with(run: &Execution, code: &str, text: &str) {
    let error = run.error.as_ref().expect("it failed");
    assert_eq!((run.outcome, run.stop), (Outcome::Dead, Some(Stop::Terminal)), "{error:?}");
    assert_eq!(error.code, code, "{error:?}");
    assert!(error.operator.contains(text), "{}", error.operator);
}

/// Uses one name in two helper fns, as two authors may.
#[job(tenant = none)]
async fn twice(ctx: &Ctx) -> Result<(), Failure> {
    helper(ctx).await?;
    helper(ctx).await?;
    Ok(())
}

async fn helper(ctx: &Ctx) -> Result<(), StepError> {
    step!(ctx, "same", async {
        note(ctx, "same");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn one_name_for_two_steps_fails_at_the_second_before_it_runs() {
    let (app, log) = harness!(twice);
    let run = app.run::<twice>(()).await;
    assert_dead_with(&run, "X_STEP_DUPLICATE", "step `same`");
    assert_dead_with(
        &run,
        "X_STEP_DUPLICATE",
        "in a loop or a fn that is called twice, tell them apart with `key = …`",
    );
    assert_eq!(log.take(), ["same"]);
}

/// Sleeps twice under one name, and ignores all that could be ignored.
#[job(tenant = none)]
async fn sleeps_twice(ctx: &Ctx) -> Result<(), Failure> {
    nap(ctx).await;
    nap(ctx).await;
    note(ctx, "went on");
    Ok(())
}

async fn nap(ctx: &Ctx) {
    sleep!(ctx, "nap", "1h").await;
}

#[tokio::test]
async fn one_name_for_two_sleeps_fails_the_run() {
    let (app, log) = harness!(sleeps_twice);
    let run = app.run::<sleeps_twice>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("1h");
    let run = app.attempt(run.job).await;
    assert_dead_with(&run, "X_STEP_DUPLICATE", "step `nap`");
    assert!(log.take().is_empty());
}

/// Begins a step in the body of another.
#[job(tenant = none)]
async fn nested(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "outer", inner(ctx)).await?;
    Ok(())
}

/// What `#[job]` cannot see: where both stand in one body, it does not compile.
async fn inner(ctx: &Ctx) -> Result<(), StepError> {
    step!(ctx, "inner", async {
        note(ctx, "inner");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_step_inside_a_step_is_refused_naming_both() {
    let (app, log) = harness!(nested);
    let run = app.run::<nested>(()).await;
    assert_dead_with(&run, "X_STEP_NESTED", "`inner` was begun inside the body of step `outer`");
    assert!(log.take().is_empty());
}

/// Begins steps with a name or key of the input's own.
#[job(tenant = none)]
async fn keyed(ctx: &Ctx, input: String) -> Result<(), Failure> {
    step!(ctx, "keyed", key = input, async {
        note(ctx, "ran");
        Ok(())
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn a_key_that_cannot_be_stored_is_refused_before_the_body() {
    for (key, text) in [("x".repeat(201), "its key is 201 bytes long, the limit is 200"), ("a\0b".into(), "NUL")] {
        let (app, log) = harness!(keyed);
        // A payload with NUL never gets here; one made on the way does.
        let ctx = Ctx::for_test(app.jobs()).state(log.clone()).build();
        let error = keyed(&ctx, key).await.expect_err("it is refused");
        assert_eq!(error.code_name(), "X_STEP_NAME_INVALID");
        assert!(error.to_string().contains(text), "{error}");
        assert!(log.take().is_empty());
    }
    let (app, log) = harness!(keyed);
    assert_eq!(app.run::<keyed>("x".repeat(200)).await.outcome, Outcome::Completed);
    assert_eq!(log.take(), ["ran"]);
}

/// Leaves a task behind that goes on with the context.
#[job(tenant = none, allow(nondeterminism))]
async fn leaves_a_task(ctx: &Ctx) -> Result<(), Failure> {
    let (ctx, log) = (ctx.clone(), ctx.state::<Log>()?.clone());
    tokio::spawn(async move {
        while !ctx.state::<Ended>().is_ok_and(|ended| ended.0.load(SeqCst)) {
            tokio::task::yield_now().await;
        }
        let late = step!(&ctx, "late", async { Ok(()) }).await;
        log.note(late.map_or_else(|error| error.failure().code_name().to_owned(), |()| "ran".to_owned()));
    });
    Ok(())
}

#[derive(Clone, Default)]
struct Ended(std::sync::Arc<std::sync::atomic::AtomicBool>);

#[tokio::test]
async fn a_step_after_the_end_of_its_run_is_refused() {
    let (app, log) = harness!(leaves_a_task);
    let ended = Ended::default();
    let app: Harness = app.state(ended.clone());
    assert_eq!(app.run::<leaves_a_task>(()).await.outcome, Outcome::Completed);
    ended.0.store(true, SeqCst);
    jobs::testing::eventually(|| async { log.count("X_STEP_OUTSIDE_RUN") == 1 }).await;
}
