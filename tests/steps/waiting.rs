//! A run that waits holds nothing, and goes on when what it waits for has come.

use crate::log::{harness, note};
use jobs::{Outcome, State, prelude::*};
use std::time::Duration;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shipped {
    pub(crate) parcel: u32,
}

impl Event for Shipped {
    const NAME: &'static str = "steps.shipped";
}

/// Sleeps for ninety days.
#[job(tenant = none, timeout = "1m")]
async fn sleeps(ctx: &Ctx) -> Result<u32, Failure> {
    step!(ctx, "before", async {
        note(ctx, "before");
        Ok(())
    })
    .await?;
    sleep!(ctx, "nap", "90d").await;
    note(ctx, "after");
    Ok(7)
}

#[tokio::test]
async fn a_sleep_of_ninety_days_parks_the_run_and_costs_its_timeout_nothing() {
    let (app, log) = harness!(sleeps);
    let run = app.run::<sleeps>(()).await;
    assert_eq!((run.outcome, run.attempt), (Outcome::Parked, 1));
    assert!(run.resume_after.is_some_and(|wait| wait > Duration::from_secs(90 * 86_400 - 60)), "{run:?}");
    assert_eq!(app.state_of(run.job).await, State::Suspended);
    app.clock().advance("89d");
    assert!(app.drain().await.is_empty());
    app.clock().advance("1d");
    let runs = app.drain().await;
    assert_eq!((runs[0].outcome, runs[0].attempt), (Outcome::Completed, 1));
    assert_eq!(log.take(), ["before", "after"]);
}

/// Draws a number, sleeps so long, and again.
#[job(tenant = none, allow(nondeterminism))]
async fn draws(ctx: &Ctx) -> Result<Vec<u64>, Failure> {
    let mut drawn = Vec::new();
    for turn in 0..3 {
        // Differs at each replay, as the rule says: the sleep keeps the time that it had first.
        let minutes = 1 + Uuid::now_v7().as_u128() as u64 % 50;
        note(ctx, "drawn");
        sleep!(ctx, "nap", key = turn, Duration::from_secs(60 * minutes)).await;
        drawn.push(step!(ctx, "turn", key = turn, async { Ok(minutes) }).await?);
    }
    Ok(drawn)
}

#[tokio::test]
async fn a_sleep_keeps_the_time_that_it_was_recorded_with() {
    let (app, log) = harness!(draws);
    let mut run = app.run::<draws>(()).await;
    for _ in 0..3 {
        assert_eq!(run.outcome, Outcome::Parked);
        let wait = run.resume_after.expect("it is due");
        app.clock().advance(wait - Duration::from_secs(5));
        assert!(app.drain().await.is_empty(), "not before its time");
        app.clock().advance("5s");
        run = app.drain().await.remove(0);
    }
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(log.count("drawn"), 1 + 2 + 3 + 3);
}

/// Waits for an order's parcel for three days.
#[job(tenant = none)]
async fn ships(ctx: &Ctx, input: u32) -> Result<Option<u32>, Failure> {
    note(ctx, "begins");
    let shipped: Option<Shipped> = wait_for!(ctx, "shipped", key = input, timeout = "3d").await?;
    Ok(shipped.map(|shipped| shipped.parcel))
}

#[tokio::test]
async fn an_event_that_comes_while_the_run_is_parked_wakes_it() {
    let (app, log) = harness!(ships);
    let run = app.run::<ships>(1).await;
    assert_eq!(run.outcome, Outcome::Parked);
    Shipped { parcel: 9 }.publish(app.jobs(), 2).await.expect("published");
    assert!(app.drain().await.is_empty(), "another order's");
    Shipped { parcel: 5 }.publish(app.jobs(), 1).await.expect("published");
    assert_eq!(app.drain().await.len(), 1);
    assert_eq!(app.output::<Option<u32>>(run.job).await, Some(5));
    assert_eq!(log.take(), ["begins", "begins"]);
}

/// Reminds once a day until the parcel is there; how often it did.
#[job(tenant = none)]
async fn reminds(ctx: &Ctx, order: u32) -> Result<(u32, u32), Failure> {
    let mut day = 0;
    loop {
        let shipped: Option<Shipped> = wait_for!(ctx, "shipped", key = day, event_key = order, timeout = "1d").await?;
        if let Some(shipped) = shipped {
            return Ok((day, shipped.parcel));
        }
        step!(ctx, "remind", key = day, async {
            note(ctx, "reminded");
            Ok(())
        })
        .await?;
        day += 1;
    }
}

