//! Payloads that no longer decode, values at the edges, outputs that cannot be stored, and hostile error texts: on
//! every driver.

use crate::support::eventually;
use jobs::{
    JobId, Jobs, Output, Payload, Registry,
    driver::{Driver, JobRecord},
    failure::{MAX_OPERATOR, Stop},
    prelude::*,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Makes the tests of a driver. The value beside the driver lives as long as its test.
macro_rules! cases {
    ($driver:expr) => {
        mod payload {
            use super::*;

            $crate::payload::cases!(@ $driver;
                a_payload_that_no_longer_decodes_is_kept_and_runs_once_the_code_is_mended
                an_older_payload_runs_through_its_upgrade_and_a_newer_one_is_left_alone
                hostile_error_texts_are_recorded_on_one_line_and_the_job_is_dead
                outputs_that_cannot_be_stored_end_the_job_and_spare_the_worker
                numbers_are_exact_at_every_attempt
            );
        }
    };
    (@ $driver:expr; $($case:ident)*) => {
        $(#[tokio::test]
        async fn $case() {
            let (driver, _kept) = $driver.await;
            $crate::payload::$case(driver).await;
        })*
    };
}
pub(crate) use cases;

async fn ended(jobs: &Jobs, id: JobId) -> JobRecord {
    eventually("the job ends", async || jobs.find(id).await.ok().filter(|record| record.state.is_final())).await
}

/// Runs what is queued by a worker of this registry, until these have ended.
async fn run(driver: &Arc<dyn Driver>, registry: Registry, ids: &[JobId]) -> Vec<JobRecord> {
    let jobs = Jobs::new(Arc::clone(driver), registry);
    let worker = jobs.worker().start().await.expect("a worker starts");
    let mut records = Vec::new();
    for id in ids {
        records.push(ended(&jobs, *id).await);
    }
    worker.drain().await;
    records
}

/// Three releases of one job: the first, one that broke its input, one that mended it.
mod releases {
    use super::*;

    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    pub(crate) struct Shipped {
        pub(crate) order: Order,
    }

    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    pub(crate) struct Order {
        pub(crate) weight: String,
        pub(crate) id: u64,
    }

    pub(super) mod first {
        use super::*;

        #[job(name = "fault.ship", queue = "ship", tenant = none)]
        pub(crate) async fn ship(_: &Ctx, input: Shipped) -> Result<u64, Failure> {
            Ok(input.order.id)
        }
    }

    pub(super) mod broken {
        use super::*;

        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        pub(crate) struct Shipped {
            order: Order,
        }

        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        struct Order {
            weight: f64,
        }

        #[job(name = "fault.ship", queue = "ship", tenant = none,
              retry(max_attempts = 2, backoff = fixed("10ms")))]
        pub(crate) async fn ship(_: &Ctx, input: Shipped) -> Result<f64, Failure> {
            Ok(input.order.weight)
        }
    }

    pub(super) mod upgraded {
        use super::*;

        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        pub(crate) struct Shipped {
            pub(crate) parcels: Vec<u64>,
        }

        fn upgrade(from: u16, old: Value) -> Result<Value, Failure> {
            assert_eq!(from, 1);
            Ok(json!({ "parcels": [old["order"]["id"]] }))
        }

        #[job(name = "fault.ship", queue = "ship", tenant = none, version = 2, upgrade = upgrade)]
        pub(crate) async fn ship(_: &Ctx, input: Shipped) -> Result<u64, Failure> {
            Ok(input.parcels[0])
        }
    }
}

