//! The harness for users' own tests: run in place, drain, a clock, assertions.

use jobs::{
    Ctx, Enqueued, Failure, Jobs, Outcome, Registry, Settled, State,
    failure::Stop,
    job,
    testing::{Act, Acts, Harness, assert_enqueued, enqueued, refute_enqueued},
};
use serde::{Deserialize, Serialize};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Order {
    org: String,
    number: u32,
}

#[derive(Clone, Default)]
struct Outbox(Arc<Mutex<Vec<String>>>);

/// Takes an order and sends a receipt.
#[job(queue = "orders", tenant = input.org, unique(by = [number], while = live))]
async fn take_order(ctx: &Ctx, input: Order) -> Result<u32, Failure> {
    ctx.jobs().enqueue::<send_receipt>(input.clone()).delay("1h").await?;
    Ok(input.number * 2)
}

#[job(queue = "mail", tenant = input.org)]
async fn send_receipt(ctx: &Ctx, input: Order) -> Result<(), Failure> {
    ctx.state::<Outbox>()?.0.lock().unwrap().push(format!("receipt {} to {}", input.number, input.org));
    Ok(())
}

#[job(tenant = none, retry(max_attempts = 3, backoff = fixed("1h")), on_dead = tell_operator)]
async fn always_fails(_ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    Err(Failure::retry("the bank is closed"))
}

#[job(tenant = none)]
async fn tell_operator(ctx: &Ctx, input: Settled) -> Result<(), Failure> {
    ctx.state::<Outbox>()?.0.lock().unwrap().push(format!("{} is {}", input.job, input.state));
    Ok(())
}

static HOOKS: AtomicU32 = AtomicU32::new(0);