#[tokio::test]
async fn a_wait_in_a_loop_is_told_apart_by_its_key_and_matched_by_its_event_key() {
    let (app, log) = harness!(reminds);
    let run = app.run::<reminds>(7).await;
    assert_eq!(run.outcome, Outcome::Parked);
    Shipped { parcel: 1 }.publish(app.jobs(), 0).await.expect("published");
    for _ in 0..2 {
        app.clock().advance("1d");
        assert_eq!(app.drain().await[0].outcome, Outcome::Parked);
    }
    Shipped { parcel: 5 }.publish(app.jobs(), 7).await.expect("published");
    app.drain().await;
    assert_eq!(app.output::<(u32, u32)>(run.job).await, (2, 5));
    assert_eq!(log.take(), ["reminded", "reminded"]);
}

#[tokio::test]
async fn an_event_that_came_before_the_wait_is_taken_at_once() {
    let (app, log) = harness!(ships);
    Shipped { parcel: 5 }.publish(app.jobs(), 1).await.expect("published");
    let run = app.run::<ships>(1).await;
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(app.output::<Option<u32>>(run.job).await, Some(5));
    assert_eq!(log.take(), ["begins"]);
}

#[tokio::test]
async fn a_wait_that_ran_out_gives_none_also_if_its_event_comes_later() {
    let (app, _) = harness!(ships);
    let run = app.run::<ships>(1).await;
    app.clock().advance("3d");
    Shipped { parcel: 5 }.publish(app.jobs(), 1).await.expect("published");
    assert_eq!(app.drain().await[0].outcome, Outcome::Completed);
    let record = app.find(run.job).await;
    assert_eq!(record.output.map(|output| output.as_str().to_owned()), None, "`None` is stored as nothing");
}

#[tokio::test]
async fn an_event_of_before_the_deadline_wins_also_if_the_run_goes_on_later() {
    let (app, _) = harness!(ships);
    let run = app.run::<ships>(1).await;
    app.clock().advance("2d");
    Shipped { parcel: 5 }.publish(app.jobs(), 1).await.expect("published");
    app.clock().advance("5d");
    app.drain().await;
    assert_eq!(app.output::<Option<u32>>(run.job).await, Some(5));
}

/// Takes two parcels in a row, and fails after the first, at first.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn ships_two(ctx: &Ctx) -> Result<(u32, u32), Failure> {
    let first: Shipped = wait_for!(ctx, "first", key = "k").await?;
    if ctx.attempt() == 1 {
        return Err(Failure::retry("not now"));
    }
    let second: Shipped = wait_for!(ctx, "second", key = "k").await?;
    Ok((first.parcel, second.parcel))
}

#[tokio::test]
async fn two_waits_take_two_events_in_their_order_and_a_retry_takes_none_again() {
    let (app, _) = harness!(ships_two);
    for parcel in [1, 2, 3] {
        Shipped { parcel }.publish(app.jobs(), "k").await.expect("published");
    }
    let run = app.run::<ships_two>(()).await;
    assert_eq!(run.outcome, Outcome::Retried);
    app.clock().advance("1s");
    assert_eq!(app.drain().await[0].outcome, Outcome::Completed);
    assert_eq!(app.output::<(u32, u32)>(run.job).await, (1, 2));
}

/// Two waits for one key, side by side.
#[job(tenant = none)]
async fn ships_both(ctx: &Ctx) -> Result<(u32, u32), Failure> {
    let (first, second): (Result<Shipped, _>, Result<Shipped, _>) =
        tokio::join!(wait_for!(ctx, "first", key = "k"), wait_for!(ctx, "second", key = "k"));
    Ok((first?.parcel, second?.parcel))
}

#[tokio::test]
async fn two_waits_side_by_side_never_take_one_event() {
    let (app, _) = harness!(ships_both);
    let run = app.run::<ships_both>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    Shipped { parcel: 1 }.publish(app.jobs(), "k").await.expect("published");
    assert_eq!(app.drain().await[0].outcome, Outcome::Parked, "the other one waits on");
    Shipped { parcel: 2 }.publish(app.jobs(), "k").await.expect("published");
    assert_eq!(app.drain().await[0].outcome, Outcome::Completed);
    assert_eq!(app.output::<(u32, u32)>(run.job).await, (1, 2));
}

/// Awaits something of its own beside a sleep: the runner must not let go of it.
#[job(tenant = none, allow(nondeterminism))]
async fn busy_otherwise(ctx: &Ctx) -> Result<&'static str, Failure> {
    let winner = tokio::select! {
        () = sleep!(ctx, "nap", "1h") => "sleep",
        () = tokio::time::sleep(Duration::from_millis(30)) => "timer",
    };
    note(ctx, winner);
    Ok(winner)
}