#[job(queue = "ship", tenant = none)]
async fn bystander(_: &Ctx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

pub(crate) async fn a_payload_that_no_longer_decodes_is_kept_and_runs_once_the_code_is_mended(driver: Arc<dyn Driver>) {
    use releases::{Order, Shipped, broken, first};
    let jobs =
        Jobs::new(Arc::clone(&driver), Registry::builder().job::<first::ship>().job::<bystander>().build().unwrap());
    let order = |id| Shipped { order: Order { weight: "12 kg".to_owned(), id } };
    let ids: Vec<_> =
        jobs.enqueue_many::<first::ship>((0..20).map(order)).await.unwrap().iter().map(Enqueued::id).collect();
    let other = jobs.enqueue::<bystander>(3).await.unwrap().id();
    let stored = jobs.find(ids[7]).await.unwrap().payload;

    let broken = Registry::builder().job::<broken::ship>().job::<bystander>().build().unwrap();
    for record in run(&driver, broken, &ids).await {
        let failure = record.failure.as_ref().unwrap();
        assert_eq!((record.state, record.attempt), (State::Dead, 2), "{record:?}");
        assert_eq!(failure.code, "X_PAYLOAD_UNREADABLE");
        assert!(failure.operator.contains("`order.weight`"), "the path is named: {}", failure.operator);
    }
    assert_eq!(ended(&jobs, other).await.state, State::Completed, "other kinds go on");
    assert_eq!(jobs.find(ids[7]).await.unwrap().payload, stored, "the bytes are kept");

    for id in &ids {
        jobs.requeue(*id).await.unwrap();
    }
    let mended = Registry::builder().job::<first::ship>().build().unwrap();
    for (id, record) in run(&driver, mended, &ids).await.iter().enumerate() {
        assert_eq!(record.state, State::Completed);
        assert_eq!(record.output.as_ref().unwrap().as_str(), id.to_string(), "with its original input");
    }
}

pub(crate) async fn an_older_payload_runs_through_its_upgrade_and_a_newer_one_is_left_alone(driver: Arc<dyn Driver>) {
    use releases::{Order, Shipped, first, upgraded};
    let registry = || Registry::builder().job::<first::ship>().job::<bystander>().build().unwrap();
    let old = Jobs::new(Arc::clone(&driver), registry());
    let new = Jobs::new(Arc::clone(&driver), Registry::builder().job::<upgraded::ship>().build().unwrap());
    let newer = new.enqueue::<upgraded::ship>(upgraded::Shipped { parcels: vec![9] }).await.unwrap().id();
    let other = old.enqueue::<bystander>(1).await.unwrap().id();
    // A worker of the old release, which must not touch it.
    run(&driver, registry(), &[other]).await;
    let record = old.find(newer).await.unwrap();
    assert_eq!((record.state, record.attempt), (State::Ready, 1));

    let older =
        old.enqueue::<first::ship>(Shipped { order: Order { weight: String::new(), id: 5 } }).await.unwrap().id();
    let registry = Registry::builder().job::<upgraded::ship>().build().unwrap();
    let records = run(&driver, registry, &[newer, older]).await;
    let outputs: Vec<_> = records.iter().map(|record| record.output.as_ref().unwrap().as_str()).collect();
    assert_eq!(outputs, ["9", "5"]);
}

/// Fails with the text of this number.
#[job(queue = "hostile", tenant = none, retry(max_attempts = 2, backoff = fixed("10ms")))]
async fn hostile(_: &Ctx, number: usize) -> Result<(), Failure> {
    Err(Failure::retry(texts().swap_remove(number)))
}

fn texts() -> Vec<String> {
    vec![
        "a\0b".to_owned(),
        "\u{1b}[2J\u{1b}[31mred\u{7}\u{8}\u{9b}".to_owned(),
        "x".repeat(10 << 20),
        "\u{1f600}".repeat(1 << 20),
        String::from_utf8_lossy(b"\xed\xa0\x80 \xff\xfe").into_owned(),
        r"\ud800 \u0000".to_owned(),
        "line\r\nforged ERROR jobs: all is well\u{2028}next".to_owned(),
        "\u{202e}gnp.exe\u{2066}\u{feff}".to_owned(),
        String::new(),
        "'; DROP TABLE jobs.ready; --".to_owned(),
        "no answer from postgres://app:c4nary@db/shop".to_owned(),
    ]
}

pub(crate) async fn hostile_error_texts_are_recorded_on_one_line_and_the_job_is_dead(driver: Arc<dyn Driver>) {
    let registry = || Registry::builder().job::<hostile>().build().unwrap();
    let jobs = Jobs::new(Arc::clone(&driver), registry());
    let count = texts().len();
    let ids: Vec<_> = jobs.enqueue_many::<hostile>(0..count).await.unwrap().iter().map(Enqueued::id).collect();
    for record in run(&driver, registry(), &ids).await {
        assert_eq!((record.state, record.attempt), (State::Dead, 2));
        let failure = record.failure.unwrap();
        assert_eq!(failure.stop, Some(Stop::AttemptsExhausted));
        assert!(failure.operator.len() <= MAX_OPERATOR);
        assert!(!failure.operator.contains(char::is_control), "{:?}", failure.operator);
        assert!(!failure.operator.contains(['\u{202e}', '\u{2028}', '\u{feff}']), "{:?}", failure.operator);
        assert!(!failure.operator.contains("c4nary"), "{}", failure.operator);
    }
}

/// Reports and returns what cannot be stored.
#[job(queue = "outputs", tenant = none, retry(max_attempts = 3, backoff = fixed("10ms")))]
async fn outputs(ctx: &Ctx, number: u64) -> Result<Value, Failure> {
    ctx.progress(1, 2, "a\0b\u{1b}[2J");
    Ok(match number {
        0 => json!({ "text": "a\0b" }),
        1 => json!({ "a\0b": 1 }),
        2 => json!("x".repeat((1 << 20) + 1)),
        3 => json!("x".repeat((1 << 20) - 2)),
        _ => json!("fine"),
    })
}

pub(crate) async fn outputs_that_cannot_be_stored_end_the_job_and_spare_the_worker(driver: Arc<dyn Driver>) {
    let registry = || Registry::builder().job::<outputs>().build().unwrap();
    let jobs = Jobs::new(Arc::clone(&driver), registry());
    let ids: Vec<_> = jobs.enqueue_many::<outputs>(0..5).await.unwrap().iter().map(Enqueued::id).collect();
    let records = run(&driver, registry(), &ids).await;
    for record in &records[..3] {
        assert_eq!((record.state, record.attempt), (State::Dead, 1), "its effect is not repeated blindly");
        let failure = record.failure.as_ref().unwrap();
        assert_eq!((failure.code.as_str(), failure.stop), ("X_JOB_OUTPUT_INVALID", Some(Stop::Terminal)));
    }
    for record in &records[3..] {
        assert_eq!(record.state, State::Completed);
    }
    assert_eq!(records[3].output.as_ref().unwrap().as_str().len(), 1 << 20, "1 MiB is stored");
}

/// Numbers, as they are given and as they come back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Numbers {
    signed: Vec<i64>,
    unsigned: Vec<u64>,
    floats: Vec<f64>,
}

