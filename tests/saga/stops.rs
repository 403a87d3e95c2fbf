//! What interrupts an unwinding: a drain, the end of a process, a lost lease, a step of which nobody knows the outcome.

use crate::support::eventually;
use crate::world::{Fault, World, act, harness, to_its_end, undo};
use jobs::{
    JobId, Outcome, Resolution,
    driver::{JobRecord, Stage, StepKind},
    prelude::*,
    testing::{Harness, Rig},
};
use std::time::Duration;

/// Two steps that are undone.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("5s")), crash_budget = 2)]
async fn pair(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    step!(ctx, "b", async { act(ctx, "b").await }).await?;
    compensate!(ctx, "b", async move |ctx| { undo(ctx, "b").await });
    act(ctx, "end").await?;
    Ok(())
}

async fn rig(app: &Harness, world: &World) -> Rig {
    Rig::of(app.jobs()).state(world.clone()).start().await.unwrap()
}

/// Runs until the world hangs.
async fn until_it_hangs(rig: &Rig, world: &World, act: &str) {
    tokio::select! {
        ended = rig.next() => panic!("it does not hang: {ended:?}"),
        () = async {
            while !world.done().iter().any(|done| done == act) {
                tokio::task::yield_now().await;
            }
        } => {}
    }
}

/// Lets the process die that holds the job, and another one rescue it.
async fn rescue(app: &Harness, rig: Rig) {
    drop(rig);
    app.clock().advance("2h");
    app.jobs().driver().rescue().await.unwrap();
}

async fn code(app: &Harness, job: JobId) -> (State, String) {
    let JobRecord { state, failure, .. } = app.find(job).await;
    (state, failure.unwrap().code)
}

