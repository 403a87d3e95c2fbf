//! What an operator says about a run that cannot go on by itself: what each answer does, and where it is refused.

use super::{
    Fixture, HandWorker,
    hand::{failure, finish},
    job,
    recorded::{done, named, of, park, unknown, unwind},
};
use crate::{
    driver::{
        Change, Claimed, Finish, NewJob, Operation, Park, Resolution, Stage, Start, StepKind, StepRecord, StepRef,
        StepStatus, StepWrite,
    },
    error::code,
    failure::{RecordedFailure, Stop},
    id::JobId,
    json::JsonText,
    state::State,
};
use std::time::Duration;

/// One of each operation, about the steps of [`a_run`].
fn operations() -> [Operation; 4] {
    [
        Operation::Resolve(named("charge"), Resolution::Again),
        Operation::Resume,
        Operation::SkipUndo(named("hold")),
        Operation::MarkUndone(named("hold")),
    ]
}

async fn operate(store: &dyn Fixture, job: JobId, operation: Operation) -> Result<(), &'static str> {
    store.driver().operate(job, operation).await.map_err(|error| error.code().name)
}

/// Begins a run that has held stock and does not know whether it charged.
async fn a_run(store: &dyn Fixture, worker: &HandWorker) -> Claimed {
    let claimed = worker.begin_recorded(store, job()).await;
    worker.step(&claimed, unknown("charge", 2)).await;
    claimed
}

/// Parks such a run.
async fn a_parked_run(store: &dyn Fixture, worker: &HandWorker) -> JobId {
    let claimed = a_run(store, worker).await;
    let reason = RecordedFailure { code: code::STEP_UNKNOWN.name.to_owned(), ..failure("nobody knows") };
    worker.park(&claimed, Park { reason: Some(reason), ..park() }).await;
    claimed.fence.job
}

/// Lets such a run unwind in part: it could not release the stock, three times.
async fn a_dead_run(store: &dyn Fixture, worker: &HandWorker) -> JobId {
    let claimed = a_run(store, worker).await;
    worker.unwind(&claimed, unwind("out of stock")).await;
    let tried =
        StepWrite { tries: 3, failure: Some(failure("no")), ..of(StepKind::Undo, "hold", StepStatus::Tried, 4) };
    worker.step(&claimed, tried).await;
    let replayed = StepWrite {
        tries: 2,
        failure: Some(failure("out of stock")),
        ..StepWrite::new(named(""), StepKind::Unwind, StepStatus::Done, 3)
    };
    worker.step(&claimed, replayed).await;
    let failed = RecordedFailure { code: code::JOB_COMPENSATION_FAILED.name.to_owned(), ..failure("not undone: hold") };
    worker.landed(&claimed, Change::Finish(Finish { failure: Some(failed), ..finish(State::Dead) })).await;
    claimed.fence.job
}

async fn step(store: &dyn Fixture, job: JobId, kind: StepKind, name: &str) -> Option<StepRecord> {
    store.steps(job).await.into_iter().find(|step| step.kind == kind && step.id == named(name))
}

/// Refused, and nothing was changed.
async fn assert_refused(store: &dyn Fixture, job: JobId, operation: Operation, expected: &'static str) {
    let before = (store.snapshot(job).await, store.steps(job).await);
    let answer = operate(store, job, operation.clone()).await;
    assert_eq!(answer, Err(expected), "{operation:?}");
    assert_eq!((store.snapshot(job).await, store.steps(job).await), before, "{operation:?}");
}

/// A job that waits, runs, or is over is not answered for, whatever is said; an unknown one is not found.
pub async fn other_states_are_refused(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut jobs = Vec::new();
    for end in [State::Completed, State::Dropped, State::Cancelled, State::Expired] {
        let claimed = a_run(store, &worker).await;
        worker.finish(&claimed, end).await;
        jobs.push(claimed.fence.job);
    }
    let delayed = a_run(store, &worker).await;
    worker.retry(&delayed, Duration::from_secs(60)).await;
    let unwinding = a_run(store, &worker).await;
    worker.unwind(&unwinding, unwind("out of stock")).await;
    worker.retry(&unwinding, Duration::from_secs(60)).await;
    let running = a_run(store, &worker).await;
    let ready = store.insert(job()).await;
    let fresh = store.insert(NewJob { start: Start::After(Duration::from_secs(60)), ..job() }).await;
    jobs.extend([delayed.fence.job, unwinding.fence.job, running.fence.job, ready, fresh]);
    for operation in operations() {
        for job in &jobs {
            assert_refused(store, *job, operation.clone(), code::JOB_STATE_REFUSED.name).await;
        }
        assert_eq!(operate(store, JobId::new(), operation).await, Err(code::JOB_NOT_FOUND.name));
    }
}

