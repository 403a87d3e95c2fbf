//! Runs that wait for events, from the publication to the value in the body.

mod cases;
mod clock;
mod cut;
mod races;
mod skipped;

use crate::fixtures::{on_both, settled, shipped};
use jobs::{
    Event, JobId, Jobs,
    driver::{JobRecord, Memory, StepKind},
    prelude::*,
};
use std::time::Duration;

/// What a run waits for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Key {
    org: String,
    key: String,
}

pub(crate) fn key(key: impl ToString) -> Key {
    Key { org: "acme".to_owned(), key: key.to_string() }
}

/// Something happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[event(name = "thing.happened")]
pub(crate) struct Happened(pub(crate) String);

pub(crate) fn happened(what: impl ToString) -> Happened {
    Happened(what.to_string())
}

/// Waits for one event.
#[job(queue = "waits", tenant = input.org)]
pub(crate) async fn wait_once(ctx: &Ctx, input: Key) -> Result<String, Failure> {
    let happened: Happened = wait_for!(ctx, "first", key = input.key).await?;
    Ok(happened.0)
}

/// Waits for two events of one key, one after the other.
#[job(queue = "waits", tenant = input.org)]
pub(crate) async fn wait_twice(ctx: &Ctx, input: Key) -> Result<(String, String), Failure> {
    let one: Happened = wait_for!(ctx, "first", key = input.key).await?;
    let two: Happened = wait_for!(ctx, "second", key = input.key).await?;
    Ok((one.0, two.0))
}

/// Waits for one event, for three days at most.
#[job(queue = "waits", tenant = input.org)]
pub(crate) async fn wait_three_days(ctx: &Ctx, input: Key) -> Result<Option<String>, Failure> {
    let happened: Option<Happened> = wait_for!(ctx, "first", key = input.key, timeout = "3d").await?;
    Ok(happened.map(|happened| happened.0))
}

/// Waits for one event, for a moment.
#[job(queue = "waits", tenant = input.org)]
pub(crate) async fn wait_a_moment(ctx: &Ctx, input: Key) -> Result<Option<String>, Failure> {
    let happened: Option<Happened> = wait_for!(ctx, "first", key = input.key, timeout = "5ms").await?;
    Ok(happened.map(|happened| happened.0))
}

pub(crate) async fn is(jobs: &Jobs, id: JobId, state: State) {
    crate::support::eventually("the job is in that state", || async {
        (jobs.find(id).await.expect("it is stored").state == state).then_some(())
    })
    .await;
}

#[track_caller]
pub(crate) fn output<T: serde::de::DeserializeOwned>(record: &JobRecord) -> T {
    assert_eq!(record.state, State::Completed, "{record:?}");
    // What encodes as null is not stored.
    let null = jobs::JsonText::trusted("null");
    record.output.as_ref().unwrap_or(&null).decode().expect("it decodes")
}

/// So many at a time, so that the memory of the machine and the time of a test are not spent on idle turns.
pub(crate) async fn worker(jobs: &Jobs) -> jobs::Worker {
    jobs.worker().queue("waits", 64).start().await.expect("it starts")
}

#[tokio::test]
async fn an_event_of_a_type_arrives_in_the_body_that_waits() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let worker = worker(&jobs).await;
        let before = wait_once::enqueue(&jobs, key("late")).await.unwrap().id();
        is(&jobs, before, State::Suspended).await;
        happened("now").publish(&jobs, "late").await.unwrap();
        assert_eq!(output::<String>(&settled(&jobs, before).await), "now");
        happened("before").publish(&jobs, "early").await.unwrap();
        let after = wait_once::enqueue(&jobs, key("early")).await.unwrap().id();
        assert_eq!(output::<String>(&settled(&jobs, after).await), "before");
        worker.drain().await;
    }
}

