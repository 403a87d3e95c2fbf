//! What follows a job that has settled: the hook, the follow-up jobs, the report. And what the context says.

use crate::act::{Act, Acts, ended, enqueue_as};
use jobs::{
    Ctx, Failure, FollowUp, Job, Jobs, Outcome, Registry, Settled, State,
    driver::{ListFilter, Memory},
    spec::JobSpec,
};
use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Describes its run: `plain`, or fails or panics as its input says.
pub(crate) struct Described;

/// What hooks and follow-ups saw.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Job for Described {
    type Input = String;
    type Output = String;
    const SPEC: JobSpec = JobSpec::new("described").then(FollowUp::to::<After>()).on_dead(FollowUp::to::<After>());

    fn tenant(input: &String) -> Option<String> {
        input.strip_prefix("tenant ").map(str::to_owned)
    }

    fn run(ctx: &Ctx, input: String) -> Boxed<'_, Result<String, Failure>> {
        Box::pin(async move {
            if input == "dies" {
                return Err(Failure::terminal("died").code("X_CARD_DECLINED"));
            }
            let current = Ctx::current().map(|current| current.id() == ctx.id());
            let spawned = tokio::spawn(async { Ctx::current().is_none() }).await.unwrap();
            let scoped = tokio::spawn(ctx.scope(async { Ctx::current().is_some() })).await.unwrap();
            let missing = ctx.state::<u8>().unwrap_err();
            Ok(format!(
                "{} {} {}/{} {:?} {current:?} {spawned} {scoped} {}",
                ctx.job(),
                ctx.queue(),
                ctx.attempt(),
                ctx.max_attempts(),
                ctx.tenant(),
                missing.detail()
            ))
        })
    }

    fn on_settled(ctx: &Ctx, settled: Settled) -> Option<Boxed<'_, Result<(), Failure>>> {
        Some(Box::pin(async move {
            let seen = ctx.state::<Seen>()?;
            seen.note(format!("hook {} {}", settled.state, settled.input));
            match settled.input.as_str() {
                r#""hook fails""# => Err(Failure::retry("no")),
                r#""hook panics""# => panic!("no"),
                r#""hook hangs""# => std::future::pending().await,
                _ => Ok(()),
            }
        }))
    }
}

/// Follows.
struct After;

impl Job for After {
    type Input = Settled;
    type Output = ();
    const SPEC: JobSpec = JobSpec::new("after");

    fn tenant(settled: &Settled) -> Option<String> {
        assert!(settled.input.as_str() != r#""follow-up panics""#, "as told");
        settled.tenant.clone()
    }

    fn run(ctx: &Ctx, settled: Settled) -> Boxed<'_, Result<(), Failure>> {
        Box::pin(async move {
            let failure = settled.failure.map(|failure| failure.code);
            ctx.state::<Seen>()?.note(format!("after {} {:?} {failure:?}", settled.state, settled.output));
            Ok(())
        })
    }
}

/// A report's code, text and outcome.
type Told = (String, String, Option<Outcome>);

struct World {
    jobs: Jobs,
    seen: Seen,
    reports: Arc<Mutex<Vec<Told>>>,
    worker: jobs::Worker,
}

async fn world() -> World {
    let registry = Registry::builder().job::<Described>().job::<After>().job::<Acts>().build().unwrap();
    let jobs = Jobs::new(Arc::new(Memory::new()), registry);
    let (seen, reports) = (Seen::default(), Arc::new(Mutex::new(Vec::new())));
    let told = reports.clone();
    let worker = jobs
        .worker()
        .state(seen.clone())
        .on_error(move |report| {
            let outcome = report.job.as_ref().map(|job| job.outcome);
            told.lock().unwrap().push((report.code.clone(), report.text.clone(), outcome));
        })
        .start()
        .await
        .unwrap();
    World { jobs, seen, reports, worker }
}

impl World {
    async fn runs(&self, input: &str) -> jobs::driver::JobRecord {
        let job = self.jobs.enqueue::<Described>(input.to_owned()).await.unwrap().id();
        ended(&self.jobs, job).await
    }

