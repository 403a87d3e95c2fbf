//! Times, ids and numbers that are the same in every replay.

use crate::log::harness;
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