#[tokio::test]
async fn another_name_another_key_and_another_tenant_wake_nobody() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let worker = worker(&jobs).await;
        let job = wait_once::enqueue(&jobs, key("a")).await.unwrap().id();
        is(&jobs, job, State::Suspended).await;
        shipped(1).publish(&jobs, "a").await.unwrap();
        happened(1).publish(&jobs, "A").await.unwrap();
        happened(2).publish(&jobs, "a").tenant("globex").await.unwrap();
        let mark = wait_once::enqueue(&jobs, key("A")).await.unwrap().id();
        assert_eq!(output::<String>(&settled(&jobs, mark).await), "1");
        assert_eq!(jobs.find(job).await.unwrap().state, State::Suspended);
        happened(3).publish(&jobs, "a").tenant("acme").await.unwrap();
        assert_eq!(output::<String>(&settled(&jobs, job).await), "3");
        worker.drain().await;
    }
}

#[tokio::test]
async fn a_transaction_that_rolls_back_wakes_nobody_and_one_that_commits_late_is_found() {
    let db = crate::support::Db::new();
    let pool = db.pool(6).await;
    let jobs = Jobs::postgres(pool.clone()).unwrap();
    let worker = worker(&jobs).await;
    // Open before anybody waits, and committed after.
    let mut late = pool.begin().await.unwrap();
    happened("late").publish(&jobs, "a").in_tx(&mut late).await.unwrap();
    let mut never = pool.begin().await.unwrap();
    happened("never").publish(&jobs, "a").in_tx(&mut never).await.unwrap();
    let job = wait_twice::enqueue(&jobs, key("a")).await.unwrap().id();
    is(&jobs, job, State::Suspended).await;
    never.rollback().await.unwrap();
    // Published later and committed first: the one that comes late is not skipped for it.
    happened("early").publish(&jobs, "a").await.unwrap();
    crate::support::eventually("it has taken the first", || async {
        let records = jobs.driver().steps(job).await.unwrap();
        records.iter().any(|record| record.kind == StepKind::Wait && record.event.is_some()).then_some(())
    })
    .await;
    late.commit().await.unwrap();
    let taken: (String, String) = output(&settled(&jobs, job).await);
    assert_eq!(taken, ("early".to_owned(), "late".to_owned()));
    worker.drain().await;
}

#[tokio::test]
async fn in_memory_a_transaction_wakes_at_its_commit_alone() {
    let jobs = Jobs::memory().unwrap();
    let memory = jobs.driver().as_any().downcast_ref::<Memory>().unwrap().clone();
    let worker = worker(&jobs).await;
    let job = wait_once::enqueue(&jobs, key("a")).await.unwrap().id();
    is(&jobs, job, State::Suspended).await;
    let mut tx = memory.begin();
    happened("never").publish(&jobs, "a").in_tx(&mut tx).await.unwrap();
    tx.rollback();
    let mut tx = memory.begin();
    happened("then").publish(&jobs, "a").in_tx(&mut tx).await.unwrap();
    assert_eq!(jobs.find(job).await.unwrap().state, State::Suspended);
    tx.commit();
    assert_eq!(output::<String>(&settled(&jobs, job).await), "then");
    worker.drain().await;
    assert_eq!(Happened::NAME, "thing.happened");
}

#[tokio::test]
async fn an_event_from_sql_is_one_like_any_other() {
    let db = crate::support::Db::new();
    let pool = db.pool(3).await;
    let jobs = Jobs::postgres(pool.clone()).unwrap();
    let worker = jobs.worker().queue("waits", 4).start().await.unwrap();
    let job = wait_once::enqueue(&jobs, key("a")).await.unwrap().id();
    is(&jobs, job, State::Suspended).await;
    let began = std::time::Instant::now();
    sqlx::query("SELECT jobs.publish('thing.happened', 'a', '\"from SQL\"', tenant => 'acme', ttl => '1 hour')")
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(output::<String>(&settled(&jobs, job).await), "from SQL");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    worker.drain().await;
}
