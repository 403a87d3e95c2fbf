//! What the expansion does when it is enqueued and run: the handle, the body, the hooks, the follow-ups.

use jobs::{
    Outcome,
    failure::Stop,
    outline::{OutlineItem, OutlineKind},
    prelude::*,
    serde_json::{Value, json},
    testing::Harness,
};
use std::sync::{Arc, Mutex};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parcel {
    org: String,
    number: u32,
}

fn parcel(number: u32) -> Parcel {
    Parcel { org: "acme".to_owned(), number }
}

#[derive(Debug, thiserror::Error, JobError)]
enum PackError {
    #[error("the box is broken")]
    #[job_error(retry = terminal, code = "X_BOX_BROKEN", title = "a box is broken", caller_fix = "send another box")]
    Broken,
    #[error("no tape left")]
    #[job_error(retry = after("90s"))]
    NoTape,
}

/// Packs a parcel; one of number 0 is broken, one of number 1 finds no tape.
#[job(tenant = input.org, needs(Log), version = 2, upgrade = number_it, on_dead = write_off, on_settled = note)]
async fn pack(ctx: &Ctx, input: Parcel) -> Result<u32, PackError> {
    assert!(ctx.state::<Log>().is_ok());
    match input.number {
        0 => Err(PackError::Broken),
        1 => Err(PackError::NoTape),
        number => Ok(number),
    }
}

#[job(tenant = input.tenant)]
async fn write_off(_ctx: &Ctx, input: Settled) -> Result<String, Failure> {
    Ok(input.job)
}

#[job(tenant = none)]
async fn takes_nothing(ctx: &Ctx) -> Result<u32, String> {
    Ok(ctx.attempt())
}

/// What the hook saw.
type Log = Arc<Mutex<Vec<State>>>;

async fn note(ctx: &Ctx, settled: Settled) -> Result<(), Failure> {
    ctx.state::<Log>()?.lock().map_err(|_| Failure::terminal("poisoned"))?.push(settled.state);
    Ok(())
}

fn number_it(from: u16, mut input: Value) -> Result<Value, String> {
    if from != 1 {
        return Err(format!("version {from} never was"));
    }
    input["number"] = json!(7);
    Ok(input)
}

fn app(log: &Log) -> Harness {
    let registry = Registry::builder().job::<pack>().job::<write_off>().job::<takes_nothing>().build();
    Harness::with(registry.expect("the declarations agree")).state(log.clone())
}

#[tokio::test]
async fn the_handle_enqueues_and_the_body_runs() {
    let log = Log::default();
    let app = app(&log);
    let run = app.run_enqueue(pack::enqueue(app.jobs(), parcel(5))).await;
    assert_eq!((run.outcome, app.output::<u32>(run.job).await), (Outcome::Completed, 5));
    assert_eq!(app.find(run.job).await.tenant.as_deref(), Some("acme"));
    assert_eq!(*log.lock().unwrap(), [State::Completed]);
}

#[tokio::test]
async fn the_handle_enqueues_many() {
    let app = app(&Log::default());
    let answers = pack::enqueue_many(app.jobs(), (2..7).map(parcel)).await.expect("enqueued");
    assert_eq!(answers.len(), 5);
    assert_eq!(app.drain().await.len(), 5);
}

#[tokio::test]
async fn the_fn_is_called_as_it_was_written() {
    let app = app(&Log::default());
    let ctx = Ctx::for_test(app.jobs()).state(Log::default()).build();
    assert_eq!(pack(&ctx, parcel(3)).await.ok(), Some(3));
}

#[tokio::test]
async fn a_job_without_an_input_takes_the_unit() {
    let app = app(&Log::default());
    let run = app.run_enqueue(takes_nothing::enqueue(app.jobs(), ())).await;
    assert_eq!(app.output::<u32>(run.job).await, 1);
}

#[tokio::test]
async fn the_class_of_the_returned_error_decides_and_the_follow_up_is_written() {
    let log = Log::default();
    let app = app(&log);
    let run = app.run::<pack>(parcel(0)).await;
    assert_eq!((run.outcome, run.stop), (Outcome::Dead, Some(Stop::Terminal)));
    let failure = run.error.expect("it failed");
    assert_eq!((failure.code.as_str(), failure.caller_fix.as_deref()), ("X_BOX_BROKEN", Some("send another box")));
    app.assert_enqueued::<write_off>(|settled| settled.job == "pack").await;
    assert_eq!(*log.lock().unwrap(), [State::Dead]);
}

#[tokio::test]
async fn an_error_may_say_how_long_to_wait() {
    let app = app(&Log::default());
    let run = app.run::<pack>(parcel(1)).await;
    assert_eq!(run.outcome, Outcome::Retried);
    assert_eq!(run.resume_after, Some(std::time::Duration::from_secs(90)));
}

#[test]
fn an_older_input_passes_through_the_upgrade() {
    let upgraded = pack::upgrade(1, json!({ "org": "acme" })).expect("upgraded");
    assert_eq!(upgraded, json!({ "org": "acme", "number": 7 }));
    assert_eq!(pack::upgrade(9, json!({})).expect_err("refused").to_string(), "version 9 never was");
}

/// Stands in for the constructs: the outline reads tokens, whatever they expand to.
macro_rules! step {
    ($($tokens:tt)*) => {};
}
use step as compensate;

#[job(tenant = none)]
async fn outlined(_ctx: &Ctx) -> Result<(), Failure> {
    step!(ctx, "hold stock", async {});
    compensate!(ctx, "hold stock", [], async |_| {});
    for _ in 0..2 {
        step!(ctx, "charge", key = number, async {});
    }
    Ok(())
}

#[test]
fn the_outline_of_a_body_stands_in_the_declaration_with_its_lines() {
    let outline = outlined::SPEC.outline;
    let line = outline[0].line;
    assert!(line > 100);
    assert_eq!(
        outline,
        [
            OutlineItem::new(OutlineKind::Step, "hold stock", false, line),
            OutlineItem::new(OutlineKind::Compensate, "hold stock", false, line + 1),
            OutlineItem::new(OutlineKind::Step, "charge", true, line + 3),
        ]
    );
}