/// A parked run is answered for and resumed; its compensations have not been asked for.
pub async fn a_parked_run_has_its_answers(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let expected = [Ok(()), Ok(()), Err(code::JOB_STATE_REFUSED.name), Err(code::JOB_STATE_REFUSED.name)];
    for (operation, expected) in operations().into_iter().zip(expected) {
        let job = a_parked_run(store, &worker).await;
        if let Err(refused) = expected {
            assert_refused(store, job, operation, refused).await;
        } else {
            assert_eq!(operate(store, job, operation.clone()).await, Ok(()), "{operation:?}");
            let record = store.record(job).await;
            assert_eq!((record.state, record.stage, record.parked), (State::Ready, Stage::Recorded, None));
            let claimed = worker.claim_one().await;
            assert_eq!((claimed.fence.job, claimed.fence.attempt), (job, 1));
            worker.finish(&claimed, State::Completed).await;
        }
    }
}

/// A dead run that did not unwind is answered for, and stays dead; to go on, it is requeued.
pub async fn a_dead_run_that_did_not_unwind_is_only_resolved(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = a_run(store, &worker).await;
    let job = claimed.fence.job;
    worker.finish(&claimed, State::Dead).await;
    for operation in &operations()[1..] {
        assert_refused(store, job, operation.clone(), code::JOB_STATE_REFUSED.name).await;
    }
    assert_eq!(operate(store, job, operations()[0].clone()).await, Ok(()));
    assert_eq!((store.state(job).await, store.step_names(job).await), (State::Dead, vec!["hold".to_owned()]));
}

/// A step that is answered for as done has the output that was said, and the run goes on with it.
pub async fn a_step_is_resolved_as_done(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let output = JsonText::trusted(r#"{"z": 1, "payment": 18446744073709551615}"#);
    for dead in [false, true] {
        let job = if dead { a_dead_run(store, &worker).await } else { a_parked_run(store, &worker).await };
        let before = step(store, job, StepKind::Step, "charge").await.expect("it is recorded");
        let said = Operation::Resolve(named("charge"), Resolution::Done(output.clone()));
        assert_eq!(operate(store, job, said.clone()).await, Ok(()));
        let record = step(store, job, StepKind::Step, "charge").await.expect("it is recorded");
        assert!(record.finished_at.is_some());
        let expected = StepRecord {
            status: StepStatus::Done,
            output: Some(output.clone()),
            finished_at: record.finished_at,
            ..before
        };
        assert_eq!(record, expected);
        let state = if dead { State::Dead } else { State::Ready };
        assert_eq!(store.state(job).await, state);
        if dead {
            assert_refused(store, job, said, code::STEP_NOT_FOUND.name).await;
        } else {
            worker.finish(&worker.claim_one().await, State::Completed).await;
        }
    }
}

/// A step that is answered for as failed has a terminal failure with what was said, on one line.
pub async fn a_step_is_resolved_as_failed(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let job = a_parked_run(store, &worker).await;
    let said = Resolution::Failed("the bank says\nno".to_owned());
    assert_eq!(operate(store, job, Operation::Resolve(named("charge"), said)).await, Ok(()));
    let record = step(store, job, StepKind::Step, "charge").await.expect("it is recorded");
    assert_eq!((record.status, record.finished_at.is_some(), record.output), (StepStatus::Failed, true, None));
    let expected = RecordedFailure {
        code: code::STEP_FAILED.name.to_owned(),
        operator: r"the bank says\nno".to_owned(),
        caller_fix: None,
        stop: Some(Stop::Terminal),
    };
    assert_eq!(record.failure, Some(expected));
    assert_eq!(store.state(job).await, State::Ready);
}

/// A step that failed can be answered for again: as done, or to run again, which removes its record.
pub async fn a_failed_step_is_resolved_again(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for resolution in [Resolution::Done(JsonText::trusted("5")), Resolution::Again] {
        let claimed = worker.begin_recorded(store, job()).await;
        let job = claimed.fence.job;
        let failed =
            StepWrite { status: StepStatus::Failed, failure: Some(failure("refused")), ..unknown("charge", 2) };
        worker.step(&claimed, failed).await;
        worker.park(&claimed, park()).await;
        assert_eq!(operate(store, job, Operation::Resolve(named("charge"), resolution.clone())).await, Ok(()));
        let record = step(store, job, StepKind::Step, "charge").await;
        let left = record.map(|step| (step.status, step.failure));
        let expected = (resolution != Resolution::Again).then_some((StepStatus::Done, None));
        assert_eq!(left, expected);
        worker.finish(&worker.claim_one().await, State::Completed).await;
    }
}

/// An answer that does not fit the code is taken back, while the run is parked for that.
pub async fn an_answer_that_does_not_fit_is_given_again(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    let job = claimed.fence.job;
    worker.step(&claimed, StepWrite { once: true, ..done("charge", 2) }).await;
    let reason = RecordedFailure { code: code::STEP_MISMATCH.name.to_owned(), ..failure("it does not decode") };
    worker.park(&claimed, Park { reason: Some(reason), ..park() }).await;
    let said = Operation::Resolve(named("charge"), Resolution::Done(JsonText::trusted("5")));
    assert_eq!(operate(store, job, said).await, Ok(()));
    let record = step(store, job, StepKind::Step, "charge").await.expect("it is recorded");
    assert_eq!((record.status, record.output), (StepStatus::Done, Some(JsonText::trusted("5"))));
    assert_eq!(store.state(job).await, State::Ready);
}

/// Only a `once` step without a result, or one that failed, is answered for: no other record, and no other name or key.
pub async fn a_step_that_is_not_in_doubt_is_not_resolved(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    let steps = [
        StepWrite { once: false, ..unknown("started", 2) },
        of(StepKind::Step, "failed", StepStatus::Failed, 3),
        StepWrite { once: true, ..done("done", 4) },
        StepWrite { status: StepStatus::Tried, ..unknown("tried", 5) },
        StepWrite { id: StepRef { key: "7".to_owned(), ..named("keyed") }, ..unknown("keyed", 6) },
        StepWrite { once: true, ..of(StepKind::Undo, "undo", StepStatus::Started, 7) },
    ];
    for step in steps {
        worker.step(&claimed, step).await;
    }
    worker.park(&claimed, park()).await;
    for name in ["started", "failed", "done", "tried", "keyed", "undo", "unheard of"] {
        for resolution in
            [Resolution::Done(JsonText::trusted("5")), Resolution::Again, Resolution::Failed("no".to_owned())]
        {
            let said = Operation::Resolve(named(name), resolution);
            assert_refused(store, claimed.fence.job, said, code::STEP_NOT_FOUND.name).await;
        }
    }
}

/// A dead run that unwound in part unwinds further: ready now, no crashes, every compensation with its full budget.
pub async fn a_dead_run_unwinds_further(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let job = a_dead_run(store, &worker).await;
    let dead = store.record(job).await;
    assert_eq!((dead.state, dead.stage), (State::Dead, Stage::Unwinding));
    assert_eq!(operate(store, job, Operation::Resume).await, Ok(()));
    let record = store.record(job).await;
    assert_eq!((record.state, record.stage, record.crashes), (State::Ready, Stage::Unwinding, 0));
    assert_eq!((record.finished_at, record.attempt, &record.failure), (None, dead.attempt, &dead.failure));
    let undo = store.step_of(job, StepKind::Undo).await;
    assert_eq!((undo.status, undo.tries, undo.position), (StepStatus::Tried, 0, 4));
    let decision = store.step_of(job, StepKind::Unwind).await;
    assert_eq!(
        (decision.tries, decision.failure),
        (0, Some(failure("out of stock"))),
        "a replay is tried anew as well"
    );
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.fence.job, claimed.stage), (job, Stage::Unwinding));
    worker.finish(&claimed, State::Dead).await;
}

