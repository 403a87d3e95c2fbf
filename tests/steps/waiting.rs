//! A run that waits holds nothing, and goes on when what it waits for has come.

use crate::log::{harness, note};
use jobs::{Outcome, State, prelude::*};
use std::time::Duration;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Shipped {
    parcel: u32,
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

/// Races an event against a sleep, then fails once.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn races(ctx: &Ctx) -> Result<String, Failure> {
    let winner = race!(ctx, "first of",
        event = wait_for!(ctx, "shipped", key = "k") => { let event: Result<Shipped, StepError> = event; format!("parcel {}", event?.parcel) },
        () = sleep!(ctx, "patience", "5s") => "time".to_owned(),
    )
    .await?;
    note(ctx, winner.clone());
    let is_new = patch!(ctx, "after the race").await?;
    note(ctx, format!("new: {is_new}"));
    if ctx.attempt() == 1 {
        return Err(Failure::retry("once more"));
    }
    Ok(winner)
}

#[tokio::test]
async fn who_won_a_race_is_decided_once() {
    let (app, log) = harness!(races);
    let run = app.run::<races>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    Shipped { parcel: 5 }.publish(app.jobs(), "k").await.expect("published");
    assert_eq!(app.drain().await[0].outcome, Outcome::Retried);
    // By now the time is up as well.
    app.clock().advance("1h");
    assert_eq!(app.drain().await[0].outcome, Outcome::Completed);
    assert_eq!(log.take(), ["parcel 5", "new: true", "parcel 5", "new: true"]);

    let (app, _) = harness!(races);
    let run = app.run::<races>(()).await;
    app.clock().advance("5s");
    assert_eq!(app.drain().await[0].outcome, Outcome::Retried);
    Shipped { parcel: 6 }.publish(app.jobs(), "k").await.expect("published");
    app.clock().advance("1s");
    app.drain().await;
    assert_eq!(app.output::<String>(run.job).await, "time");
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

/// A long step beside an event.
#[job(tenant = none)]
async fn event_beside_a_step(ctx: &Ctx) -> Result<u32, Failure> {
    Ok(race!(ctx, "first of",
        hung = step!(ctx, "hang", async { std::future::pending::<Result<(), Failure>>().await }) => { hung?; 0 },
        event = wait_for!(ctx, "shipped", key = "k") => { let event: Result<Shipped, StepError> = event; event?.parcel },
    )
    .await?)
}

#[tokio::test]
async fn an_event_is_found_while_a_step_is_under_way() {
    let (app, _) = harness!(event_beside_a_step);
    let job = app.jobs().enqueue::<event_beside_a_step>(()).await.expect("accepted").id();
    let publisher = app.jobs().clone();
    let publish = async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Shipped { parcel: 5 }.publish(&publisher, "k").await.expect("published");
    };
    let (runs, ()) = tokio::join!(app.drain(), publish);
    assert_eq!(runs[0].outcome, Outcome::Completed);
    assert_eq!(app.output::<u32>(job).await, 5);
}

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

/// Races a step against a reminder, goes on, and fails once.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("1s")))]
async fn reminds(ctx: &Ctx) -> Result<&'static str, Failure> {
    let first = race!(ctx, "first of",
        done = step!(ctx, "work", async { note(ctx, "work"); Ok(()) }) => { done?; "work" },
        () = sleep!(ctx, "reminder", "15s") => "reminder",
    )
    .await?;
    step!(ctx, "next", async {
        note(ctx, "next");
        Ok(())
    })
    .await?;
    if ctx.attempt() == 1 { Err(Failure::retry("once more")) } else { Ok(first) }
}

#[tokio::test]
async fn a_reminder_that_its_partner_made_needless_is_no_trouble_to_a_replay() {
    let (app, log) = harness!(reminds);
    let run = app.run::<reminds>(()).await;
    assert_eq!(run.outcome, Outcome::Retried);
    app.clock().advance("1m");
    app.drain().await;
    assert_eq!(app.output::<String>(run.job).await, "work");
    assert_eq!(log.take(), ["work", "next"]);
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
