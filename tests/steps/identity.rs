//! Steps are known by their names: runs in flight go on with code whose steps were moved, added, removed or renamed.

use crate::log::{Log, note};
use jobs::{
    Execution, Outcome,
    driver::{Lease, ListFilter},
    prelude::*,
    report::Severity,
    testing::{Harness, eventually},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// The job before the deploy.
mod old {
    use super::*;

    #[job(name = "steps.deployed", tenant = none)]
    pub(crate) async fn deployed(ctx: &Ctx) -> Result<Vec<u32>, Failure> {
        let a = step!(ctx, "a", async { Ok(1) }).await?;
        let b = step!(ctx, "b", async { Ok(2) }).await?;
        sleep!(ctx, "nap", "1d").await;
        Ok(vec![a, b])
    }
}

/// Deploys another version of the job under a run that sleeps, and lets it go on.
async fn deployed<New: Job<Input = ()>>() -> (Harness, Log, Execution) {
    let log = Log::default();
    let app = Harness::with(Registry::builder().job::<old::deployed>().build().expect("one job"));
    let run = app.run::<old::deployed>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    let app = app.redeploy(Registry::builder().job::<New>().build().expect("one job")).state(log.clone());
    app.clock().advance("1d");
    let run = app.drain().await.remove(0);
    (app, log, run)
}

/// Moves the steps, adds one before and one behind, and removes none.
#[job(name = "steps.deployed", tenant = none)]
async fn moved(ctx: &Ctx) -> Result<Vec<u32>, Failure> {
    let b = step!(ctx, "b", async { Err(Failure::terminal("it is recorded")) }).await?;
    let new = step!(ctx, "new", async { Ok(3) }).await?;
    let a = step!(ctx, "a", async { Err(Failure::terminal("it is recorded")) }).await?;
    sleep!(ctx, "nap", "1d").await;
    let last = step!(ctx, "last", async { Ok(4) }).await?;
    Ok(vec![a, b, new, last])
}

#[tokio::test]
async fn moved_and_added_steps_find_their_records() {
    let (app, _, run) = deployed::<moved>().await;
    assert_eq!((run.outcome, run.steps_run, run.steps_replayed), (Outcome::Completed, 2, 3));
    assert_eq!(app.output::<Vec<u32>>(run.job).await, [1, 2, 3, 4]);
}

/// Has one step only.
#[job(name = "steps.deployed", tenant = none)]
async fn removed(ctx: &Ctx) -> Result<Vec<u32>, Failure> {
    Ok(vec![step!(ctx, "b", async { Ok(0) }).await?])
}

#[tokio::test]
async fn removed_steps_are_forgotten() {
    let (app, _, run) = deployed::<removed>().await;
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(app.output::<Vec<u32>>(run.job).await, [2]);
}

/// Renames a step and a sleep, saying so.
#[job(name = "steps.deployed", tenant = none)]
async fn renamed(ctx: &Ctx) -> Result<Vec<u32>, Failure> {
    let a = step!(ctx, "better", aliases = ["worse", "a"], async { Ok(0) }).await?;
    sleep!(ctx, "rest", aliases = ["nap"], "1d").await;
    Ok(vec![a])
}

#[tokio::test]
async fn a_renamed_step_takes_the_record_of_its_alias() {
    let (app, _, run) = deployed::<renamed>().await;
    assert_eq!(run.outcome, Outcome::Completed, "{run:?}");
    assert_eq!(app.output::<Vec<u32>>(run.job).await, [1]);
}

/// Makes a step into a sleep.
#[job(name = "steps.deployed", tenant = none)]
async fn other_kind(ctx: &Ctx) -> Result<(), Failure> {
    sleep!(ctx, "a", "1d").await;
    note(ctx, "went on");
    Ok(())
}

/// Gives a step another type.
#[job(name = "steps.deployed", tenant = none)]
async fn other_type(ctx: &Ctx) -> Result<(), Failure> {
    let text: String = step!(ctx, "a", async { Ok(String::new()) }).await.unwrap_or_default();
    note(ctx, format!("went on{text}"));
    Ok(())
}

#[tokio::test]
async fn a_record_that_does_not_fit_parks_the_run_until_a_release_that_fits() {
    let parked = [deployed::<other_kind>().await, deployed::<other_type>().await];
    let texts =
        ["step `a`: it is recorded as a step, and is now a sleep", "step `a`: its recorded output does not decode"];
    for ((app, log, run), text) in parked.into_iter().zip(texts) {
        let reason = run.error.expect("a reason");
        assert_eq!((run.outcome, &*reason.code, run.attempt), (Outcome::Parked, "X_STEP_MISMATCH", 1));
        assert!(reason.operator.starts_with(text), "{}", reason.operator);
        assert!(log.take().is_empty(), "nothing of it passes through the body");
        assert_eq!(app.find(run.job).await.parked.map(|reason| reason.code).as_deref(), Some("X_STEP_MISMATCH"));
        let app = app.redeploy(Registry::builder().job::<moved>().build().expect("one job"));
        app.clock().advance("1m");
        assert_eq!(app.drain().await[0].outcome, Outcome::Completed);
        assert_eq!(app.output::<Vec<u32>>(run.job).await, [1, 2, 3, 4]);
    }
}

/// Changes what happens before the sleep, for new runs alone.
#[job(name = "steps.deployed", tenant = none)]
async fn patched(ctx: &Ctx) -> Result<Vec<u32>, Failure> {
    let a = step!(ctx, "a", async { Ok(1) }).await?;
    let mut all = vec![a];
    if patch!(ctx, "no b any more").await? {
        all.push(step!(ctx, "c", async { Ok(5) }).await?);
    } else {
        all.push(step!(ctx, "b", async { Ok(0) }).await?);
    }
    sleep!(ctx, "nap", "1d").await;
    Ok(all)
}

#[tokio::test]
async fn a_patch_tells_old_runs_from_new_ones_also_when_they_are_replayed() {
    let (app, _, run) = deployed::<patched>().await;
    assert_eq!(app.output::<Vec<u32>>(run.job).await, [1, 2], "an old run keeps its way");
    let run = app.run::<patched>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("1d");
    app.drain().await;
    assert_eq!(app.output::<Vec<u32>>(run.job).await, [1, 5], "a new one takes the new way, twice");
}

#[tokio::test]
async fn a_run_that_does_not_fit_is_reported_once_and_listed() {
    let app = Harness::with(Registry::builder().job::<old::deployed>().build().expect("one job"));
    let run = app.run::<old::deployed>(()).await;
    let app = app.redeploy(Registry::builder().job::<other_kind>().build().expect("one job"));
    let mut due = app.find(run.job).await.due_at;
    app.clock().advance("1d");
    let told = Arc::<Mutex<Vec<_>>>::default();
    let seen = told.clone();
    let lease = Lease { duration: Duration::from_secs(36_000), beat: Duration::from_secs(10) };
    let worker = app.jobs().worker().state(Log::default()).lease(lease).on_error(move |report| {
        let job = report.job.as_ref().map(|job| (job.id, job.outcome));
        seen.lock().unwrap().push((report.severity, report.code.clone(), job));
    });
    let worker = worker.start().await.expect("it starts");
    for _ in 0..3 {
        eventually(|| async { app.find(run.job).await.parked.is_some() && app.find(run.job).await.due_at > due }).await;
        let stuck = app.jobs().list(ListFilter { parked: Some(true), ..ListFilter::default() }).await.expect("a list");
        assert_eq!(stuck.iter().map(|record| record.id).collect::<Vec<_>>(), [run.job]);
        due = app.find(run.job).await.due_at;
        app.clock().advance("61s");
    }
    worker.drain().await;
    let job = Some((run.job, Outcome::Parked));
    assert_eq!(*told.lock().unwrap(), [(Severity::Warning, "X_STEP_MISMATCH".to_owned(), job)]);
}
