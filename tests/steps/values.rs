//! Times, ids and numbers that are the same in every replay.

use crate::log::{count, harness, note};
use jobs::{
    Outcome,
    chrono::{DateTime, Utc},
    prelude::*,
};

type Values = (DateTime<Utc>, DateTime<Utc>, Uuid, Uuid, u64, u64, String);

/// Draws values, sleeps, and draws them again by the replay.
#[job(tenant = none)]
async fn draws(ctx: &Ctx) -> Result<(Values, Values), Failure> {
    let drawn: Values = (
        ctx.now().await?,
        ctx.now().await?,
        ctx.uuid(),
        ctx.uuid(),
        ctx.random(),
        ctx.random(),
        ctx.idempotency_key("charge"),
    );
    let kept = step!(ctx, "keep", async { Ok(drawn.clone()) }).await?;
    sleep!(ctx, "nap", "1d").await;
    Ok((kept, drawn))
}

#[tokio::test]
async fn values_are_the_same_in_a_replay_and_others_in_another_run() {
    let (app, _) = harness!(draws);
    let runs = [app.run::<draws>(()).await, app.run::<draws>(()).await];
    app.clock().advance("1d");
    assert!(app.drain().await.iter().all(|run| run.outcome == Outcome::Completed));
    let [(kept, drawn), (other, _)] =
        [app.output::<(Values, Values)>(runs[0].job).await, app.output(runs[1].job).await];
    assert_eq!(kept, drawn);
    assert_ne!(drawn.2, drawn.3);
    assert_ne!(drawn.4, drawn.5);
    assert_ne!((drawn.2, drawn.4, &drawn.6), (other.2, other.4, &other.6));
    assert!(drawn.6.ends_with("charge"));
}

/// Draws an id in a step that is tried twice, and one after it.
#[job(tenant = none)]
async fn draws_in_a_step(ctx: &Ctx) -> Result<(Uuid, Uuid, Uuid), Failure> {
    let inside = step!(ctx, "draw", retry(max_attempts = 2, backoff = fixed("1ms")), async {
        let id = ctx.uuid();
        note(ctx, id.to_string());
        if count(ctx, &id.to_string()) == 1 { Err(Failure::retry("once more")) } else { Ok(id) }
    })
    .await?;
    let outside = ctx.uuid();
    let kept = step!(ctx, "keep", async { Ok(outside) }).await?;
    sleep!(ctx, "nap", "1d").await;
    Ok((inside, kept, outside))
}

#[tokio::test]
async fn what_a_step_draws_is_the_same_in_each_try_and_shifts_nothing_after_it() {
    let (app, _) = harness!(draws_in_a_step);
    let run = app.run::<draws_in_a_step>(()).await;
    assert_eq!(run.outcome, Outcome::Parked, "{run:?}");
    app.clock().advance("1d");
    app.drain().await;
    let (inside, kept, outside) = app.output::<(Uuid, Uuid, Uuid)>(run.job).await;
    assert_eq!(kept, outside);
    assert_ne!(inside, outside);
}
