//! Recorded runs are replayed against new code before it is deployed.

use crate::log::{Log, harness, note};
use jobs::{
    Outcome,
    prelude::*,
    replay::{Finding, ReplayEnd, RunHistory},
    serde_json,
    testing::{Harness, assert_replays},
};

/// The job before the change.
mod old {
    use super::*;

    #[job(name = "steps.checked", tenant = none)]
    pub(crate) async fn checked(ctx: &Ctx, input: u32) -> Result<u32, Failure> {
        let a = step!(ctx, "a", async {
            note(ctx, "a");
            Ok(input)
        })
        .await?;
        let b = step!(ctx, "b", async { Ok(a + 1) }).await?;
        sleep!(ctx, "nap", "1d").await;
        step!(ctx, "end", async { Ok(()) }).await?;
        Ok(a + b)
    }
}

/// The history of a run that sleeps, as a test keeps it.
async fn history() -> RunHistory {
    let (app, _) = harness!(old::checked);
    let run = app.run::<old::checked>(3).await;
    assert_eq!(run.outcome, Outcome::Parked);
    let text = serde_json::to_string(&app.jobs().history(run.job).await.expect("it is stored")).expect("it is written");
    serde_json::from_str(&text).expect("it is read")
}

fn code<New: Job>() -> Harness {
    Harness::with(Registry::builder().job::<New>().build().expect("one job"))
}

#[tokio::test]
async fn the_code_that_made_it_replays_it_without_running_a_step() {
    let log = Log::default();
    let app = code::<old::checked>();
    let replayed = app.jobs().replay(history().await).state(log.clone()).await.expect("the job is known");
    assert_eq!((replayed.end, replayed.findings.len()), (ReplayEnd::Open(vec!["nap".to_owned()]), 0));
    assert!(log.take().is_empty());
    assert_replays(app.jobs(), history().await).await;
}

#[tokio::test]
async fn a_run_in_flight_is_checked_by_its_id() {
    let (app, log) = harness!(old::checked);
    let run = app.run::<old::checked>(3).await;
    let replayed = app.jobs().replay_check(run.job).await.expect("it is stored");
    assert_eq!(replayed.findings, []);
    app.clock().advance("1d");
    app.drain().await;
    let replayed = app.jobs().replay_check(run.job).await.expect("it stands in the history");
    assert_eq!((replayed.end, replayed.findings.len()), (ReplayEnd::Returned, 0));
    assert_eq!(log.take(), ["a"]);
}

/// Has a sleep where a step was.
#[job(name = "steps.checked", tenant = none)]
async fn other_kind(ctx: &Ctx, _input: u32) -> Result<u32, Failure> {
    step!(ctx, "a", async { Ok(0) }).await?;
    sleep!(ctx, "b", "1h").await;
    Ok(0)
}

/// Has no `b`, and another payload.
#[job(name = "steps.checked", tenant = none)]
async fn without_b(ctx: &Ctx, _input: u32) -> Result<u32, Failure> {
    Ok(step!(ctx, "a", async { Ok(0) }).await?)
}

/// Has a step more, in the middle.
#[job(name = "steps.checked", tenant = none)]
async fn one_more(ctx: &Ctx, _input: u32) -> Result<u32, Failure> {
    step!(ctx, "a", async { Ok(0) }).await?;
    step!(ctx, "new", async { Err::<(), _>(Failure::terminal("it must not run")) }).await?;
    Ok(step!(ctx, "b", async { Ok(0) }).await?)
}

#[job(name = "steps.checked", tenant = none)]
async fn other_payload(_ctx: &Ctx, input: String) -> Result<String, Failure> {
    Ok(input)
}

#[job(name = "steps.checked", tenant = none)]
async fn panics(_ctx: &Ctx, _input: u32) -> Result<(), Failure> {
    panic!("no more")
}

#[tokio::test]
async fn each_way_in_which_code_and_records_part_is_told() {
    let found = async |app: Harness| {
        let replayed = app.jobs().replay(history().await).await.expect("the job is known");
        let texts: Vec<String> = replayed.findings.iter().map(Finding::to_string).collect();
        texts.join("; ")
    };
    assert_eq!(found(code::<other_kind>()).await, "step `b`: it is recorded as a step, and is now a sleep");
    assert_eq!(
        found(code::<without_b>()).await,
        "step `b` is recorded, and the body does not come to it; step `nap` is recorded, and the body does not come to it"
    );
    assert_eq!(found(code::<one_more>()).await, "step `new` is not complete and stands before recorded ones");
    assert!(found(code::<other_payload>()).await.starts_with("the payload does not decode: "));
    assert_eq!(found(code::<panics>()).await, "the body panicked: no more");
}

#[tokio::test]
#[should_panic(expected = "does not replay: step `b`: it is recorded as a step, and is now a sleep")]
async fn the_assertion_tells_what_does_not_fit() {
    assert_replays(code::<other_kind>().jobs(), history().await).await;
}

/// Waits in a race.
#[job(tenant = none)]
async fn waits_in_a_race(ctx: &Ctx) -> Result<(), Failure> {
    race!(ctx, "either",
        () = sleep!(ctx, "short", "1h") => (),
        () = sleep!(ctx, "long", "2h") => (),
    )
    .await?;
    sleep!(ctx, "after", "1d").await;
    Ok(())
}

#[tokio::test]
async fn a_run_that_waits_in_a_race_or_behind_one_fits_its_own_code() {
    let (app, _) = harness!(waits_in_a_race);
    let run = app.run::<waits_in_a_race>(()).await;
    let replayed = app.jobs().replay_check(run.job).await.expect("it is stored");
    assert_eq!((replayed.findings, replayed.end), (vec![], ReplayEnd::Open(vec!["short".into(), "long".into()])));
    app.clock().advance("1h");
    assert_eq!(app.drain().await[0].outcome, Outcome::Parked);
    let replayed = app.jobs().replay_check(run.job).await.expect("it is stored");
    assert_eq!((replayed.findings, replayed.end), (vec![], ReplayEnd::Open(vec!["after".into()])));
}
