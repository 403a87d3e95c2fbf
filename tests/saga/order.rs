//! When a job undoes its steps, which of them, and in which order.

use crate::world::{Fault, World, act, harness, to_its_end, undo};
use jobs::{Outcome, failure::Stop, prelude::*};

/// Books three things, each with its compensation.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("10s")))]
async fn trip(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let hotel: String = step!(ctx, "hotel", async { act(ctx, "hotel").await }).await?;
    compensate!(ctx, "hotel", [hotel], async move |ctx| { undo(ctx, hotel).await });
    let flight: String = step!(ctx, "flight", async { act(ctx, "flight").await }).await?;
    compensate!(ctx, "flight", [flight], async move |ctx| { undo(ctx, flight).await });
    let car: String = step!(ctx, "car", async { act(ctx, "car").await }).await?;
    compensate!(ctx, "car", [car], async move |ctx| { undo(ctx, car).await });
    act(ctx, "end").await?;
    Ok(())
}

#[tokio::test]
async fn a_job_that_fails_for_good_undoes_its_steps_the_last_first_and_only_then_is_dead() {
    let world = World::default().fault("car", Fault::Terminal, 1);
    let app = harness(&world);
    let run = app.run::<trip>(()).await;
    assert_eq!((run.outcome, run.stop), (Outcome::Dead, Some(Stop::Terminal)));
    assert_eq!(world.done(), ["hotel", "flight", "car", "undo flight!", "undo hotel!"]);
    let record = app.find(run.job).await;
    assert_eq!((record.state, record.attempt), (State::Dead, 1));
}

#[tokio::test]
async fn the_failure_that_it_unwound_from_is_still_its_failure() {
    let app = harness(&World::default().fault("car", Fault::Terminal, 1));
    let run = app.run::<trip>(()).await;
    let failure = app.find(run.job).await.failure.unwrap();
    assert_eq!(failure.code, "X_ACT_REFUSED");
    assert_eq!(failure.operator, "step `car`: car failed for good");
    assert_eq!(run.error.unwrap(), failure);
}

#[tokio::test]
async fn a_retryable_failure_undoes_nothing_until_the_attempts_are_exhausted() {
    let world = World::default().fault("car", Fault::Fail, 2);
    let app = harness(&world);
    let run = app.run::<trip>(()).await;
    assert_eq!(run.outcome, Outcome::Retried);
    assert_eq!(world.done(), ["hotel", "flight", "car"]);
    app.clock().advance("10s");
    let run = app.attempt(run.job).await;
    assert_eq!((run.outcome, run.stop), (Outcome::Dead, Some(Stop::AttemptsExhausted)));
    assert_eq!(world.done()[3..], ["car", "undo flight!", "undo hotel!"]);
    assert_eq!(app.find(run.job).await.failure.unwrap().code, "X_ACT_FAILED");
}

#[tokio::test]
async fn a_failure_of_the_body_itself_undoes_all_of_its_steps() {
    let world = World::default().fault("end", Fault::Terminal, 1);
    let app = harness(&world);
    app.run::<trip>(()).await;
    assert_eq!(world.undone(), ["undo car!", "undo flight!", "undo hotel!"]);
}

#[tokio::test]
async fn a_panic_of_the_body_on_its_last_attempt_undoes_its_steps_and_stays_the_failure() {
    let world = World::default().fault("end", Fault::Panic, 2);
    let app = harness(&world);
    let run = app.run::<trip>(()).await;
    let record = to_its_end(&app, run.job).await;
    assert_eq!(world.undone(), ["undo car!", "undo flight!", "undo hotel!"]);
    assert_eq!(record.failure.unwrap().code, "X_JOB_PANIC");
}

#[tokio::test]
async fn a_job_that_completes_undoes_nothing() {
    let world = World::default();
    let run = harness(&world).run::<trip>(()).await;
    assert_eq!(run.outcome, Outcome::Completed);
    assert!(world.undone().is_empty());
}

#[tokio::test]
async fn a_saga_that_failed_before_any_step_is_dead_at_once_and_is_never_run_again() {
    let world = World::default().fault("hotel", Fault::Terminal, 1);
    let app = harness(&world);
    let run = app.run::<trip>(()).await;
    assert_eq!(app.state_of(run.job).await, State::Dead);
    for _ in 0..10 {
        app.clock().advance("1m");
        app.jobs().driver().rescue().await.unwrap();
        assert!(app.drain().await.is_empty());
    }
    assert_eq!(world.done(), ["hotel"]);
}

#[tokio::test]
async fn each_compensation_is_recorded_behind_its_step() {
    let app = harness(&World::default().fault("car", Fault::Terminal, 1));
    let run = app.run::<trip>(()).await;
    let records = app.jobs().steps(run.job).await.unwrap();
    let names: Vec<_> = records.iter().map(|record| format!("{:?} {}", record.kind, record.id.name)).collect();
    assert_eq!(names, ["Step hotel", "Step flight", "Step car", "Unwind ", "Undo flight", "Undo hotel"]);
}