/// Fails twice, then gives back its input.
#[job(queue = "numbers", tenant = none, retry(max_attempts = 3, backoff = fixed("10ms")))]
async fn numbers(ctx: &Ctx, input: Numbers) -> Result<Numbers, Failure> {
    if ctx.attempt() < 3 { Err(Failure::retry("as told")) } else { Ok(input) }
}

pub(crate) async fn numbers_are_exact_at_every_attempt(driver: Arc<dyn Driver>) {
    let edges = [
        0.0011285007931292057,
        1673626980.0058892,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        f64::MIN,
        -0.0,
        0.1 + 0.2,
        1e23,
        9007199254740993.0,
    ];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let random_floats = std::iter::repeat_with(|| f64::from_bits(next())).filter(|float| float.is_finite()).take(5_000);
    let input = Numbers {
        signed: vec![i64::MIN, i64::MIN + 1, -1, 0, 130_775_545_883_395_173, (1 << 53) + 1, i64::MAX],
        unsigned: vec![0, (1 << 53) + 1, 1_970_670_598_291_982_291, i64::MAX as u64 + 1, u64::MAX],
        floats: edges.into_iter().chain(random_floats).collect(),
    };
    let registry = || Registry::builder().job::<numbers>().build().unwrap();
    let jobs = Jobs::new(Arc::clone(&driver), registry());
    let id = jobs.enqueue::<numbers>(input.clone()).delay("10ms").await.unwrap().id();
    let stored = jobs.find(id).await.unwrap().payload;
    let record = run(&driver, registry(), &[id]).await.remove(0);
    assert_eq!((record.state, record.attempt), (State::Completed, 3));
    assert_eq!(record.payload, stored, "the payload's text is never written anew");
    let output: Numbers = record.output.unwrap().decode().unwrap();
    assert_eq!((&output.signed, &output.unsigned), (&input.signed, &input.unsigned));
    let bits = |numbers: &Numbers| numbers.floats.iter().map(|float| float.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&output), bits(&input));
}

const _: () = {
    const fn stored<T: Payload + Output>() {}
    stored::<Numbers>();
};
