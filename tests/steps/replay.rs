//! A step whose record is written is never run again.

use crate::log::{count, harness, note};
use jobs::{Outcome, prelude::*};
use std::time::{Duration, Instant};

/// Two steps; the first run fails between them.
#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("1s")))]
async fn fails_between(ctx: &Ctx) -> Result<u32, Failure> {
    let first = step!(ctx, "first", async {
        note(ctx, "first");
        Ok(20)
    })
    .await?;
    note(ctx, "between");
    if ctx.attempt() == 1 {
        return Err(Failure::retry("not now"));
    }
    let second = step!(ctx, "second", async {
        note(ctx, "second");
        Ok(first + 1)
    })
    .await?;
    Ok(first + second)
}

#[tokio::test]
async fn a_retry_takes_the_output_of_a_step_that_is_done() {
    let (app, log) = harness!(fails_between);
    let first = app.run::<fails_between>(()).await;
    assert_eq!((first.outcome, first.steps_run, first.steps_replayed), (Outcome::Retried, 1, 0));
    app.clock().advance("1s");
    let second = app.attempt(first.job).await;
    assert_eq!((second.outcome, second.steps_run, second.steps_replayed), (Outcome::Completed, 1, 1));
    assert_eq!(app.output::<u32>(first.job).await, 41);
    assert_eq!(log.take(), ["first", "between", "between", "second"]);
}

/// As many steps as the input says, each told by its key; then all attempts but the last fail.
#[job(tenant = none, retry(max_attempts = 5, backoff = fixed("1s")))]
async fn many(ctx: &Ctx, input: u32) -> Result<u64, Failure> {
    let mut sum = 0;
    for number in 0..input {
        sum += step!(ctx, "add", key = number, async { Ok(u64::from(number)) }).await?;
    }
    if ctx.attempt() < 5 { Err(Failure::retry("once more")) } else { Ok(sum) }
}

#[tokio::test]
async fn a_run_of_a_thousand_steps_is_replayed_within_50_ms() {
    let (app, _) = harness!(many);
    let first = app.run::<many>(1_000).await;
    assert_eq!((first.steps_run, first.steps_replayed), (1_000, 0));
    let mut fastest = Duration::MAX;
    for _ in 2..=5 {
        app.clock().advance("1s");
        let began = Instant::now();
        let again = app.attempt(first.job).await;
        // The machine may do something else meanwhile, but not every time.
        fastest = fastest.min(began.elapsed());
        assert_eq!((again.steps_run, again.steps_replayed), (0, 1_000));
    }
    assert_eq!(app.output::<u64>(first.job).await, 499_500);
    assert!(fastest < Duration::from_millis(50), "{fastest:?}");
}

/// Polls a service that answers differently each time.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn polls(ctx: &Ctx) -> Result<Vec<usize>, Failure> {
    let mut answers = Vec::new();
    for turn in 0..5 {
        answers.push(
            step!(ctx, "poll", key = turn, async {
                note(ctx, "poll");
                Ok(count(ctx, "poll"))
            })
            .await?,
        );
    }
    if ctx.attempt() == 1 { Err(Failure::retry("once more")) } else { Ok(answers) }
}

#[tokio::test]
async fn each_turn_of_a_loop_keeps_its_own_output() {
    let (app, _) = harness!(polls);
    let first = app.run::<polls>(()).await;
    app.clock().advance("1s");
    app.attempt(first.job).await;
    assert_eq!(app.output::<Vec<usize>>(first.job).await, [1, 2, 3, 4, 5]);
}

/// Two steps at a time; the second of them fails at first.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn side_by_side(ctx: &Ctx) -> Result<u32, Failure> {
    let left = step!(ctx, "left", async {
        note(ctx, "left");
        tokio::task::yield_now().await;
        Ok(1)
    });
    let right = step!(ctx, "right", async {
        note(ctx, "right");
        if ctx.attempt() == 1 { Err(Failure::retry("not yet")) } else { Ok(2) }
    });
    let (left, right) = tokio::join!(left, right);
    Ok(left? + right?)
}

#[tokio::test]
async fn of_steps_side_by_side_only_the_one_that_failed_runs_again() {
    let (app, log) = harness!(side_by_side);
    let first = app.run::<side_by_side>(()).await;
    assert_eq!(first.outcome, Outcome::Retried);
    app.clock().advance("1s");
    let second = app.attempt(first.job).await;
    assert_eq!((second.steps_run, second.steps_replayed), (1, 1));
    assert_eq!(app.output::<u32>(first.job).await, 3);
    assert_eq!(log.take(), ["left", "right", "right"]);
}

#[tokio::test]
async fn a_requeued_job_goes_on_where_it_failed() {
    let (app, log) = harness!(dies_after_a_step);
    let run = app.run::<dies_after_a_step>(()).await;
    assert_eq!(run.outcome, Outcome::Dead);
    app.jobs().requeue(run.job).await.expect("it is dead");
    let again = app.attempt(run.job).await;
    assert_eq!((again.outcome, again.steps_run, again.steps_replayed), (Outcome::Completed, 1, 1));
    assert_eq!(log.take(), ["step", "fails", "fails"]);
}

#[job(tenant = none, retry(max_attempts = 1))]
async fn dies_after_a_step(ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "step", async {
        note(ctx, "step");
        Ok(())
    })
    .await?;
    step!(ctx, "fails", async {
        note(ctx, "fails");
        if count(ctx, "fails") == 1 { Err(Failure::retry("the first time")) } else { Ok(()) }
    })
    .await?;
    Ok(())
}
