//! When the steps are undone, and in which order.

use crate::world::{Fault, World, act, harness, to_its_end, undo};
use jobs::{Outcome, prelude::*};

#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("10s")))]
async fn trip(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let hotel: String = step!(ctx, "hotel", async { act(ctx, "hotel").await }).await?;
    compensate!(ctx, "hotel", [hotel], async move |ctx| { undo(&ctx, hotel).await });
    let flight: String = step!(ctx, "flight", async { act(ctx, "flight").await }).await?;
    compensate!(ctx, "flight", [flight], async move |ctx| { undo(&ctx, flight).await });
    let car: String = step!(ctx, "car", async { act(ctx, "car").await }).await?;
    compensate!(ctx, "car", [car], async move |ctx| { undo(&ctx, car).await });
    Ok(())
}

#[tokio::test]
async fn a_job_that_fails_for_good_undoes_its_steps_the_last_first_and_keeps_its_failure() {
    let world = World::default().fault("car", Fault::Terminal, 1);
    let app = harness(&world);
    let run = app.run::<trip>(()).await;
    assert_eq!(run.outcome, Outcome::Dead);
    assert_eq!(world.done(), ["hotel", "flight", "car", "undo flight!", "undo hotel!"]);
    let record = app.find(run.job).await;
    assert_eq!(record.state, State::Dead);
    assert_eq!(record.failure.unwrap().code, "X_ACT_REFUSED");
    let _ = to_its_end(&app, run.job).await;
}
