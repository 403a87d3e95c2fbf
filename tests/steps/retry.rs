//! Tries of a step's own, its timeout, and a step that must not run twice.

use crate::log::{count, harness, note};
use jobs::{Outcome, driver::StepStatus, failure::Stop, prelude::*};

/// Works at the third try, after short waits.
#[job(tenant = none, retry(max_attempts = 1))]
async fn short_waits(ctx: &Ctx) -> Result<usize, Failure> {
    Ok(step!(ctx, "try", retry(max_attempts = 3, backoff = fixed("1ms")), async {
        note(ctx, "try");
        if count(ctx, "try") < 3 { Err(Failure::retry("not yet")) } else { Ok(count(ctx, "try")) }
    })
    .await?)
}

#[tokio::test]
async fn short_waits_between_tries_pass_in_place() {
    let (app, _) = harness!(short_waits);
    let run = app.run::<short_waits>(()).await;
    assert_eq!(run.outcome, Outcome::Completed, "{run:?}");
    assert_eq!(app.output::<usize>(run.job).await, 3);
}

/// Fails whatever the try, with long waits; each attempt has its tries anew.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn long_waits(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "try", retry(max_attempts = 2, backoff = fixed("1h")), async {
        note(ctx, "try");
        Err::<(), _>(Failure::retry("never"))
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn long_waits_between_tries_park_the_run_and_each_attempt_has_its_own_tries() {
    let (app, log) = harness!(long_waits);
    let run = app.run::<long_waits>(()).await;
    assert_eq!(run.outcome, Outcome::Parked, "{run:?}");
    assert!(run.resume_after.is_some_and(|wait| wait.as_secs() > 1_790), "{run:?}");
    app.clock().advance("1h");
    assert_eq!(app.drain().await[0].outcome, Outcome::Retried);
    assert_eq!(log.count("try"), 2);
    app.clock().advance("1s");
    assert_eq!(app.drain().await[0].outcome, Outcome::Parked);
    app.clock().advance("1h");
    let last = app.drain().await.remove(0);
    assert_eq!((last.outcome, last.stop), (Outcome::Dead, Some(Stop::AttemptsExhausted)));
    assert_eq!(log.count("try"), 4);
}

/// Hangs in a step with a timeout.
#[job(tenant = none)]
async fn hangs(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hang", timeout = "20ms", async {
        std::future::pending::<()>().await;
        Ok(())
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn a_step_that_takes_too_long_fails_with_its_limit() {
    let (app, _) = harness!(hangs);
    let run = app.run::<hangs>(()).await;
    let error = run.error.expect("it failed");
    assert_eq!((run.outcome, &*error.code), (Outcome::Retried, "X_STEP_TIMEOUT"));
    assert_eq!(error.operator, "step `hang`: it ran longer than its timeout of 20ms");
}

/// What a `once` step does in its first run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum First {
    Panic,
    Fail,
    Hang,
}

#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("1s")))]
async fn charges(ctx: &Ctx, input: First) -> Result<u32, Failure> {
    Ok(step!(ctx, "charge", once, timeout = "20ms", async {
        note(ctx, "charge");
        match input {
            First::Panic => panic!("in the middle"),
            First::Fail => Err(Failure::retry("declined")),
            First::Hang => std::future::pending::<Result<u32, Failure>>().await,
        }
    })
    .await?)
}

#[tokio::test]
async fn a_once_step_that_left_no_result_parks_the_run_until_somebody_answers() {
    let (app, log) = harness!(charges);
    let run = app.run::<charges>(First::Panic).await;
    assert_eq!(run.outcome, Outcome::Retried);
    app.clock().advance("1s");
    let run = app.attempt(run.job).await;
    let reason = run.error.expect("a reason");
    assert_eq!((run.outcome, &*reason.code, run.resume_after), (Outcome::Parked, "X_STEP_UNKNOWN", None));
    assert!(reason.operator.starts_with("step `charge`: it began and left no result"), "{}", reason.operator);
    app.clock().advance("90d");
    assert!(app.drain().await.is_empty(), "nothing but an answer makes it go on");
    assert_eq!(log.count("charge"), 1);
}