/// Starts two steps at once; the one that started first ends last.
#[job(tenant = none, retry(max_attempts = 1))]
async fn both(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let slow = async {
        let slow: String = step!(ctx, "slow", async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            act(ctx, "slow").await
        })
        .await?;
        compensate!(ctx, "slow", [slow], async move |ctx| { undo(ctx, slow).await });
        Ok::<_, Failure>(())
    };
    let fast = async {
        let fast: String = step!(ctx, "fast", async { act(ctx, "fast").await }).await?;
        compensate!(ctx, "fast", [fast], async move |ctx| { undo(ctx, fast).await });
        Ok::<_, Failure>(())
    };
    let (slow, fast) = tokio::join!(slow, fast);
    slow?;
    fast?;
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn steps_that_ran_at_once_are_undone_by_the_order_of_their_starts_not_of_their_ends() {
    let world = World::default();
    harness(&world).run::<both>(()).await;
    assert_eq!(world.done(), ["fast", "slow", "undo fast!", "undo slow!"]);
}

/// Registers its compensations in another order than that of its steps.
#[job(tenant = none)]
async fn late(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "first", async { act(ctx, "first").await }).await?;
    step!(ctx, "second", async { act(ctx, "second").await }).await?;
    compensate!(ctx, "second", async move |ctx| { undo(ctx, "second").await });
    compensate!(ctx, "first", async move |ctx| { undo(ctx, "first").await });
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn the_order_is_that_of_the_steps_not_of_the_compensations() {
    let world = World::default();
    harness(&world).run::<late>(()).await;
    assert_eq!(world.undone(), ["undo second", "undo first"]);
}

/// A step for each room, told apart by a key.
#[job(tenant = none)]
async fn rooms(ctx: &Ctx, rooms: u32) -> Result<(), Failure> {
    for room in 1..=rooms {
        step!(ctx, "room", key = room, async { act(ctx, format!("room {room}")).await }).await?;
        compensate!(ctx, "room", key = room, [room], async move |ctx| { undo(ctx, format!("room {room}")).await });
    }
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn each_turn_of_a_loop_has_a_compensation_of_its_own() {
    let world = World::default();
    harness(&world).run::<rooms>(3).await;
    assert_eq!(world.undone(), ["undo room 3", "undo room 2", "undo room 1"]);
}

/// Compensates only what is not free.
#[job(tenant = none)]
async fn sometimes(ctx: &Ctx, is_free: bool) -> Result<(), Failure> {
    step!(ctx, "seat", async { act(ctx, "seat").await }).await?;
    if !is_free {
        compensate!(ctx, "seat", async move |ctx| { undo(ctx, "seat").await });
    }
    step!(ctx, "meal", async { act(ctx, "meal").await }).await?;
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn a_step_whose_compensation_the_body_passed_over_is_not_undone() {
    for (is_free, undone) in [(true, vec![]), (false, vec!["undo seat"])] {
        let world = World::default();
        let app = harness(&world);
        let run = app.run::<sometimes>(is_free).await;
        assert_eq!(world.undone(), undone);
        assert_eq!(app.find(run.job).await.failure.unwrap().operator, "no");
    }
}

/// What undoes the step stands before it, and runs also if nobody knows whether the step took effect.
#[job(tenant = none)]
async fn always(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    compensate!(ctx, "charge", always, async move |ctx, done: Option<String>| {
        undo(ctx, format!("charge {done:?}")).await
    });
    step!(ctx, "charge", async { act(ctx, "charge").await }).await?;
    act(ctx, "end").await?;
    Ok(())
}

#[tokio::test]
async fn an_always_compensation_runs_with_none_for_a_step_that_left_no_result() {
    let world = World::default().fault("charge", Fault::Terminal, 1);
    let app = harness(&world);
    let run = app.run::<always>(()).await;
    assert_eq!(world.done(), ["charge", "undo charge None"]);
    assert_eq!(app.find(run.job).await.failure.unwrap().code, "X_ACT_REFUSED");
}

#[tokio::test]
async fn an_always_compensation_runs_with_the_output_of_a_step_that_is_done() {
    let world = World::default().fault("end", Fault::Terminal, 1);
    harness(&world).run::<always>(()).await;
    assert_eq!(world.undone(), [r#"undo charge Some("charge!")"#]);
}

/// A step without a compensation between two that have one.
#[job(tenant = none)]
async fn some(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    step!(ctx, "look", async { act(ctx, "look").await }).await?;
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn a_step_without_a_compensation_is_passed_over() {
    let world = World::default();
    harness(&world).run::<some>(()).await;
    assert_eq!(world.undone(), ["undo a"]);
}
