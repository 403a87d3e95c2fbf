//! A race is decided once, for all replays.

use crate::{
    log::{harness, note},
    waiting::Shipped,
};
use jobs::{Outcome, prelude::*};
use std::time::Duration;

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
