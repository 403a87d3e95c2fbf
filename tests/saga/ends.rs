//! How a saga ends, who is told of it, and which ends undo nothing.

use crate::world::{Fault, World, act, harness, to_its_end, undo};
use jobs::{Outcome, Report, driver::ListFilter, prelude::*};
use std::sync::{Arc, Mutex};

/// What hooks and reporters saw.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

async fn hook(ctx: &Ctx, settled: Settled) -> Result<(), Failure> {
    if let Ok(seen) = ctx.state::<Seen>() {
        seen.note(format!("{} {}", settled.state, settled.failure.map_or(String::new(), |failure| failure.code)));
    }
    Ok(())
}

/// Follows a death.
#[job(tenant = none)]
async fn aftermath(_ctx: &Ctx, settled: Settled) -> Result<(), Failure> {
    let _ = settled;
    Ok(())
}

/// Tells how it settled.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("5s")), on_settled = hook, on_dead = aftermath)]
async fn told(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    Err(Failure::terminal("no").code("X_NO_ROOM"))
}

#[tokio::test]
async fn hook_and_follow_up_come_once_and_only_at_the_real_end() {
    let (world, seen) = (World::default().fault("undo a", Fault::Fail, 1), Seen::default());
    let app = harness(&world).state(seen.clone());
    let run = app.run::<told>(()).await;
    assert_eq!(run.outcome, Outcome::Retried);
    assert!(seen.all().is_empty());
    app.refute_enqueued::<aftermath>(|_| true).await;
    app.clock().advance("5s");
    app.attempt(run.job).await;
    assert_eq!(seen.all(), ["dead X_NO_ROOM"]);
    app.assert_enqueued::<aftermath>(|settled| settled.failure.as_ref().unwrap().code == "X_NO_ROOM").await;
    app.drain().await;
    let filter = ListFilter { kind: Some("aftermath".to_owned()), ..ListFilter::default() };
    assert_eq!(app.jobs().list(filter).await.unwrap().len(), 1);
}

/// Is not kept.
#[job(tenant = none, dead_letter = false, on_settled = hook)]
async fn unkept(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", retry(max_attempts = 1, backoff = fixed("1s")), async move |ctx| { undo(ctx, "a").await });
    Err(Failure::terminal("no").code("X_NO_ROOM"))
}

#[tokio::test]
async fn a_job_without_a_dead_letter_is_dropped_once_it_is_undone() {
    let (world, seen) = (World::default(), Seen::default());
    let app = harness(&world).state(seen.clone());
    let run = app.run::<unkept>(()).await;
    assert_eq!((run.outcome, world.undone().len()), (Outcome::Dropped, 1));
    assert_eq!(seen.all(), ["dropped X_NO_ROOM"]);
}

#[tokio::test]
async fn what_could_not_be_undone_is_kept_although_the_job_declares_no_dead_letter() {
    let app = harness(&World::default().fault("undo a", Fault::Fail, 1));
    let run = app.run::<unkept>(()).await;
    assert_eq!((run.outcome, app.state_of(run.job).await), (Outcome::Dead, State::Dead));
    app.jobs().resume(run.job).await.unwrap();
    assert_eq!(to_its_end(&app, run.job).await.state, State::Dropped);
}

/// Ends itself in a way that is no failure for good.
#[job(tenant = none)]
async fn quits(ctx: &Ctx, how: String) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    match &*how {
        "cancel" => Err(Failure::cancel("not needed any more")),
        "discard" => Err(Failure::discard("not wanted")),
        _ => Err(Failure::snooze(std::time::Duration::from_secs(1))),
    }
}

#[tokio::test]
async fn a_body_that_cancels_discards_or_snoozes_itself_undoes_nothing() {
    for (how, outcome) in [("cancel", Outcome::Cancelled), ("discard", Outcome::Dropped), ("snooze", Outcome::Snoozed)]
    {
        let world = World::default();
        let app = harness(&world);
        assert_eq!(app.run::<quits>(how.to_owned()).await.outcome, outcome);
        assert!(world.undone().is_empty(), "{how}");
    }
}

/// Belongs to a tenant that its payload names.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Owned {
    org: String,
}

#[job(tenant = input.org, expires_after = "1h")]
async fn owned(ctx: &Ctx, _input: Owned) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, format!("a of {:?}", ctx.tenant())).await });
    Err(Failure::terminal("no"))
}

#[tokio::test]
async fn a_compensation_runs_as_its_jobs_tenant() {
    let world = World::default();
    harness(&world).run::<owned>(Owned { org: "acme".to_owned() }).await;
    assert_eq!(world.undone(), [r#"undo a of Some("acme")"#]);
}

#[tokio::test]
async fn a_job_that_was_not_started_in_time_undoes_nothing() {
    let world = World::default();
    let app = harness(&world);
    let job = owned::enqueue(app.jobs(), Owned { org: "acme".to_owned() }).await.unwrap().id();
    app.clock().advance("2h");
    assert_eq!(app.drain().await[0].outcome, Outcome::Expired);
    assert_eq!(app.state_of(job).await, State::Expired);
    assert!(world.done().is_empty());
}

#[tokio::test]
async fn a_report_comes_once_with_the_failure_that_ended_the_job() {
    let (world, seen) = (World::default().fault("undo a", Fault::Fail, 1), Seen::default());
    let jobs = Jobs::memory().unwrap();
    let reports = seen.clone();
    let report = move |report: &Report| reports.note(format!("{} {}", report.code, report.text));
    let worker = jobs.worker().state(world.clone()).on_error(report).start().await.unwrap();
    let job = quick::enqueue(&jobs, ()).await.unwrap().id();
    crate::support::eventually("the job is dead", || async {
        jobs.find(job).await.unwrap().state.is_final().then_some(())
    })
    .await;
    worker.drain().await;
    assert_eq!(seen.all(), ["X_JOB_FAILED no"]);
    assert_eq!(world.undone().len(), 2);
}

/// Waits but briefly between its tries.
#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("5ms")))]
async fn quick(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    step!(ctx, "a", async { act(ctx, "a").await }).await?;
    compensate!(ctx, "a", async move |ctx| { undo(ctx, "a").await });
    Err(Failure::terminal("no"))
}