#[tokio::test]
async fn a_body_that_awaits_something_else_beside_a_wait_is_not_let_go_of() {
    let (app, log) = harness!(busy_otherwise);
    assert_eq!(app.run::<busy_otherwise>(()).await.outcome, Outcome::Completed);
    assert_eq!(log.take(), ["timer"]);
}

/// A step, an answer from a person, and a step that fails twice.
#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("1s")))]
async fn asks_a_person(ctx: &Ctx) -> Result<u32, Failure> {
    step!(ctx, "first", async {
        note(ctx, "first");
        Ok(())
    })
    .await?;
    let answer: Shipped = wait_for!(ctx, "answer", key = "k").await?;
    step!(ctx, "third", async {
        note(ctx, "third");
        if ctx.attempt() < 3 { Err(Failure::retry("not yet")) } else { Ok(()) }
    })
    .await?;
    Ok(answer.parcel)
}

#[tokio::test]
async fn retries_after_an_answer_repeat_neither_what_was_done_nor_the_question() {
    let (app, log) = harness!(asks_a_person);
    let run = app.run::<asks_a_person>(()).await;
    for parcel in [1, 2] {
        Shipped { parcel }.publish(app.jobs(), "k").await.expect("published");
    }
    for _ in 0..3 {
        app.drain().await;
        app.clock().advance("1s");
    }
    assert_eq!(app.output::<u32>(run.job).await, 1);
    assert_eq!(log.take(), ["first", "third", "third", "third"]);
}

/// Awaits a task of its own beside a sleep.
#[job(tenant = none, allow(nondeterminism))]
async fn task_beside_a_sleep(ctx: &Ctx) -> Result<(), Failure> {
    note(ctx, "begins");
    let log = ctx.state::<crate::log::Log>()?.clone();
    let task = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(30)).await;
        log.note("task");
    });
    let (task, ()) = tokio::join!(task, sleep!(ctx, "nap", "1h"));
    Ok(task?)
}

#[tokio::test]
async fn a_run_is_parked_only_after_what_it_awaits_beside_its_waits_is_done() {
    let (app, log) = harness!(task_beside_a_sleep);
    assert_eq!(app.run::<task_beside_a_sleep>(()).await.outcome, Outcome::Parked);
    assert_eq!(log.take(), ["begins", "task"]);
}

/// So many sleeps at once that each is polled with a waker of its own.
#[job(tenant = none)]
async fn many_sleeps(ctx: &Ctx) -> Result<(), Failure> {
    let sleeps = (0..40).map(|number| async move { sleep!(ctx, "nap", key = number, "1h").await });
    futures_util::future::join_all(sleeps).await;
    Ok(())
}

#[tokio::test]
async fn forty_sleeps_at_once_are_parked_and_over_at_once() {
    let (app, _) = harness!(many_sleeps);
    assert_eq!(app.run::<many_sleeps>(()).await.outcome, Outcome::Parked);
    app.clock().advance("1h");
    let runs = app.drain().await;
    assert_eq!((runs[0].outcome, runs[0].steps_replayed), (Outcome::Completed, 40));
}

/// Sleeps, and waits for a parcel, beside a step that fails at first.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("30m")))]
async fn naps_beside(ctx: &Ctx) -> Result<bool, Failure> {
    let work = step!(ctx, "work", async {
        tokio::time::sleep(Duration::from_millis(1_300)).await;
        if ctx.attempt() == 1 { Err(Failure::retry("not yet")) } else { Ok(()) }
    });
    let nap = async {
        sleep!(ctx, "nap", "1h").await;
        Ok(())
    };
    let parcel = async {
        let parcel: Option<Shipped> = wait_for!(ctx, "parcel", key = "k", timeout = "45m").await?;
        Ok(parcel.is_some())
    };
    tokio::try_join!(work, nap, parcel).map(|(_, (), came)| came).map_err(|error: StepError| Failure::from(error))
}

#[tokio::test]
async fn the_times_of_a_sleep_and_a_wait_beside_a_step_outlast_the_failure_of_the_attempt() {
    let (app, _) = harness!(naps_beside);
    let run = app.run::<naps_beside>(()).await;
    assert_eq!(run.outcome, Outcome::Retried);
    app.clock().advance("30m");
    let run = app.drain().await.remove(0);
    assert_eq!((run.outcome, run.resume_after), (Outcome::Parked, Some(Duration::from_secs(15 * 60))));
    app.clock().advance("15m");
    let run = app.drain().await.remove(0);
    assert_eq!((run.outcome, run.resume_after), (Outcome::Parked, Some(Duration::from_secs(15 * 60))));
    app.clock().advance("15m");
    assert_eq!(app.drain().await[0].outcome, Outcome::Completed);
    assert!(!app.output::<bool>(run.job).await);
}
