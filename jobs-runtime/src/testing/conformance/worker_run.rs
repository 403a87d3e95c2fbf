//! Real workers: how what a body does ends its job, on any driver.

use super::{
    Fixture,
    crew::{Bank, Crew, Followed, Follower, Hooked, Org, Tenanted},
    job,
};
use crate::{
    JsonText, Registry,
    client::Jobs,
    ctx::Ctx,
    driver::{ListFilter, NewJob, Progress},
    error::code,
    failure::{Failure, Stop},
    job::Job,
    spec::JobSpec,
    state::State,
    testing::{Act, Acts, eventually},
};
use futures_util::future::BoxFuture;

/// A job is claimed, run and completed, and its output kept.
pub async fn a_job_is_run_and_completed(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.start().await;
    let record = crew.ended(crew.enqueue(&[Act::Ok]).await).await;
    assert_eq!((record.state, record.attempt, record.failure), (State::Completed, 1, None));
    assert_eq!(record.output.map(|output| output.to_string()).as_deref(), Some("1"));
    worker.drain().await;
    assert!(store.driver().workers().await.expect("workers answer").is_empty(), "it has ended its lease");
}

/// Two workers run a thousand jobs, each once.
pub async fn two_workers_run_each_job_once(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let workers = [crew.start().await, crew.start().await];
    let jobs = crew.jobs.enqueue_many::<Acts>((0..1_000).map(|_| vec![Act::Ok])).await.expect("accepted");
    let left = || async { crew.jobs.counts().await.expect("counts answer").is_empty() };
    eventually(left).await;
    let mut started: Vec<_> = crew.starts.all().into_iter().map(|(job, _)| job).collect();
    started.sort_unstable();
    let mut expected: Vec<_> = jobs.iter().map(crate::Enqueued::id).collect();
    expected.sort_unstable();
    assert_eq!(started, expected);
    for worker in workers {
        worker.drain().await;
    }
}

/// A job that fails each time has all its attempts, and is then dead with its last failure.
pub async fn a_failing_job_has_its_attempts_and_is_dead(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.start().await;
    let id = crew.enqueue(&[Act::Fail("one".to_owned()), Act::Fail("two".to_owned())]).await;
    let record = crew.ended(id).await;
    assert_eq!((record.state, record.attempt, record.crashes), (State::Dead, 3, 0));
    assert_eq!(crew.starts.all().iter().map(|(_, attempt)| *attempt).collect::<Vec<_>>(), [1, 2, 3]);
    let failure = record.failure.expect("it failed");
    assert_eq!((failure.stop, &*failure.code), (Some(Stop::AttemptsExhausted), code::JOB_FAILED.name));
    assert!(failure.operator.contains("two"), "{failure:?}");
    worker.drain().await;
}

/// A job that fails, panics and then succeeds is completed, and harms no other.
pub async fn a_job_recovers_from_a_failure_and_a_panic(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.start().await;
    let id = crew.enqueue(&[Act::Fail("once".to_owned()), Act::Panic("ouch".to_owned()), Act::Ok]).await;
    assert_eq!(crew.ended(id).await.state, State::Completed);
    let id = crew.jobs.enqueue::<Acts>(vec![Act::Panic("ouch".to_owned())]).max_attempts(1).await.expect("accepted");
    let failure = crew.ended(id.id()).await.failure.expect("it failed");
    assert_eq!(failure.code, code::JOB_PANIC.name);
    assert!(failure.operator.contains("ouch"), "{failure:?}");
    let id = crew.enqueue(&[Act::Ok]).await;
    assert_eq!(crew.ended(id).await.state, State::Completed);
    worker.drain().await;
}

/// What a body asks for is what its job becomes: terminal, discard, cancel, snooze.
pub async fn a_body_says_what_becomes_of_its_job(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.start().await;
    for (act, state, stop) in [
        (Act::Terminal, State::Dead, Some(Stop::Terminal)),
        (Act::Discard, State::Dropped, Some(Stop::Discarded)),
        (Act::Cancel, State::Cancelled, Some(Stop::Cancelled)),
    ] {
        let record = crew.ended(crew.enqueue(std::slice::from_ref(&act)).await).await;
        assert_eq!((record.state, record.attempt), (state, 1), "{act:?}");
        assert_eq!(record.failure.and_then(|failure| failure.stop), stop, "{act:?}");
    }
    let id = crew.enqueue(&[Act::Snooze(3_600_000)]).await;
    let record = crew.until(id, |record| record.state == State::Delayed).await;
    assert_eq!((record.attempt, record.crashes), (1, 0), "a snooze is not counted");
    worker.drain().await;
}

/// A body that runs past its timeout is stopped, whether it listens or not, and the attempt has failed.
pub async fn a_body_past_its_timeout_is_stopped(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.worker().cancel_grace("50ms").start().await.expect("the worker starts");
    for act in [Act::Hang, Act::UntilCancelled] {
        let enqueue = crew.jobs.enqueue::<Acts>(vec![act.clone()]).timeout("50ms").max_attempts(1);
        let record = crew.ended(enqueue.await.expect("accepted").id()).await;
        assert_eq!(record.state, State::Dead, "{act:?}");
        assert_eq!(record.failure.expect("it failed").code, code::JOB_TIMEOUT.name, "{act:?}");
    }
    worker.drain().await;
}

/// The last progress is written before the end.
pub async fn progress_is_written_before_the_end(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.start().await;
    let record = crew.ended(crew.enqueue(&[Act::Progress(3, 4)]).await).await;
    let expected = Progress { done: 3, total: Some(4), message: "as told".to_owned() };
    assert_eq!((record.state, record.progress), (State::Completed, Some(expected)));
    worker.drain().await;
}

