//! What the macros of a body do when it runs, on memory, each in a small job.

use jobs::{Outcome, StepError, driver::StepStatus, prelude::*, testing::Harness};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

/// How often what ran.
#[derive(Clone, Default)]
struct Runs(Arc<Mutex<HashMap<String, u32>>>);

impl Runs {
    fn count(&self, what: &str) -> u32 {
        let mut runs = self.0.lock().expect("no test panicked with it");
        let count = runs.entry(what.to_owned()).or_default();
        *count += 1;
        *count
    }

    fn of(&self, what: &str) -> u32 {
        self.0.lock().expect("no test panicked with it").get(what).copied().unwrap_or_default()
    }
}

fn ran(ctx: &Ctx, what: &str) -> Result<u32, jobs::Error> {
    Ok(ctx.state::<Runs>()?.count(what))
}

#[derive(Debug, Serialize, Deserialize)]
#[event(name = "parcel.shipped")]
struct Shipped {
    parcel: String,
}

#[derive(Debug, thiserror::Error, JobError)]
#[error("refused")]
#[job_error(retry = terminal, code = "X_TEST_REFUSED", title = "a test's step is refused")]
struct Refused;

#[job(tenant = none)]
async fn child(_ctx: &Ctx, input: u32) -> Result<u32, Failure> {
    if input == 0 { Err(Refused.into()) } else { Ok(input * 2) }
}

/// Every construct that may stand in a body.
#[job(tenant = none)]
async fn everything(ctx: &Ctx, input: u32) -> Result<String, Failure> {
    let first: u32 = step!(ctx, "first", async { Ok(ran(ctx, "first")?) }).await?;
    compensate!(ctx, "first", [first], async move |ctx| {
        ran(ctx, &format!("undo first {first}"))?;
        Ok(())
    });
    let (left, right): (Result<u32, StepError>, Result<u32, StepError>) = tokio::join!(
        step!(ctx, "left", once, async { Ok(ran(ctx, "left")?) }),
        step!(ctx, "right", timeout = "10s", async { Ok(ran(ctx, "right")?) }),
    );
    for item in 0..3 {
        step!(ctx, "each", key = item, async { Ok(ran(ctx, "each")?) }).await?;
    }
    sleep!(ctx, "nap", "1h").await;
    let shipped: Shipped = wait_for!(ctx, "shipped", key = input).await?;
    let lost: Option<Shipped> = wait_for!(ctx, "lost", key = input, timeout = Duration::from_secs(60)).await?;
    let winner = race!(ctx, "sooner",
        () = sleep!(ctx, "long", "2h") => "long",
        () = sleep!(ctx, "short", "1m") => "short",
    )
    .await?;
    let doubled = spawn!(ctx, "child", child, 21).await?.join().await?;
    let is_new = patch!(ctx, "a change").await?;
    pivot!(ctx).await?;
    let tried: u32 = step!(ctx, "tried", retry(max_attempts = 3, backoff = fixed("10ms")), async {
        match ran(ctx, "tried")? {
            3 => Ok(3),
            _ => Err(std::io::Error::other("not yet")),
        }
    })
    .await?;
    Ok(format!(
        "{first} {} {} {} {} {winner} {doubled} {is_new} {tried}",
        left?,
        right?,
        shipped.parcel,
        lost.is_none()
    ))
}

fn app(runs: &Runs) -> Harness {
    let registry = Registry::builder()
        .job::<everything>()
        .job::<child>()
        .job::<undone>()
        .job::<swallows>()
        .job::<raced>()
        .job::<joins_a_failure>()
        .build();
    Harness::with(registry.expect("the declarations agree")).state(runs.clone())
}

#[tokio::test]
async fn every_construct_runs_once_and_is_replayed_from_its_record() {
    let runs = Runs::default();
    let app = app(&runs);
    let run = app.run::<everything>(7).await;
    assert_eq!(run.outcome, Outcome::Parked, "it sleeps");
    app.clock().advance("1h");
    assert_eq!(app.attempt(run.job).await.outcome, Outcome::Parked, "it waits for the event");
    Shipped { parcel: "1Z".to_owned() }.publish(app.jobs(), 7).await.expect("it is published");
    let mut last = Outcome::Parked;
    for _ in 0..20 {
        app.clock().advance("30s");
        if let Some(execution) = app.drain().await.iter().rfind(|execution| execution.job == run.job) {
            last = execution.outcome;
        }
        if last != Outcome::Parked {
            break;
        }
    }
    assert_eq!(last, Outcome::Completed);
    assert_eq!(app.output::<String>(run.job).await, "1 1 1 1Z true short 42 true 3");
    for (what, times) in [("first", 1), ("left", 1), ("right", 1), ("each", 3), ("tried", 3), ("undo first 1", 0)] {
        assert_eq!(runs.of(what), times, "{what}");
    }
}

