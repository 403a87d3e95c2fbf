//! Hostile input on its way through a worker, on each driver: recorded, and no worker is the worse for it.

use crate::{
    fixtures::job,
    support::{Db, eventually},
};
use futures_util::future::BoxFuture;
use jobs::{
    Ctx, Failure, FollowUp, Job, Jobs, Registry, Settled, State,
    driver::{Driver, JobRecord, Memory, pg::Pg},
    spec::JobSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a body does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Act {
    Fail(u32),
    Nul,
    NotFinite,
    Large,
    Return(String),
}

pub(crate) enum Hostile {}

impl Job for Hostile {
    type Input = Act;
    type Output = Returned;
    const SPEC: JobSpec = JobSpec::new("hostile").then(FollowUp::to::<After>());

    fn tenant(_: &Act) -> Option<String> {
        None
    }

    fn run(_: &Ctx, input: Act) -> BoxFuture<'_, Result<Returned, Failure>> {
        Box::pin(async move {
            Ok(match input {
                Act::Fail(megabytes) => {
                    let text = "\0\u{1b}[31m\"'\\\u{202e}".to_owned() + &"€".repeat(megabytes as usize * 350_000);
                    return Err(Failure::terminal(text));
                }
                Act::Nul => Returned::Text("a\0b".to_owned()),
                Act::NotFinite => Returned::Number(f64::INFINITY),
                Act::Large => Returned::Text("a".repeat(1 << 20)),
                Act::Return(text) => Returned::Text(text),
            })
        })
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Returned {
    Text(String),
    Number(f64),
}

job!(After: Settled, JobSpec::new("after"));

async fn drivers() -> (Db, Vec<Arc<dyn Driver>>) {
    let db = Db::new();
    let pg = Pg::new(db.pool(2).await).expect("the driver takes a pool");
    (db, vec![Arc::new(Memory::new()), Arc::new(pg)])
}

async fn settled(jobs: &Jobs, id: jobs::JobId) -> JobRecord {
    eventually("the job settles", || async {
        let record = jobs.find(id).await.expect("it is stored");
        record.state.is_final().then_some(record)
    })
    .await
}

#[tokio::test]
async fn what_cannot_be_stored_fails_its_job_alone() {
    let (_db, drivers) = drivers().await;
    for driver in drivers {
        let registry = Registry::builder().job::<Hostile>().job::<After>().build().expect("they agree");
        let jobs = Jobs::new(driver, registry);
        let acts = [Act::Fail(10), Act::Nul, Act::NotFinite, Act::Large, Act::Return("fine".to_owned())];
        let enqueued = jobs.enqueue_many::<Hostile>(acts).await.expect("the acts are storable");
        let worker = jobs.worker().start().await.expect("it starts");
        let mut said = Vec::new();
        for job in enqueued {
            let record = settled(&jobs, job.id()).await;
            said.push(match record.failure {
                Some(failure) => {
                    assert_eq!(record.state, State::Dead);
                    format!("{}: {}", failure.code, failure.operator.chars().take(80).collect::<String>())
                }
                None => record.output.expect("it returned something").to_string(),
            });
        }
        worker.drain().await;
        assert_eq!(
            said,
            [
                format!(r#"X_JOB_FAILED: \u{{0}}\u{{1b}}[31m"'\\u{{202e}}{}"#, "€".repeat(80 - 26)),
                "X_JOB_OUTPUT_INVALID: the output of `hostile` holds NUL in a string at `.`".to_owned(),
                "X_JOB_OUTPUT_INVALID: the output of `hostile` holds a number that is not finite at `.`".to_owned(),
                "X_JOB_OUTPUT_INVALID: the output of `hostile` is 1048578 bytes of JSON, the limit is 1048576"
                    .to_owned(),
                "\"fine\"".to_owned(),
            ]
        );
    }
}

#[tokio::test]
async fn a_follow_up_holds_a_full_input_and_a_full_output() {
    let (_db, drivers) = drivers().await;
    for driver in drivers {
        let registry = Registry::builder().job::<Hostile>().job::<After>().build().expect("they agree");
        let jobs = Jobs::new(driver, registry);
        let text = "a".repeat((1 << 20) - r#"{"Return":""}"#.len());
        let job = jobs.enqueue::<Hostile>(Act::Return(text)).await.expect("1 MiB is allowed");
        let worker = jobs.worker().start().await.expect("it starts");
        assert_eq!(settled(&jobs, job.id()).await.state, State::Completed);
        let after = jobs::driver::ListFilter { kind: Some("after".to_owned()), ..Default::default() };
        eventually("the follow-up is written", || async {
            let found = jobs.list(after.clone()).await.expect("the store answers");
            found.iter().any(|record| record.payload.as_str().len() > 2_000_000).then_some(())
        })
        .await;
        worker.drain().await;
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Renamed {
    lines: Vec<Line>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    sku: u32,
}

/// The spec of a job that fails once and for all.
const ORDER: JobSpec = JobSpec::new("order").retry(jobs::spec::Retry::new(1, jobs::backoff::Backoff::fixed("1ms")));

job!(Before: Value, ORDER);
job!(Broken: Renamed, ORDER);
job!(Fixed: Value, ORDER);

#[tokio::test]
async fn a_payload_that_no_longer_decodes_keeps_its_bytes_and_runs_after_the_fix() {
    let (_db, drivers) = drivers().await;
    for driver in drivers {
        let of = |registry: jobs::registry::Builder| Jobs::new(driver.clone(), registry.build().expect("one job"));
        let payload = json!({ "lines": [{ "sku": 1 }, { "sku": "B-2" }], "total": u64::MAX });
        let jobs = of(Registry::builder().job::<Before>());
        let job = jobs.enqueue::<Before>(payload).await.expect("it is storable").id();
        let stored = jobs.find(job).await.expect("it is stored").payload;

        let worker = of(Registry::builder().job::<Broken>()).worker().start().await.expect("it starts");
        let record = settled(&jobs, job).await;
        worker.drain().await;
        let failure = record.failure.expect("it did not decode");
        assert_eq!((record.state, failure.code.as_str()), (State::Dead, "X_PAYLOAD_UNREADABLE"));
        assert!(
            failure.operator.contains("at `lines[1].sku`: invalid type: string \"B-2\", expected u32"),
            "{failure:?}"
        );
        assert_eq!(record.payload, stored);

        let fixed = of(Registry::builder().job::<Fixed>());
        fixed.requeue(job).await.expect("a dead job can be requeued");
        let worker = fixed.worker().start().await.expect("it starts");
        let record = settled(&jobs, job).await;
        worker.drain().await;
        assert_eq!((record.state, record.payload), (State::Completed, stored));
    }
}

pub(crate) enum Parent {}

impl Job for Parent {
    type Input = ();
    type Output = jobs::JobId;
    const SPEC: JobSpec = JobSpec::new("parent");

    fn tenant(_: &()) -> Option<String> {
        None
    }

    fn run(ctx: &Ctx, _: ()) -> BoxFuture<'_, Result<jobs::JobId, Failure>> {
        Box::pin(async move { Ok(ctx.jobs().enqueue::<Before>(json!(1)).await?.id()) })
    }
}

#[tokio::test]
async fn what_a_run_enqueues_keeps_its_trace() {
    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let (_db, drivers) = drivers().await;
    for driver in drivers {
        let jobs = Jobs::new(driver, Registry::builder().job::<Parent>().build().expect("one job"));
        let parent = jobs.enqueue::<Parent>(()).trace(TRACE).await.expect("it is written");
        let worker = jobs.worker().start().await.expect("it starts");
        let record = settled(&jobs, parent.id()).await;
        worker.drain().await;
        let child = record.output.expect("it completed").decode().expect("it is an id");
        assert_eq!(jobs.find(child).await.expect("it is stored").trace.as_deref(), Some(TRACE));
    }
}