#[tokio::test]
async fn a_once_step_that_ran_out_of_time_is_unknown_too() {
    let (app, log) = harness!(charges);
    let run = app.run::<charges>(First::Hang).await;
    let reason = run.error.expect("a reason");
    assert_eq!((run.outcome, &*reason.code), (Outcome::Parked, "X_STEP_UNKNOWN"));
    assert_eq!(log.count("charge"), 1);
}

#[tokio::test]
async fn a_once_step_that_failed_does_not_run_again() {
    let (app, log) = harness!(charges);
    let run = app.run::<charges>(First::Fail).await;
    assert_eq!((run.outcome, run.stop), (Outcome::Dead, Some(Stop::Terminal)));
    app.jobs().requeue(run.job).await.expect("it is dead");
    let again = app.attempt(run.job).await;
    assert_eq!((again.outcome, again.steps_replayed), (Outcome::Dead, 1));
    assert_eq!(log.count("charge"), 1);
}

/// Leaves a `once` step without a result, then meets it again beside another one that takes a while.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn side_by_side(ctx: &Ctx) -> Result<(), Failure> {
    let lost = step!(ctx, "lost", once, async {
        assert!(ctx.attempt() > 1, "in the middle");
        Ok(())
    });
    if ctx.attempt() == 1 {
        return Ok(lost.await?);
    }
    let slow = step!(ctx, "slow", once, async {
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        note(ctx, "slow");
        Ok(())
    });
    let (slow, (), lost) = tokio::join!(slow, sleep!(ctx, "nap", "1h"), lost);
    lost?;
    Ok(slow?)
}

#[tokio::test]
async fn a_step_under_way_ends_before_the_run_is_parked_for_another_ones_sake() {
    let (app, log) = harness!(side_by_side);
    let run = app.run::<side_by_side>(()).await;
    app.clock().advance("1s");
    let run = app.attempt(run.job).await;
    assert_eq!((run.outcome, run.error.map(|error| error.code).as_deref()), (Outcome::Parked, Some("X_STEP_UNKNOWN")));
    assert_eq!(log.take(), ["slow"]);
    let steps = app.jobs().history(run.job).await.expect("it is stored").steps;
    let status = |name: &str| steps.iter().find(|step| step.id.name == name).map(|step| step.status);
    assert_eq!(
        [status("lost"), status("slow"), status("nap")],
        [Some(StepStatus::Started), Some(StepStatus::Done), Some(StepStatus::Waiting)]
    );
}

/// Sleeps beside a step that must not run twice and runs out of time.
#[job(tenant = none)]
async fn sleeps_beside_an_unknown_step(ctx: &Ctx) -> Result<(), Failure> {
    let charge = step!(ctx, "charge", once, timeout = "50ms", async {
        std::future::pending::<()>().await;
        Ok(())
    });
    let nap = async { sleep!(ctx, "nap", "2h").await };
    let (charged, ()) = tokio::join!(charge, nap);
    Ok(charged?)
}

#[tokio::test]
async fn a_sleep_beside_a_step_of_which_nothing_is_known_keeps_its_time_and_does_not_resume_the_run() {
    let (app, _) = harness!(sleeps_beside_an_unknown_step);
    let run = app.run::<sleeps_beside_an_unknown_step>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("90m");
    app.jobs()
        .resolve_step(run.job, "charge", jobs::Resolution::done(&()).expect("it is stored"))
        .await
        .expect("it is open");
    assert_eq!(app.drain().await[0].outcome, Outcome::Parked, "it sleeps on");
    app.clock().advance("29m");
    assert!(app.drain().await.is_empty());
    app.clock().advance("1m");
    assert_eq!(app.drain().await[0].outcome, Outcome::Completed, "two hours after it began, not after the answer");

    let run = app.run::<sleeps_beside_an_unknown_step>(()).await;
    app.clock().advance("3h");
    assert!(app.drain().await.is_empty(), "its sleep is over, but nobody has answered");
    app.jobs()
        .resolve_step(run.job, "charge", jobs::Resolution::done(&()).expect("it is stored"))
        .await
        .expect("it is open");
    assert_eq!(app.drain().await[0].outcome, Outcome::Completed);
}