/// A job that completes or dies leaves its follow-up, which runs; its hook is told.
pub async fn an_end_runs_its_follow_up_and_its_hook(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let hooked = Hooked::default();
    let worker = crew.worker().state(hooked.clone()).start().await.expect("the worker starts");
    for (act, state) in [(Act::Ok, State::Completed), (Act::Terminal, State::Dead)] {
        let id = crew.jobs.enqueue::<Followed>(vec![act]).await.expect("accepted").id();
        assert_eq!(crew.ended(id).await.state, state);
        let filter = ListFilter { kind: Some(Follower::SPEC.name.to_owned()), limit: 1, ..ListFilter::default() };
        let follower = crew.jobs.list(filter).await.expect("a list answers").remove(0).id;
        let output = crew.ended(follower).await.output.expect("the follow-up completes");
        assert_eq!(output.to_string(), format!("\"testing.followed is {state}\""));
        let told = || async { hooked.0.lock().expect("no hook panics").iter().any(|settled| settled.id == id) };
        eventually(told).await;
    }
    worker.drain().await;
}

/// A run has the tenant of its row; a payload that resolves to another is refused before the body, for good.
pub async fn a_payload_of_another_tenant_is_refused(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.start().await;
    let org = |org: &str| Org { org: org.to_owned() };
    let right = crew.jobs.enqueue::<Tenanted>(org("acme")).await.expect("accepted").id();
    assert_eq!(crew.ended(right).await.output.map(|output| output.to_string()).as_deref(), Some("\"acme\""));
    let wrong = NewJob {
        kind: Tenanted::SPEC.name.to_owned(),
        queue: "acts".to_owned(),
        tenant: Some("acme".to_owned()),
        payload: JsonText::trusted(r#"{"org":"umbrella"}"#),
        ..job()
    };
    store.insert(wrong.clone()).await;
    let record = crew.ended(wrong.id).await;
    assert_eq!((record.state, record.attempt), (State::Dead, 1));
    assert_eq!(record.failure.expect("it failed").code, code::JOB_TENANT_MISMATCH.name);
    assert_eq!(crew.starts.of(wrong.id), 0, "its body never began");
    worker.drain().await;
}

/// A worker without a state that one of its jobs needs refuses to start, naming job and type.
pub async fn a_worker_without_a_needed_state_refuses_to_start(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let refused = crew.jobs.worker().start().await.expect_err("it is refused");
    assert_eq!(refused.code(), code::STATE_MISSING);
    let text = refused.to_string();
    assert!(text.contains("testing.needy") && text.contains("Bank"), "{text}");
    crew.jobs.worker().state(Bank).start().await.expect("the worker starts").drain().await;
}

/// A job that was not started in time is never started.
pub async fn an_expired_job_is_not_started(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let id = crew.jobs.enqueue::<Acts>(vec![Act::Ok]).expires_after("60s").await.expect("accepted").id();
    store.advance_secs(61).await;
    let worker = crew.start().await;
    assert_eq!(crew.ended(id).await.state, State::Expired);
    assert_eq!(crew.starts.of(id), 0);
    worker.drain().await;
}

/// Kinds that a worker does not know stay as they are.
pub async fn an_unknown_kind_is_left_alone(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let stranger = NewJob { queue: "acts".to_owned(), priority: -1, ..job() };
    store.insert(stranger.clone()).await;
    let before = store.snapshot(stranger.id).await;
    let worker = crew.start().await;
    crew.ended(crew.enqueue(&[Act::Ok]).await).await;
    worker.drain().await;
    assert_eq!(store.snapshot(stranger.id).await, before);
}

/// The same job, with another input: the build before a fix, or after it.
struct Fixed;

impl Job for Fixed {
    type Input = serde_json::Value;
    type Output = serde_json::Value;
    const SPEC: JobSpec = JobSpec::new("testing.acts").queue("acts");

    fn tenant(_: &serde_json::Value) -> Option<String> {
        None
    }

    fn run(_: &Ctx, input: serde_json::Value) -> BoxFuture<'_, Result<serde_json::Value, Failure>> {
        Box::pin(async move { Ok(input) })
    }
}

/// A payload that does not decode fails its attempts with the path named, keeps its bytes, and runs after a fix and
/// a requeue.
pub async fn an_unreadable_payload_is_kept_and_runs_after_a_fix(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.start().await;
    let text = r#"[{"Fail": 7},  18446744073709551615]"#;
    let new = NewJob {
        kind: Acts::SPEC.name.to_owned(),
        queue: "acts".to_owned(),
        payload: JsonText::trusted(text),
        ..job()
    };
    store.insert(new.clone()).await;
    let record = crew.ended(new.id).await;
    assert_eq!((record.state, record.payload.as_str()), (State::Dead, text));
    let failure = record.failure.expect("it failed");
    assert_eq!(failure.code, code::PAYLOAD_UNREADABLE.name);
    assert!(failure.operator.contains("[0]"), "the path is named: {failure:?}");
    worker.drain().await;
    let fixed = Registry::builder().job::<Fixed>().build().expect("one job agrees with itself");
    let worker = Jobs::new(store.driver(), fixed).worker().start().await.expect("the worker starts");
    crew.jobs.requeue(new.id).await.expect("a dead job is requeued");
    let record = crew.ended(new.id).await;
    assert_eq!((record.state, record.payload.as_str()), (State::Completed, text));
    worker.drain().await;
}