    async fn all_ended(&self) {
        loop {
            let live = self.jobs.list(ListFilter::default()).await.unwrap();
            if live.iter().all(|job| job.state.is_final()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    fn codes(&self) -> Vec<String> {
        self.reports.lock().unwrap().iter().map(|report| report.0.clone()).collect()
    }
}

#[tokio::test]
async fn the_context_says_what_the_run_is() {
    let world = world().await;
    let record = world.runs("tenant acme").await;
    let missing = "job `described` asked for a state of type `u8`";
    let output = format!(r#""described default 1/5 Some(\"acme\") Some(true) true true {missing}""#);
    assert_eq!(record.output.unwrap().as_str(), output);
    world.worker.drain().await;
}

#[tokio::test]
async fn a_completion_runs_its_hook_and_its_follow_up() {
    let world = world().await;
    let record = world.runs("plain").await;
    world.all_ended().await;
    world.worker.drain().await;
    let seen = world.seen.all();
    assert!(seen.contains(&r#"hook completed "plain""#.to_owned()), "{seen:?}");
    assert!(seen.contains(&format!("after completed {:?} None", record.output)), "{seen:?}");
    assert!(world.codes().is_empty());
}

#[tokio::test]
async fn a_death_is_reported_and_runs_its_hook_and_its_follow_up() {
    let world = world().await;
    assert_eq!(world.runs("dies").await.state, State::Dead);
    world.all_ended().await;
    world.worker.drain().await;
    let seen = world.seen.all();
    assert!(seen.contains(&r#"hook dead "dies""#.to_owned()), "{seen:?}");
    assert!(seen.contains(&r#"after dead None Some("X_CARD_DECLINED")"#.to_owned()), "{seen:?}");
    assert_eq!(
        *world.reports.lock().unwrap(),
        [("X_CARD_DECLINED".to_owned(), "died".to_owned(), Some(Outcome::Dead))]
    );
}

#[tokio::test]
async fn a_hook_that_fails_or_panics_is_tried_three_times_and_reported() {
    for input in ["hook fails", "hook panics"] {
        let world = world().await;
        assert_eq!(world.runs(input).await.state, State::Completed);
        world.worker.drain().await;
        let hooks = world.seen.all().iter().filter(|seen| seen.starts_with("hook")).count();
        assert_eq!((hooks, world.codes()), (3, vec!["X_JOB_SETTLED_HOOK_FAILED".to_owned()]), "{input}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_is_given_up_after_ten_seconds_and_holds_no_slot() {
    let world = world().await;
    assert_eq!(world.runs("hook hangs").await.state, State::Completed);
    assert_eq!(world.runs("plain").await.state, State::Completed);
    world.worker.drain().await;
    assert_eq!(world.codes(), ["X_JOB_SETTLED_HOOK_FAILED"]);
}

#[tokio::test]
async fn a_follow_up_that_cannot_be_built_is_reported_and_the_job_is_settled_all_the_same() {
    let world = world().await;
    assert_eq!(world.runs("follow-up panics").await.state, State::Completed);
    world.worker.drain().await;
    assert_eq!(world.codes(), ["X_JOB_FOLLOW_UP_INVALID"]);
}

#[tokio::test]
async fn a_job_whose_payload_belongs_to_another_tenant_is_refused_before_its_body() {
    let world = world().await;
    let payload = serde_json::to_string(&Act::Ok).unwrap();
    let job = enqueue_as(&world.jobs, &payload, Some("acme")).await;
    let record = ended(&world.jobs, job).await;
    let failure = record.failure.unwrap();
    assert_eq!((record.state, record.attempt), (State::Dead, 1));
    assert_eq!(failure.code, "X_JOB_TENANT_MISMATCH");
    assert!(!failure.operator.contains("acme"), "{}", failure.operator);
    assert_eq!(world.reports.lock().unwrap()[0].2, Some(Outcome::Refused));
    world.worker.drain().await;
}