/// A compensation that was begun or not is skipped, or said to be done by hand, once; the run stays dead until it is
/// resumed.
pub async fn a_compensation_is_answered_for_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let answers = [
        (Operation::SkipUndo as fn(StepRef) -> Operation, StepStatus::Skipped),
        (Operation::MarkUndone as fn(StepRef) -> Operation, StepStatus::Done),
    ];
    for (answer, status) in answers {
        let job = a_dead_run(store, &worker).await;
        for name in ["hold", "charge"] {
            assert_eq!(operate(store, job, answer(named(name))).await, Ok(()), "{name}");
            let undo = step(store, job, StepKind::Undo, name).await.expect("it is recorded");
            assert_eq!((undo.status, undo.finished_at.is_some()), (status, true));
            assert_refused(store, job, answer(named(name)), code::STEP_NOT_FOUND.name).await;
        }
        assert_refused(store, job, answer(named("unheard of")), code::STEP_NOT_FOUND.name).await;
        assert_refused(store, job, answer(named("")), code::STEP_NOT_FOUND.name).await;
        assert_eq!(store.state(job).await, State::Dead);
        let forward = step(store, job, StepKind::Step, "hold").await.map(|step| step.status);
        assert_eq!(forward, Some(StepStatus::Done), "its step stays as it is");
        assert_eq!(operate(store, job, Operation::Resume).await, Ok(()));
        worker.finish(&worker.claim_one().await, State::Completed).await;
    }
}

/// Whatever is said about a run at once, each answer counts once.
pub async fn concurrent_answers_count_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let job = a_parked_run(store, &worker).await;
    let handles = [store.driver(), store.second_handle().await];
    let callers = (0..8).map(|number: usize| {
        let driver = handles[number % 2].clone();
        let said = Operation::Resolve(named("charge"), Resolution::Done(JsonText::trusted(number.to_string())));
        tokio::spawn(async move { driver.operate(job, said).await.is_ok().then_some(number) })
    });
    let answers = futures_util::future::join_all(callers).await;
    let counted: Vec<usize> = answers.into_iter().filter_map(|answer| answer.expect("no caller panics")).collect();
    assert_eq!(counted.len(), 1, "{counted:?}");
    let record = step(store, job, StepKind::Step, "charge").await.expect("it is recorded");
    assert_eq!(record.output, Some(JsonText::trusted(counted[0].to_string())));
    assert_eq!(worker.claim(10).await.len(), 1);
}
