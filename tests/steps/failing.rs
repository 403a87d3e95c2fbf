//! A step that fails: what the job makes of it, and that every replay of the attempt sees the same.

use crate::log::{count, harness, note};
use jobs::{Outcome, failure::Stop, prelude::*};
use std::time::Duration;

#[derive(Debug, thiserror::Error, JobError)]
enum BankError {
    #[error("the card was declined")]
    #[job_error(code = "X_STEPS_DECLINED", title = "declined", retry = terminal, caller_fix = "use another card")]
    Declined,
}

#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error("the payment failed")]
    Payment(#[from] StepError),
}

/// Fails by a step, through an error type of its own.
#[job(tenant = none)]
async fn declined(ctx: &Ctx) -> Result<(), OrderError> {
    let (): () = step!(ctx, "charge", async { Err(BankError::Declined) }).await?;
    Ok(())
}

#[tokio::test]
async fn a_steps_failure_keeps_its_verdict_its_code_and_its_causes() {
    let (app, _) = harness!(declined);
    let run = app.run::<declined>(()).await;
    let error = run.error.expect("it failed");
    assert_eq!((run.outcome, run.stop), (Outcome::Dead, Some(Stop::Terminal)));
    assert_eq!((&*error.code, error.caller_fix.as_deref()), ("X_STEPS_DECLINED", Some("use another card")));
    assert_eq!(error.operator, "the payment failed: step `charge`: the card was declined");
}

/// Ignores the failure of a step, then sleeps.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn swallows(ctx: &Ctx) -> Result<u32, Failure> {
    let price: u32 = step!(ctx, "price", async {
        note(ctx, "price");
        // It would work the next time.
        if count(ctx, "price") == 1 { Err(Failure::retry("no answer")) } else { Ok(99) }
    })
    .await
    .unwrap_or_default();
    sleep!(ctx, "nap", "1h").await;
    note(ctx, format!("price {price}"));
    if ctx.attempt() == 1 && count(ctx, "retry") == 0 {
        note(ctx, "retry");
        return Err(Failure::retry("a new attempt"));
    }
    Ok(price)
}

#[tokio::test]
async fn a_failure_that_was_swallowed_stays_one_for_the_attempt_and_is_tried_again_by_the_next() {
    let (app, log) = harness!(swallows);
    let run = app.run::<swallows>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("1h");
    let run = app.attempt(run.job).await;
    assert_eq!(run.outcome, Outcome::Retried);
    assert_eq!(log.take(), ["price", "price 0", "retry"]);
    log.note("price");
    log.note("retry");
    app.clock().advance("1s");
    let run = app.attempt(run.job).await;
    assert_eq!(run.outcome, Outcome::Completed, "{run:?}");
    assert_eq!(app.output::<u32>(run.job).await, 99);
}

/// Panics in a step, at first.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn panics(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "bang", async {
        note(ctx, "bang");
        assert!(count(ctx, "bang") > 1, "the step broke");
        Ok(())
    })
    .await?;
    sleep!(ctx, "nap", "1h").await;
    Ok(())
}

#[tokio::test]
async fn a_panic_in_a_step_fails_the_attempt_and_the_next_one_runs_it_again() {
    let (app, _) = harness!(panics);
    let run = app.run::<panics>(()).await;
    let error = run.error.expect("it failed");
    assert_eq!((run.outcome, &*error.code), (Outcome::Retried, "X_JOB_PANIC"));
    assert!(error.operator.contains("the step broke"), "{}", error.operator);
    app.clock().advance("1s");
    let run = app.attempt(run.job).await;
    assert_eq!((run.outcome, run.steps_run), (Outcome::Parked, 1));
}

/// A panic that the body catches leaves nothing behind that would keep it from being parked.
#[job(tenant = none, allow(nondeterminism))]
async fn catches(ctx: &Ctx) -> Result<(), Failure> {
    let inner = ctx.clone();
    let task = tokio::spawn(async move {
        step!(&inner, "bang", async {
            if true {
                panic!("in a task of its own");
            }
            Ok(())
        })
        .await
    });
    assert!(task.await.is_err());
    sleep!(ctx, "nap", "1h").await;
    Ok(())
}

#[tokio::test]
async fn a_panic_that_is_caught_does_not_keep_the_run_from_being_parked() {
    let (app, _) = harness!(catches);
    let run = app.run::<catches>(()).await;
    assert_eq!(run.outcome, Outcome::Parked, "{run:?}");
    app.clock().advance("1h");
    assert_eq!(app.drain().await[0].outcome, Outcome::Completed);
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

/// Holds a value whose drop panics, while it sleeps.
#[job(tenant = none)]
async fn bomb(ctx: &Ctx) -> Result<(), Failure> {
    let bomb = Bomb;
    sleep!(ctx, "nap", "1h").await;
    std::mem::forget(bomb);
    Ok(())
}

#[tokio::test]
async fn a_panic_in_a_drop_while_the_run_is_parked_goes_no_further() {
    let (app, _) = harness!(bomb);
    let run = app.run::<bomb>(()).await;
    assert_eq!(run.outcome, Outcome::Parked, "{run:?}");
    app.clock().advance("1h");
    assert_eq!(app.drain().await[0].outcome, Outcome::Completed);
}

/// Ignores a failure that says when to come again, sleeps, and fails with it later.
#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("7s")))]
async fn busy_later(ctx: &Ctx) -> Result<(), Failure> {
    let asked: Result<(), StepError> = step!(ctx, "ask", async {
        note(ctx, "ask");
        Err(Failure::retry_after(Duration::from_secs(7_200), "too many requests"))
    })
    .await;
    sleep!(ctx, "nap", "1h").await;
    Ok(asked?)
}

#[tokio::test]
async fn a_swallowed_failure_that_says_when_to_come_again_still_says_so_after_a_park() {
    let (app, log) = harness!(busy_later);
    let run = app.run::<busy_later>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("1h");
    let run = app.attempt(run.job).await;
    assert_eq!((run.outcome, log.count("ask")), (Outcome::Retried, 1));
    assert_eq!(run.resume_after, Some(Duration::from_secs(3_600)), "at the time that it named, not by the backoff");
}
