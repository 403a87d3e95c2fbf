//! Steps that stand in the branches of a race are undone like all others, whether it is decided and whoever won.

use crate::world::{Fault, World, act, harness, to_its_end, undo};
use jobs::{Outcome, prelude::*};

/// Holds a seat in one branch and waits there; the other branch loses its patience.
#[job(tenant = none, retry(max_attempts = 1))]
async fn hold_or_late(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let first = race!(ctx, "confirmed or late",
        held = hold(ctx) => { held?; "held" },
        () = sleep!(ctx, "patience", "1h") => "late",
    )
    .await?;
    step!(ctx, "after", async { act(ctx, format!("after {first}")).await }).await?;
    Ok(())
}

async fn hold(ctx: &Ctx) -> Result<(), StepError> {
    step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
    compensate!(ctx, "hold", async move |ctx| { undo(ctx, "hold").await });
    sleep!(ctx, "confirmation", "30d").await;
    Ok(())
}

/// The same, with the branches the other way round.
#[job(tenant = none, retry(max_attempts = 1))]
async fn late_or_hold(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let first = race!(ctx, "confirmed or late",
        () = sleep!(ctx, "patience", "1h") => "late",
        held = async {
            step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
            compensate!(ctx, "hold", async move |ctx| { undo(ctx, "hold").await });
            sleep!(ctx, "confirmation", "30d").await;
            Ok::<_, StepError>(())
        } => { held?; "held" },
    )
    .await?;
    step!(ctx, "after", async { act(ctx, format!("after {first}")).await }).await?;
    Ok(())
}

#[tokio::test]
async fn what_a_branch_did_is_undone_while_the_race_is_not_decided() {
    let world = World::default();
    let app = harness(&world);
    for job in [app.run::<hold_or_late>(()).await, app.run::<late_or_hold>(()).await] {
        assert_eq!(job.outcome, Outcome::Parked);
        app.jobs().roll_back(job.job).await.unwrap();
        let record = to_its_end(&app, job.job).await;
        assert_eq!(record.state, State::Cancelled, "{:?}", record.failure);
    }
    assert_eq!(world.done(), ["hold", "hold", "undo hold", "undo hold"]);
}

#[tokio::test]
async fn what_a_branch_did_that_lost_is_undone() {
    let world = World::default().fault("after late", Fault::Terminal, 2);
    let app = harness(&world);
    for job in [app.run::<hold_or_late>(()).await, app.run::<late_or_hold>(()).await] {
        assert_eq!(job.outcome, Outcome::Parked);
        let record = to_its_end(&app, job.job).await;
        assert_eq!((record.state, &*record.failure.unwrap().code), (State::Dead, "X_ACT_REFUSED"));
    }
    assert_eq!(world.undone(), ["undo hold", "undo hold"]);
}

/// Takes two names, and gives each back under an id of its own.
#[job(tenant = none)]
async fn ids(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    for name in ["a", "b"] {
        step!(ctx, "take", key = name, async { act(ctx, format!("take {}", ctx.uuid())).await }).await?;
        compensate!(ctx, "take", key = name, async move |ctx| { undo(ctx, ctx.uuid().to_string()).await });
    }
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn the_compensations_of_one_step_under_two_keys_draw_different_ids() {
    let world = World::default();
    harness(&world).run::<ids>(()).await;
    let mut undone = world.undone();
    assert_eq!(undone.len(), 2);
    undone.dedup();
    assert_eq!(undone.len(), 2, "{undone:?}");
}