/// Fails for good behind two steps, one of which began and left nothing.
#[job(tenant = none)]
async fn undone(ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    let hold: u32 = step!(ctx, "hold", async { Ok(ran(ctx, "hold")?) }).await?;
    compensate!(ctx, "hold", [hold, more = hold + 1], async move |ctx| {
        ran(ctx, &format!("release {hold} {more}"))?;
        Ok(())
    });
    compensate!(ctx, "charge", always, [], async move |ctx, done: Option<u32>| {
        ran(ctx, &format!("refund {done:?}")).map(drop)
    });
    let charged: Result<u32, StepError> = step!(ctx, "charge", async { Err(Refused) }).await;
    Ok(charged.map(drop)?)
}

#[tokio::test]
async fn a_compensation_has_its_captures_and_an_always_one_what_its_step_gave() {
    let runs = Runs::default();
    let app = app(&runs);
    let run = app.run::<undone>(()).await;
    assert_eq!(run.outcome, Outcome::Dead);
    assert_eq!((runs.of("release 1 2"), runs.of("refund None")), (1, 1));
    assert_eq!(app.find(run.job).await.failure.expect("it failed").code, "X_TEST_REFUSED");
}

/// Goes on after a failed step.
#[job(tenant = none, retry(max_attempts = 1))]
async fn swallows(ctx: &Ctx, _input: ()) -> Result<u32, Failure> {
    let value: u32 = step!(ctx, "fails", async { Err(std::io::Error::other("no")) }).await.unwrap_or_default();
    sleep!(ctx, "nap", "1h").await;
    Ok(value + step!(ctx, "goes on", async { Ok(ran(ctx, "goes on")?) }).await?)
}

#[tokio::test]
async fn a_body_may_go_on_after_a_failed_step_and_does_the_same_in_a_replay() {
    let runs = Runs::default();
    let app = app(&runs);
    let run = app.run::<swallows>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    let records = app.jobs().driver().steps(run.job).await.expect("the store answers");
    assert!(records.iter().any(|record| record.id.name == "fails" && record.status == StepStatus::Failed));
    app.clock().advance("1h");
    assert_eq!(app.attempt(run.job).await.outcome, Outcome::Completed);
    assert_eq!(app.output::<u32>(run.job).await, 1);
}

/// A race of an event and a time, whose branches go on to other steps.
#[job(tenant = none)]
async fn raced(ctx: &Ctx, input: u32) -> Result<String, Failure> {
    Ok(race!(ctx, "shipped or late", key = input,
        shipped = wait_for!(ctx, "shipped", key = input) => {
            let Shipped { parcel } = shipped?;
            step!(ctx, "note", async { Ok(format!("shipped {parcel}")) }).await?
        },
        () = sleep!(ctx, "patience", "3d") => "late".to_owned(),
    )
    .await?)
}

#[tokio::test]
async fn a_race_is_decided_by_what_comes_first() {
    let app = app(&Runs::default());
    let shipped = app.run::<raced>(1).await;
    let late = app.run::<raced>(2).await;
    assert_eq!((shipped.outcome, late.outcome), (Outcome::Parked, Outcome::Parked));
    Shipped { parcel: "1Z".to_owned() }.publish(app.jobs(), 1).await.expect("it is published");
    app.drain().await;
    assert_eq!(app.output::<String>(shipped.job).await, "shipped 1Z");
    app.clock().advance("3d");
    app.drain().await;
    assert_eq!(app.output::<String>(late.job).await, "late");
}

/// Its child fails.
#[job(tenant = none)]
async fn joins_a_failure(ctx: &Ctx, _input: ()) -> Result<u32, Failure> {
    Ok(spawn!(ctx, "child", key = 0, child, 0).await?.join().await?)
}

#[tokio::test]
async fn the_failure_of_a_child_is_its_parents() {
    let app = app(&Runs::default());
    let run = app.run::<joins_a_failure>(()).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.drain().await;
    let failure = app.find(run.job).await.failure.expect("it failed");
    assert_eq!(failure.code, "X_CHILD_FAILED", "{failure:?}");
}

#[tokio::test]
async fn the_outline_lists_what_a_person_sees_of_a_run() {
    let names: Vec<&str> = everything::SPEC.outline.iter().map(|item| item.name).collect();
    let expected = [
        "first", "first", "left", "right", "each", "nap", "shipped", "lost", "sooner", "long", "short", "child", "",
        "tried",
    ];
    assert_eq!(names, expected);
}
