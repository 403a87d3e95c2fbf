//! The replay of a run that unwinds: no step runs forward, whatever the body does.

use crate::world::{Fault, World, act, harness, to_its_end, undo};
use jobs::{Outcome, prelude::*};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// How often the body was begun.
#[derive(Clone, Default)]
struct Begun(Arc<AtomicUsize>);

impl Begun {
    fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// What the body does when it is begun anew.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
enum Anew {
    Returns,
    Fails,
    Panics,
    GoesOn,
}

/// Fails for good at first; begun anew, it would do something else.
#[job(tenant = none)]
async fn fickle(ctx: &Ctx, anew: Anew) -> Result<(), Failure> {
    let begun = ctx.state::<Begun>()?.next();
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    if begun == 0 {
        return Err(Failure::terminal("the first failure"));
    }
    match anew {
        Anew::Returns => return Ok(()),
        Anew::Fails => return Err(Failure::retry("another failure")),
        Anew::Panics => panic!("another failure"),
        Anew::GoesOn => {}
    }
    step!(ctx, "b", async { act(ctx, "b").await }).await?;
    Ok(())
}

#[tokio::test]
async fn a_body_that_returns_fails_or_panics_while_unwinding_is_still_unwinding() {
    for anew in [Anew::Returns, Anew::Fails, Anew::Panics] {
        let (world, begun) = (World::default(), Begun::default());
        let app = harness(&world).state(begun.clone());
        let run = app.run::<fickle>(anew).await;
        assert_eq!(begun.0.load(Ordering::Relaxed), 2, "it was replayed once");
        assert_eq!(world.done(), ["a", "undo a"], "{anew:?}");
        let record = app.find(run.job).await;
        assert_eq!((record.state, &*record.failure.unwrap().operator), (State::Dead, "the first failure"));
    }
}

#[tokio::test]
async fn no_forward_step_runs_once_the_unwinding_began() {
    let world = World::default();
    let app = harness(&world).state(Begun::default());
    app.run::<fickle>(Anew::GoesOn).await;
    assert_eq!(world.done(), ["a", "undo a"]);
}

/// Swallows every error and goes on.
#[job(tenant = none)]
async fn careless(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let a: String = step!(ctx, "a", async { act(ctx, "a").await }).await.unwrap_or_default();
    compensate!(ctx, "a", [a], async move |ctx| { undo(ctx, format!("a {a:?}")).await });
    let b: String = step!(ctx, "b", async { act(ctx, "b").await }).await.unwrap_or_default();
    compensate!(ctx, "b", [b], async move |ctx| { undo(ctx, format!("b {b:?}")).await });
    if b.is_empty() {
        step!(ctx, "instead of b", async { act(ctx, "instead of b").await }).await?;
        compensate!(ctx, "instead of b", async move |ctx| { undo(ctx, "instead of b").await });
    }
    act(ctx, "end").await?;
    Ok(())
}

#[tokio::test]
async fn a_body_that_swallows_a_failed_step_is_undone_along_the_path_that_it_took() {
    let world = World::default().fault("b", Fault::Fail, 1).fault("end", Fault::Terminal, 1);
    let app = harness(&world);
    let run = app.run::<careless>(()).await;
    assert_eq!(run.outcome, Outcome::Dead);
    let steps = ["a", "b", "instead of b"].map(|step| world.done().iter().filter(|act| *act == step).count());
    assert_eq!(steps, [1, 1, 1]);
    assert_eq!(world.undone(), ["undo instead of b", r#"undo a "a!""#]);
}

#[tokio::test]
async fn a_body_that_swallows_its_failures_gets_no_forward_step_out_of_an_unwinding() {
    // `undo a` fails at first, so that the next claim begins with the replay.
    let world = World::default().fault("end", Fault::Terminal, 1).fault(r#"undo a "a!""#, Fault::Fail, 2);
    let app = harness(&world);
    let run = app.run::<careless>(()).await;
    to_its_end(&app, run.job).await;
    assert_eq!(world.done()[..3], ["a", "b", "end"]);
    assert_eq!(world.undone(), [r#"undo b "b!""#, r#"undo a "a!""#, r#"undo a "a!""#, r#"undo a "a!""#]);
}

/// Fails inside of a block; steps stand behind it.
#[job(tenant = none)]
async fn nested(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "outer", async { act(ctx, "outer").await }).await?;
    compensate!(ctx, "outer", async move |ctx| { undo(ctx, "outer").await });
    let inner = async {
        step!(ctx, "inner", async { act(ctx, "inner").await }).await?;
        compensate!(ctx, "inner", async move |ctx| { undo(ctx, "inner").await });
        step!(ctx, "failing", async { act(ctx, "failing").await }).await?;
        Ok::<_, Failure>(())
    };
    inner.await?;
    step!(ctx, "behind", async { act(ctx, "behind").await }).await?;
    Ok(())
}

#[tokio::test]
async fn a_failure_in_a_block_runs_nothing_that_stands_behind_the_block() {
    let world = World::default().fault("failing", Fault::Terminal, 1);
    harness(&world).run::<nested>(()).await;
    assert_eq!(world.done(), ["outer", "inner", "failing", "undo inner", "undo outer"]);
}

/// Registers what undoes both only after both have ended.
#[job(tenant = none)]
async fn joined(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let a = step!(ctx, "a", async { act(ctx, "a").await });
    let b = step!(ctx, "b", timeout = "1s", async { act(ctx, "b").await });
    let (a, b) = tokio::join!(a, b);
    let a: String = a?;
    compensate!(ctx, "a", [a], async move |ctx| { undo(ctx, a).await });
    let b: String = b?;
    compensate!(ctx, "b", [b], async move |ctx| { undo(ctx, b).await });
    act(ctx, "end").await?;
    Ok(())
}

#[tokio::test]
async fn a_compensation_behind_a_join_is_found_although_the_other_branch_failed() {
    let world = World::default().fault("b", Fault::Terminal, 1);
    harness(&world).run::<joined>(()).await;
    assert_eq!(world.undone(), ["undo a!"]);
}

/// Registers nothing before both have completed.
#[job(tenant = none)]
async fn hasty(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let a = step!(ctx, "a", async { act(ctx, "a").await });
    let b = step!(ctx, "b", async { act(ctx, "b").await });
    let (a, b): (String, String) = tokio::try_join!(a, b)?;
    compensate!(ctx, "a", [a], async move |ctx| { undo(ctx, a).await });
    compensate!(ctx, "b", [b], async move |ctx| { undo(ctx, b).await });
    Ok(())
}

#[tokio::test]
async fn a_step_whose_compensation_the_body_never_reached_is_told_and_not_passed_over_in_silence() {
    let world = World::default().fault("b", Fault::Terminal, 1);
    let app = harness(&world);
    let run = app.run::<hasty>(()).await;
    let failure = app.find(run.job).await.failure.unwrap();
    assert_eq!(failure.code, "X_JOB_COMPENSATION_FAILED");
    assert!(
        failure.operator.starts_with("the body did not come to the compensation of `a`; not undone: `a`"),
        "{failure:?}"
    );
    app.jobs().mark_undone(run.job, "a").await.unwrap();
    app.jobs().resume(run.job).await.unwrap();
    let record = to_its_end(&app, run.job).await;
    assert_eq!(record.failure.unwrap().code, "X_ACT_REFUSED", "the failure that it unwound from");
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb in a drop");
    }
}

/// Holds a bomb over an await.
#[job(tenant = none)]
async fn explosive(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let begun = ctx.state::<Begun>()?.next();
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    if begun == 0 {
        return Err(Failure::terminal("no"));
    }
    let _bomb = Bomb;
    step!(ctx, "b", async { act(ctx, "b").await }).await?;
    Ok(())
}

#[tokio::test]
async fn a_panic_in_a_drop_of_the_replayed_body_stops_nothing() {
    let world = World::default();
    let app = harness(&world).state(Begun::default());
    let run = app.run::<explosive>(()).await;
    assert_eq!(world.done(), ["a", "undo a"]);
    assert_eq!(app.find(run.job).await.failure.unwrap().operator, "no");
}

/// Waits, sleeps and records a time on its way.
#[job(tenant = none)]
async fn patient(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    sleep!(ctx, "nap", "1h").await;
    step!(ctx, "b", async { act(ctx, "b").await }).await?;
    compensate!(ctx, "b", async move |ctx| { undo(ctx, "b").await });
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn a_run_that_slept_is_undone_across_its_sleep() {
    let world = World::default();
    let app = harness(&world);
    let run = app.run::<patient>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("61m");
    assert_eq!(app.drain().await[0].outcome, Outcome::Dead);
    assert_eq!(world.done(), ["a", "b", "undo b", "undo a"]);
}

/// A race of which the branch that lost has done something.
#[job(tenant = none)]
async fn raced(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let slow = async {
        step!(ctx, "reserve", async { act(ctx, "reserve").await }).await?;
        compensate!(ctx, "reserve", async move |ctx| { undo(ctx, "reserve").await });
        sleep!(ctx, "long", "1d").await;
        Ok::<_, Failure>("slow")
    };
    let fast = async {
        sleep!(ctx, "short", "1h").await;
        Ok::<_, Failure>("fast")
    };
    let first: Result<&str, Failure> = race!(ctx, "first", won = slow => won, won = fast => won).await?;
    step!(ctx, "after", async { act(ctx, first?).await }).await?;
    compensate!(ctx, "after", async move |ctx| { undo(ctx, "after").await });
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn what_the_loser_of_a_race_has_done_is_undone_too() {
    let world = World::default();
    let app = harness(&world);
    let run = app.run::<raced>(()).await;
    app.clock().advance("2h");
    app.drain().await;
    let record = app.find(run.job).await;
    assert_eq!(record.failure.unwrap().operator, "no");
    assert_eq!(world.done(), ["reserve", "fast", "undo after", "undo reserve"]);
}