#[tokio::test(start_paused = true)]
async fn a_drain_in_the_middle_hands_the_run_back_uncounted_and_at_once() {
    let world = World::default().fault("end", Fault::Terminal, 1).fault("undo a", Fault::Hang, 1);
    let app = harness(&world);
    let job = pair::enqueue(app.jobs(), ()).await.unwrap().id();
    let rig = rig(&app, &world).await;
    let (run, ()) = tokio::join!(rig.next(), async {
        while world.undone().len() < 2 {
            tokio::task::yield_now().await;
        }
        rig.interrupt();
    });
    let run = run.unwrap().unwrap();
    assert_eq!((run.outcome, run.resume_after), (Outcome::Interrupted, Some(Duration::ZERO)));
    let record = app.find(job).await;
    assert_eq!((record.state, record.attempt, record.crashes, record.stage), (State::Ready, 1, 0, Stage::Unwinding));
    let undos: Vec<_> =
        app.jobs().steps(job).await.unwrap().into_iter().filter(|step| step.kind == StepKind::Undo).collect();
    assert_eq!(undos.iter().map(|undo| (&*undo.id.name, undo.tries)).collect::<Vec<_>>(), [("b", 0)]);
    rig.end().await;
    to_its_end(&app, job).await;
    assert_eq!(world.undone(), ["undo b", "undo a", "undo a"]);
    assert_eq!(code(&app, job).await, (State::Dead, "X_ACT_REFUSED".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_compensation_that_ends_while_the_worker_drains_is_recorded() {
    let world = World::default().fault("end", Fault::Terminal, 1);
    let app = harness(&world);
    let job = pair::enqueue(app.jobs(), ()).await.unwrap().id();
    let rig = rig(&app, &world).await;
    let (run, ()) = tokio::join!(rig.next(), async {
        while world.undone().is_empty() {
            tokio::task::yield_now().await;
        }
        rig.interrupt();
    });
    assert_eq!(run.unwrap().unwrap().outcome, Outcome::Interrupted);
    rig.end().await;
    to_its_end(&app, job).await;
    assert_eq!(world.undone(), ["undo b", "undo a"], "none twice");
}

#[tokio::test]
async fn the_decision_to_unwind_outlives_the_process_that_made_it() {
    let world = World::default().fault("end", Fault::Terminal, 1).fault("undo b", Fault::Hang, 1);
    let app = harness(&world);
    let job = pair::enqueue(app.jobs(), ()).await.unwrap().id();
    let first = rig(&app, &world).await;
    until_it_hangs(&first, &world, "undo b").await;
    rescue(&app, first).await;
    let record = app.find(job).await;
    assert_eq!((record.state, record.stage, record.crashes), (State::Ready, Stage::Unwinding, 1));
    to_its_end(&app, job).await;
    assert_eq!(
        world.done().iter().filter(|act| !act.starts_with("undo") && *act != "end").count(),
        2,
        "no step runs again"
    );
    assert_eq!(world.undone(), ["undo b", "undo b", "undo a"]);
    assert_eq!(code(&app, job).await, (State::Dead, "X_ACT_REFUSED".to_owned()));
}

#[tokio::test]
async fn a_saga_that_takes_its_process_down_too_often_is_undone_from_its_quarantine() {
    let world = World::default().fault("end", Fault::Hang, 2);
    let app = harness(&world);
    let job = pair::enqueue(app.jobs(), ()).await.unwrap().id();
    for lives in 1..=2 {
        let rig = rig(&app, &world).await;
        tokio::select! {
            ended = rig.next() => panic!("{ended:?}"),
            () = async {
                while world.done().iter().filter(|act| *act == "end").count() < lives {
                    tokio::task::yield_now().await;
                }
            } => {}
        }
        rescue(&app, rig).await;
    }
    let record = to_its_end(&app, job).await;
    assert_eq!(record.crashes, 0, "the unwinding had a budget of its own");
    assert_eq!(code(&app, job).await, (State::Dead, "X_JOB_QUARANTINED".to_owned()));
    assert_eq!(world.undone(), ["undo b", "undo a"]);
}

#[tokio::test]
async fn crashes_while_unwinding_end_it_once_the_crash_budget_is_spent() {
    let world = World::default().fault("end", Fault::Terminal, 1).fault("undo a", Fault::Hang, 9);
    let app = harness(&world);
    let job = pair::enqueue(app.jobs(), ()).await.unwrap().id();
    for lives in 1..=2 {
        let rig = rig(&app, &world).await;
        tokio::select! {
            ended = rig.next() => panic!("{ended:?}"),
            () = async {
                while world.undone().iter().filter(|act| *act == "undo a").count() < lives {
                    tokio::task::yield_now().await;
                }
            } => {}
        }
        rescue(&app, rig).await;
    }
    app.drain().await;
    assert_eq!(code(&app, job).await, (State::Dead, "X_JOB_COMPENSATION_FAILED".to_owned()));
    assert_eq!(
        app.find(job).await.failure.unwrap().operator,
        "the process that ran it ended 2 times while it undid its steps; not undone: `a`; undone: `b`; it unwound from \
         X_ACT_REFUSED: end failed for good"
    );
    world.mend("undo a");
    app.jobs().resume(job).await.unwrap();
    app.drain().await;
    assert_eq!(code(&app, job).await, (State::Dead, "X_ACT_REFUSED".to_owned()), "resumed, it goes on");
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_lost_its_lease_writes_nothing_more_of_an_unwinding() {
    let world = World::default().fault("end", Fault::Terminal, 1);
    let app = harness(&world);
    let job = pair::enqueue(app.jobs(), ()).await.unwrap().id();
    let rig = Rig::of(app.jobs()).state(world.clone()).start().await.unwrap();
    let (run, ()) = tokio::join!(rig.next(), async {
        while world.undone().is_empty() {
            tokio::task::yield_now().await;
        }
        app.clock().advance("2h");
        app.jobs().driver().rescue().await.unwrap();
    });
    assert_eq!(run.unwrap().unwrap().outcome, Outcome::Stale);
    assert_eq!(world.undone(), ["undo b"], "it stopped");
    let undos = app.jobs().steps(job).await.unwrap().into_iter().filter(|step| step.kind == StepKind::Undo).count();
    assert_eq!(undos, 0);
    to_its_end(&app, job).await;
    assert_eq!(world.undone(), ["undo b", "undo b", "undo a"], "at least once");
}

/// Charges once, between two steps that are undone.
#[job(tenant = none)]
async fn charged(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
    compensate!(ctx, "hold", async move |ctx| { undo(ctx, "hold").await });
    let charge: String = step!(ctx, "charge", once, async { act(ctx, "charge").await }).await?;
    compensate!(ctx, "charge", [charge], async move |ctx| { undo(ctx, charge).await });
    act(ctx, "end").await?;
    Ok(())
}

/// A saga that was killed within its `once` step, and is rolled back.
async fn unknown(world: &World) -> (Harness, JobId) {
    let app = harness(world);
    let job = charged::enqueue(app.jobs(), ()).await.unwrap().id();
    let first = rig(&app, world).await;
    until_it_hangs(&first, world, "charge").await;
    rescue(&app, first).await;
    let run = app.attempt(job).await;
    assert_eq!((run.outcome, &*run.error.unwrap().code), (Outcome::Parked, "X_STEP_UNKNOWN"));
    app.jobs().roll_back(job).await.unwrap();
    app.drain().await;
    (app, job)
}

#[tokio::test]
async fn an_unknown_once_step_stops_an_unwinding_at_once() {
    let world = World::default().fault("charge", Fault::Hang, 1);
    let (app, job) = unknown(&world).await;
    assert_eq!(code(&app, job).await, (State::Dead, "X_JOB_COMPENSATION_FAILED".to_owned()));
    assert!(world.undone().is_empty(), "nothing was undone before somebody knows");
    let text = app.find(job).await.failure.unwrap().operator;
    assert!(
        text.starts_with("nobody knows whether `charge` took effect: resolve it, then resume; not undone: "),
        "{text}"
    );
}

#[tokio::test]
async fn resolved_as_done_it_is_undone_with_the_output_that_was_given() {
    let world = World::default().fault("charge", Fault::Hang, 1);
    let (app, job) = unknown(&world).await;
    app.jobs().resolve_step(job, "charge", Resolution::done("payment 7").unwrap()).await.unwrap();
    app.jobs().resume(job).await.unwrap();
    app.drain().await;
    assert_eq!(world.undone(), ["undo payment 7", "undo hold"]);
    assert_eq!(app.state_of(job).await, State::Cancelled);
}

#[tokio::test]
async fn resolved_as_failed_or_never_begun_it_has_nothing_to_undo() {
    for resolution in [Resolution::Failed("the bank has no such payment".to_owned()), Resolution::Again] {
        let world = World::default().fault("charge", Fault::Hang, 1);
        let (app, job) = unknown(&world).await;
        app.jobs().resolve_step(job, "charge", resolution).await.unwrap();
        app.jobs().resume(job).await.unwrap();
        app.drain().await;
        assert_eq!(world.undone(), ["undo hold"]);
        assert_eq!(world.done().iter().filter(|act| *act == "charge").count(), 1, "it does not run again");
    }
}

/// Two steps at once; what undoes them stands behind the join.
#[job(tenant = none)]
async fn interrupted(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let a = step!(ctx, "a", async { act(ctx, "a").await });
    let b = step!(ctx, "b", async { act(ctx, "b").await });
    let (a, b) = tokio::join!(a, b);
    let a: String = a?;
    compensate!(ctx, "a", [a], async move |ctx| { undo(ctx, a).await });
    let b: String = b?;
    compensate!(ctx, "b", [b], async move |ctx| { undo(ctx, b).await });
    Ok(())
}

#[tokio::test]
async fn a_compensation_behind_a_join_is_found_although_the_other_branch_was_killed() {
    let world = World::default().fault("b", Fault::Hang, 9);
    let app = harness(&world);
    let job = interrupted::enqueue(app.jobs(), ()).await.unwrap().id();
    let first = rig(&app, &world).await;
    tokio::select! {
        ended = first.next() => panic!("{ended:?}"),
        () = async {
            while app.jobs().steps(job).await.unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    rescue(&app, first).await;
    app.jobs().roll_back(job).await.unwrap();
    app.drain().await;
    assert_eq!(world.done(), ["a", "b", "undo a!"], "the branch that was killed did not begin again");
    assert_eq!(app.state_of(job).await, State::Cancelled);
}

/// Blocks a thread in its second step for longer than its timeout and all graces.
#[job(tenant = none, timeout = "600ms", retry(max_attempts = 1))]
async fn blocks(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| {
        act(ctx, "undo a").await?;
        while !ctx.state::<World>()?.done().contains(&"blocked".to_owned()) {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
        Ok::<_, Failure>(())
    });
    step!(ctx, "block", async {
        std::thread::sleep(Duration::from_millis(1_900));
        act(ctx, "blocked").await
    })
    .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_step_that_ends_in_a_body_left_behind_is_not_recorded_while_the_run_unwinds() {
    let world = World::default();
    let registry = Registry::builder().job::<blocks>().build().unwrap();
    let jobs = Jobs::builder().registry(registry).memory().unwrap();
    let worker = jobs.worker().cancel_grace("10ms").state(world.clone()).start().await.unwrap();
    let job = blocks::enqueue(&jobs, ()).await.unwrap().id();
    let record = eventually("it is dead", || async {
        let record = jobs.find(job).await.unwrap();
        record.state.is_final().then_some(record)
    })
    .await;
    assert_eq!(record.failure.unwrap().code, "X_JOB_TIMEOUT");
    assert_eq!(world.done(), ["a", "undo a", "blocked"]);
    let steps = jobs.steps(job).await.unwrap();
    assert!(steps.iter().all(|step| step.id.name != "block"), "{steps:?}");
    worker.drain().await;
}