async fn count(_ctx: &Ctx, _settled: Settled) -> Result<(), Failure> {
    HOOKS.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[job(tenant = none, on_settled = count)]
async fn hooked(_ctx: &Ctx, _input: ()) -> Result<(), Failure> {
    Ok(())
}

#[job(tenant = none)]
async fn for_ever(ctx: &Ctx, input: ()) -> Result<(), Failure> {
    ctx.jobs().enqueue::<for_ever>(input).await?;
    Ok(())
}

fn order(number: u32) -> Order {
    Order { org: "acme".to_owned(), number }
}

#[tokio::test]
async fn a_job_runs_in_place_and_says_what_it_came_to() {
    let app = Harness::new().unwrap();
    let run = app.run::<take_order>(order(21)).await;
    assert_eq!((run.outcome, run.attempt, run.stop), (Outcome::Completed, 1, None));
    assert_eq!(app.output::<u32>(run.job).await, 42);
    assert_eq!(app.state_of(run.job).await, State::Completed);
}

#[tokio::test]
async fn what_a_body_enqueued_is_asserted_with_its_input() {
    let app = Harness::new().unwrap();
    app.refute_enqueued::<send_receipt>(|_| true).await;
    app.run::<take_order>(order(7)).await;
    let waiting = app.assert_enqueued::<send_receipt>(|input| input.number == 7).await;
    assert_eq!((waiting.record.state, waiting.record.tenant.as_deref()), (State::Delayed, Some("acme")));
    app.refute_enqueued::<send_receipt>(|input| input.number == 8).await;
    assert_eq!(app.enqueued::<send_receipt>().await.len(), 1);
}

#[tokio::test]
async fn days_pass_at_once() {
    let outbox = Outbox::default();
    let app = Harness::new().unwrap().state(outbox.clone());
    app.jobs().enqueue::<take_order>(order(1)).delay("30d").await.unwrap();
    assert!(app.drain().await.is_empty());
    app.clock().advance("30d");
    assert_eq!(app.drain().await.len(), 1, "the order; its receipt waits for an hour more");
    app.clock().advance("59m");
    assert!(app.drain().await.is_empty());
    app.clock().advance("1m");
    assert_eq!(app.drain().await.len(), 1);
    assert_eq!(*outbox.0.lock().unwrap(), ["receipt 1 to acme"]);
}

#[tokio::test]
async fn a_job_fails_its_attempts_and_its_follow_up_runs() {
    let outbox = Outbox::default();
    let app = Harness::new().unwrap().state(outbox.clone());
    let first = app.run::<always_fails>(()).await;
    assert_eq!((first.outcome, first.attempt), (Outcome::Retried, 1));
    assert_eq!(first.resume_after.map(|wait| wait.as_secs()), Some(3_600));
    assert!(first.error.is_some_and(|error| error.operator.contains("the bank is closed")));
    let second = app.attempt(first.job).await;
    assert_eq!((second.outcome, second.attempt), (Outcome::Retried, 2));
    app.clock().advance("1h");
    let last = app.drain().await;
    assert_eq!(last.iter().map(|run| run.outcome).collect::<Vec<_>>(), [Outcome::Dead, Outcome::Completed]);
    assert_eq!(last[0].stop, Some(Stop::AttemptsExhausted));
    assert_eq!(*outbox.0.lock().unwrap(), ["always_fails is dead"]);
}

#[tokio::test]
async fn a_hook_has_run_when_the_run_returns() {
    let app = Harness::new().unwrap();
    app.run::<hooked>(()).await;
    assert_eq!(HOOKS.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_missing_state_is_a_failure_that_names_it() {
    let app = Harness::new().unwrap();
    let run = app.run::<send_receipt>(order(1)).await;
    assert_eq!(run.outcome, Outcome::Retried);
    let error = run.error.expect("it failed").operator;
    assert!(error.contains("send_receipt") && error.contains("Outbox"), "{error}");
}

#[tokio::test]
async fn every_act_ends_as_it_says() {
    let app = Harness::with(Registry::builder().job::<Acts>().build().unwrap());
    for (act, outcome) in [
        (Act::Ok, Outcome::Completed),
        (Act::Fail("no".to_owned()), Outcome::Retried),
        (Act::Terminal, Outcome::Dead),
        (Act::Panic("ouch".to_owned()), Outcome::Retried),
        (Act::Snooze(1_000), Outcome::Snoozed),
        (Act::Cancel, Outcome::Cancelled),
        (Act::Discard, Outcome::Dropped),
        (Act::Progress(1, 2), Outcome::Completed),
    ] {
        let run = app.run::<Acts>(vec![act.clone()]).await;
        assert_eq!(run.outcome, outcome, "{act:?}");
    }
    let run = app.run_enqueue(app.jobs().enqueue::<Acts>(vec![Act::UntilCancelled]).timeout("20ms")).await;
    assert!(run.error.is_some_and(|error| error.code == "X_JOB_TIMEOUT"));
    let run = app.run::<Acts>(vec![Act::Fail("once".to_owned()), Act::Ok]).await;
    assert_eq!(app.attempt(run.job).await.outcome, Outcome::Completed);
}

#[tokio::test]
#[should_panic(expected = "unique key is taken")]
async fn a_run_whose_key_is_taken_says_so() {
    let app = Harness::new().unwrap();
    app.jobs().enqueue::<take_order>(order(1)).await.unwrap();
    app.run::<take_order>(order(1)).await;
}

#[tokio::test]
#[should_panic(expected = "it is completed")]
async fn an_attempt_of_an_ended_job_says_how_it_ended() {
    let app = Harness::new().unwrap();
    let run = app.run::<hooked>(()).await;
    app.attempt(run.job).await;
}

#[tokio::test]
#[should_panic(expected = "10000 runs and no end")]
async fn jobs_that_enqueue_each_other_for_ever_stop_a_drain() {
    let app = Harness::new().unwrap();
    app.jobs().enqueue::<for_ever>(()).await.unwrap();
    app.drain().await;
}

#[tokio::test]
#[should_panic(expected = "but these are")]
async fn a_failed_assertion_shows_what_is_enqueued() {
    let app = Harness::new().unwrap();
    app.jobs().enqueue::<take_order>(order(1)).await.unwrap();
    app.assert_enqueued::<take_order>(|input| input.number == 2).await;
}

#[tokio::test]
async fn assertions_work_on_any_store() {
    let jobs = Jobs::memory().unwrap();
    let Enqueued::Inserted { id } = jobs.enqueue::<take_order>(order(5)).await.unwrap() else { panic!("it is new") };
    assert_eq!(assert_enqueued::<take_order>(&jobs, |_| true).await.record.id, id);
    assert_eq!(enqueued::<take_order>(&jobs).await[0].input.number, 5);
    refute_enqueued::<send_receipt>(&jobs, |_| true).await;
}

#[tokio::test]
async fn more_jobs_than_a_page_holds_are_all_found() {
    let app = Harness::new().unwrap();
    app.jobs().enqueue_many::<take_order>((0..450).map(order)).await.unwrap();
    let numbers: Vec<u32> = app.enqueued::<take_order>().await.iter().map(|job| job.input.number).collect();
    assert_eq!(numbers, (0..450).collect::<Vec<_>>());
}
