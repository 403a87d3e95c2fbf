//! Children are undone before the run that spawned them.

use crate::world::{Fault, World, act, harness, to_its_end, undo};
use jobs::{JobId, Outcome, driver::ListFilter, prelude::*, testing::Harness};

/// Packs, then waits for a day.
#[job(tenant = none)]
async fn ship(ctx: &Ctx, waits: bool) -> Result<u32, Failure> {
    step!(ctx, "pack", async { act(ctx, "pack").await }).await?;
    compensate!(ctx, "pack", async move |ctx| { undo(ctx, "pack").await });
    if waits {
        sleep!(ctx, "a day", "1d").await;
    }
    Ok(7)
}

/// Ships, and fails afterwards.
#[job(tenant = none)]
async fn order(ctx: &Ctx, waits: bool) -> Result<(), Failure> {
    step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
    compensate!(ctx, "hold", async move |ctx| { undo(ctx, "hold").await });
    let shipment = spawn!(ctx, "ship", ship, waits).await?;
    compensate!(ctx, "ship", async move |ctx| { undo(ctx, "ship").await });
    if !waits {
        shipment.join().await?;
    }
    sleep!(ctx, "a moment", "1m").await;
    Err(Failure::terminal("no"))
}

async fn child_of(app: &Harness) -> JobId {
    let filter = ListFilter { kind: Some("ship".to_owned()), ..ListFilter::default() };
    app.jobs().list(filter).await.unwrap()[0].id
}

#[tokio::test]
async fn a_child_that_lives_undoes_its_steps_before_its_parent_does() {
    let world = World::default();
    let app = harness(&world);
    let parent = app.run::<order>(true).await.job;
    app.drain().await;
    let child = child_of(&app).await;
    assert_eq!(app.state_of(child).await, State::Suspended);
    app.clock().advance("2m");
    let runs: Vec<_> = app.drain().await.into_iter().map(|run| (run.job, run.outcome)).collect();
    assert_eq!(runs, [(parent, Outcome::Parked), (child, Outcome::Cancelled), (parent, Outcome::Dead)]);
    assert_eq!(
        world.undone(),
        ["undo pack", "undo hold"],
        "a child that undid itself leaves its parent nothing to undo"
    );
    let record = app.find(parent).await;
    assert_eq!((record.state, &*record.failure.unwrap().operator), (State::Dead, "no"));
}

#[tokio::test]
async fn a_child_that_completed_is_undone_by_its_parents_compensation() {
    let world = World::default();
    let app = harness(&world);
    let parent = app.run::<order>(false).await.job;
    let record = to_its_end(&app, parent).await;
    assert_eq!(record.failure.unwrap().operator, "no");
    assert_eq!(world.undone(), ["undo ship", "undo hold"]);
    assert_eq!(app.state_of(child_of(&app).await).await, State::Completed);
}

#[tokio::test]
async fn rolled_back_a_parent_takes_its_children_with_it() {
    let world = World::default();
    let app = harness(&world);
    let parent = app.run::<order>(true).await.job;
    app.drain().await;
    app.jobs().roll_back(parent).await.unwrap();
    app.drain().await;
    assert_eq!(world.undone(), ["undo pack", "undo hold"]);
    assert_eq!([app.state_of(parent).await, app.state_of(child_of(&app).await).await], [State::Cancelled; 2]);
}

#[tokio::test]
async fn a_child_that_cannot_undo_its_steps_stops_its_parent_until_somebody_helps_the_child() {
    let world = World::default().fault("undo pack", Fault::Terminal, 1);
    let app = harness(&world);
    let parent = app.run::<order>(true).await.job;
    app.drain().await;
    app.clock().advance("2m");
    app.drain().await;
    let child = child_of(&app).await;
    let failure = app.find(parent).await.failure.unwrap();
    assert_eq!(failure.code, "X_JOB_COMPENSATION_FAILED");
    assert!(failure.operator.starts_with(&format!("its child {child} of `ship` could not undo all")), "{failure:?}");
    assert_eq!(world.undone(), ["undo pack"], "nothing of the parent is undone");

    app.jobs().resume(child).await.unwrap();
    app.jobs().resume(parent).await.unwrap();
    to_its_end(&app, parent).await;
    assert_eq!(world.undone(), ["undo pack", "undo pack", "undo hold"]);
    assert_eq!(app.find(parent).await.failure.unwrap().operator, "no");
}

#[tokio::test]
async fn a_parent_whose_child_was_undone_by_hand_can_go_on() {
    let world = World::default().fault("undo pack", Fault::Terminal, 1);
    let app = harness(&world);
    let parent = app.run::<order>(true).await.job;
    app.drain().await;
    app.clock().advance("2m");
    app.drain().await;
    app.jobs().mark_undone(parent, "ship").await.unwrap();
    app.jobs().resume(parent).await.unwrap();
    to_its_end(&app, parent).await;
    assert_eq!(world.undone(), ["undo pack", "undo hold"]);
}

/// Is past its pivot before it waits.
#[job(tenant = none)]
async fn bound(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "pack", async { act(ctx, "pack").await }).await?;
    compensate!(ctx, "pack", async move |ctx| { undo(ctx, "pack").await });
    pivot!(ctx).await?;
    sleep!(ctx, "a day", "1d").await;
    step!(ctx, "send", async { act(ctx, "send").await }).await?;
    Ok(())
}

/// Fails while its child is past its pivot.
#[job(tenant = none)]
async fn hopeful(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    spawn!(ctx, "bound", bound, ()).await?;
    compensate!(ctx, "bound", async move |ctx| { undo(ctx, "bound").await });
    sleep!(ctx, "a moment", "1m").await;
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn a_child_past_its_pivot_goes_on_to_its_end_and_is_then_undone_by_its_parent() {
    let world = World::default();
    let app = harness(&world);
    let parent = app.run::<hopeful>(()).await.job;
    app.drain().await;
    app.clock().advance("2m");
    app.drain().await;
    assert_eq!(app.state_of(parent).await, State::Suspended, "it waits for its child");
    app.clock().advance("2d");
    app.drain().await;
    assert_eq!(world.done(), ["pack", "send", "undo bound"]);
    assert_eq!(app.state_of(parent).await, State::Dead);
}
