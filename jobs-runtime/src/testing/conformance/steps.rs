//! Records of steps: kept whole and in order, as long as the run is, and moved with it to its end.

use super::{
    Fixture, HandWorker,
    hand::{failure, finish},
    job,
    recorded::{done, named, of, park},
};
use crate::{
    driver::{
        Change, EventId, Finish, Park, Stage, StepKind, StepRecord, StepRef, StepStatus, StepWrite, Write, Written,
    },
    failure::{RecordedFailure, Stop},
    id::JobId,
    json::JsonText,
    spec::Keep,
    state::State,
};
use std::time::Duration;

/// A run that has recorded nothing says so, and one that nobody knows as well.
pub async fn a_fresh_run_has_recorded_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    assert_eq!((claimed.stage, store.stage(claimed.fence.job).await), (Stage::Fresh, Stage::Fresh));
    assert_eq!(store.steps(claimed.fence.job).await, []);
    assert_eq!(store.steps(JobId::new()).await, []);
}

/// All that a record holds comes back as it was written, and with it who wrote it and when.
pub async fn a_record_is_read_back_whole(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    worker.retry(&worker.begin(store, job()).await, Duration::ZERO).await;
    let claimed = worker.claim_one().await;
    let write = StepWrite {
        id: StepRef { name: "charge \u{fc}'\"\\".to_owned(), key: "order 7/\u{1f600}".to_owned() },
        kind: StepKind::StepTx,
        status: StepStatus::Failed,
        position: 3,
        tries: 4,
        once: true,
        output: Some(JsonText::trusted(r#"{"z": 1, "a":[18446744073709551615, 0.1, -0.0]}"#)),
        failure: Some(RecordedFailure {
            caller_fix: Some("pay by card".to_owned()),
            stop: Some(Stop::Terminal),
            ..failure("no answer from the bank")
        }),
        due_at: Some(store.in_secs(90).await),
        event: Some(EventId::new()),
        age: Duration::from_secs(5),
        child: None,
    };
    let before = store.now().await;
    worker.step(&claimed, write.clone()).await;
    let after = store.now().await + chrono::TimeDelta::milliseconds(1);
    let record = store.step_of(claimed.fence.job, StepKind::StepTx).await;
    let since = record.started_at + chrono::TimeDelta::seconds(5);
    assert!(before <= since && since <= after, "{before} {since} {after}");
    let finished = record.finished_at.expect("a failed step has finished");
    assert!(before <= finished && finished <= after, "{before} {finished} {after}");
    let expected = StepRecord {
        id: write.id,
        kind: write.kind,
        status: write.status,
        position: 3,
        attempt: 2,
        tries: 4,
        once: true,
        output: write.output,
        failure: write.failure,
        due_at: write.due_at,
        event: write.event,
        child: None,
        started_at: record.started_at,
        finished_at: record.finished_at,
    };
    assert_eq!(record, expected);
}

/// Every kind in every status comes back; finished are those that are done, failed or skipped, and only they.
pub async fn every_kind_and_status_is_kept(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    for status in StepStatus::ALL {
        for kind in StepKind::ALL {
            worker.step(&claimed, of(kind, "one of each kind", status, 1)).await;
            let steps = store.steps(claimed.fence.job).await;
            let record = steps.iter().find(|step| step.kind == kind).expect("the kind is kept");
            let is_over = matches!(status, StepStatus::Done | StepStatus::Failed | StepStatus::Skipped);
            assert_eq!((record.status, record.finished_at.is_some()), (status, is_over), "{kind:?}");
        }
    }
}

/// A later record of an identity takes the earlier one's place, but for its position and its start.
pub async fn a_later_record_keeps_position_and_start(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let job = claimed.fence.job;
    let mut first = of(StepKind::Step, "charge", StepStatus::Tried, 1);
    (first.tries, first.failure, first.age) = (1, Some(failure("refused")), Duration::from_secs(60));
    worker.step(&claimed, first).await;
    let started = store.step_of(job, StepKind::Step).await.started_at;
    worker.retry(&claimed, Duration::ZERO).await;
    let claimed = worker.claim_one().await;
    worker.step(&claimed, StepWrite { output: Some(JsonText::trusted("5")), ..done("charge", 9) }).await;
    let record = store.step_of(job, StepKind::Step).await;
    assert_eq!((record.position, record.started_at), (1, started));
    assert_eq!((record.status, record.attempt, record.tries), (StepStatus::Done, 2, 0));
    assert_eq!((record.output, record.failure), (Some(JsonText::trusted("5")), None));
}

/// The time of a wait is recorded while it goes on: written after its end, it changes nothing.
pub async fn the_time_of_a_wait_is_no_news_once_it_has_ended(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let job = claimed.fence.job;
    worker.step(&claimed, of(StepKind::Wait, "shipped", StepStatus::Waiting, 1)).await;
    let output = Some(JsonText::trusted("5"));
    worker.step(&claimed, StepWrite { output, ..of(StepKind::Wait, "shipped", StepStatus::Done, 1) }).await;
    let ended = store.step_of(job, StepKind::Wait).await;
    worker.step(&claimed, of(StepKind::Wait, "shipped", StepStatus::Waiting, 1)).await;
    assert_eq!(store.step_of(job, StepKind::Wait).await, ended);
    let late = vec![of(StepKind::Wait, "shipped", StepStatus::Waiting, 1)];
    worker.park(&claimed, Park { records: late, ..park() }).await;
    assert_eq!(store.step_of(job, StepKind::Wait).await, ended);
}

/// A run has one record of an identity whatever its forward kind; beside it stands its compensation, and another key is
/// another step.
pub async fn an_identity_has_one_record_and_one_compensation(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let job = claimed.fence.job;
    let keyed = StepRef { key: "b".to_owned(), ..named("a") };
    worker.step(&claimed, of(StepKind::Wait, "a", StepStatus::Waiting, 1)).await;
    worker.step(&claimed, of(StepKind::Step, "a", StepStatus::Done, 2)).await;
    worker.step(&claimed, StepWrite::new(keyed.clone(), StepKind::Step, StepStatus::Done, 2)).await;
    worker.step(&claimed, of(StepKind::Undo, "a", StepStatus::Tried, 3)).await;
    worker.step(&claimed, of(StepKind::Undo, "a", StepStatus::Done, 4)).await;
    let steps: Vec<_> = store.steps(job).await.into_iter().map(|step| (step.id, step.kind, step.status)).collect();
    let expected = [
        (named("a"), StepKind::Step, StepStatus::Done),
        (keyed, StepKind::Step, StepStatus::Done),
        (named("a"), StepKind::Undo, StepStatus::Done),
    ];
    assert_eq!(steps, expected);
}

/// Records are listed by when their steps began, not by when they were written.
pub async fn steps_are_listed_by_the_order_of_their_starts(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    for position in [4, 1, 30, 3, 2] {
        worker.step(&claimed, done(&format!("step {position}"), position)).await;
    }
    let names = store.step_names(claimed.fence.job).await;
    assert_eq!(names, ["step 1", "step 2", "step 3", "step 4", "step 30"]);
}

/// Records of many runs land together, each with its own; of one identity twice, the later stands.
pub async fn records_of_many_runs_go_together(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.enqueue(&(0..100).map(|_| job()).collect::<Vec<_>>()).await;
    let held = worker.claim(100).await;
    let step = |step: StepWrite| Change::Step(Box::new(step));
    let mut writes = Vec::new();
    for position in 1..=5 {
        for claimed in &held {
            let own = StepWrite {
                output: Some(JsonText::trusted(format!("\"{} {position}\"", claimed.fence.job))),
                ..done(&format!("step {position}"), position)
            };
            let early = StepWrite { status: StepStatus::Started, output: None, ..own.clone() };
            writes.push(Write { fence: claimed.fence, change: step(early) });
            writes.push(Write { fence: claimed.fence, change: step(own) });
        }
    }
    let written = worker.commit(&writes).await;
    assert!(written.iter().all(|written| matches!(written, Written::Landed)));
    for claimed in &held {
        let steps = store.steps(claimed.fence.job).await;
        assert_eq!(steps.len(), 5);
        for (step, position) in steps.iter().zip(1..) {
            let own = JsonText::trusted(format!("\"{} {position}\"", claimed.fence.job));
            assert_eq!((step.status, step.position, step.output.as_ref()), (StepStatus::Done, position, Some(&own)));
        }
    }
}

/// A record and the end of its run, written together, both land, in order.
pub async fn a_record_before_an_end_is_kept(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for end in [State::Completed, State::Dead] {
        let claimed = worker.begin(store, job()).await;
        let changes = [Change::Step(Box::new(done("last", 1))), Change::Finish(finish(end))];
        let written = worker.commit(&changes.map(|change| Write { fence: claimed.fence, change })).await;
        assert!(written.iter().all(|written| matches!(written, Written::Landed)), "{written:?}");
        assert_eq!(store.step_names(claimed.fence.job).await, ["last"], "{end}");
    }
}

/// What is recorded survives a drain, a retry and the loss of the worker, and the next claim says that it is there.
pub async fn records_survive_drain_retry_and_rescue(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    let before = store.steps(claimed.fence.job).await;
    worker.release(&claimed).await;
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.stage, store.steps(claimed.fence.job).await), (Stage::Recorded, before.clone()));
    worker.retry(&claimed, Duration::from_secs(5)).await;
    assert_eq!(store.steps(claimed.fence.job).await, before);
    store.advance_secs(6).await;
    store.promote().await;
    let claimed = worker.claim_one().await;
    assert_eq!(claimed.stage, Stage::Recorded);
    store.advance_secs(31).await;
    store.driver().rescue().await.expect("a rescue answers");
    let other = HandWorker::start(store.driver()).await;
    let claimed = other.claim_one().await;
    assert_eq!((claimed.stage, claimed.crashes), (Stage::Recorded, 1));
    let survived = store.steps(claimed.fence.job).await;
    assert_eq!((survived.len(), &survived[0].id, survived[0].attempt), (1, &before[0].id, 1));
    other.stop().await;
    assert_eq!(store.steps(claimed.fence.job).await, survived);
}

/// An ended job's records are answered as they were, byte for byte, in whatever way it ended; they leave with it.
pub async fn an_end_keeps_the_records(store: &dyn Fixture) {
    for end in State::ALL.into_iter().filter(|state| state.is_final()) {
        let worker = HandWorker::start(store.driver()).await;
        let claimed = worker.begin(store, job()).await;
        let id = claimed.fence.job;
        let output = Some(JsonText::trusted(r#"{"z": 1, "a":[18446744073709551615, 0.1, 1e400]}"#));
        worker.step(&claimed, StepWrite { output, ..done("second", 2) }).await;
        let mut first = of(StepKind::Wait, "first", StepStatus::Waiting, 1);
        (first.due_at, first.event) = (Some(store.in_secs(7).await), Some(EventId::new()));
        worker.step(&claimed, first).await;
        let before = store.steps(id).await;
        worker.finish(&claimed, end).await;
        assert_eq!(store.steps(id).await, before, "{end}");
        assert_eq!(store.stage(id).await, Stage::Recorded, "{end}");
        store.advance_secs(8 * 86_400).await;
        store.purge_all().await;
        let left = usize::from(end == State::Dead) * 2;
        assert_eq!(store.steps(id).await.len(), left, "{end}");
    }
}

/// A job that keeps nothing leaves no records; a dead one keeps them whatever it says.
pub async fn a_job_that_keeps_nothing_leaves_no_records(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for (end, left) in [(State::Completed, 0), (State::Dropped, 0), (State::Cancelled, 0), (State::Dead, 1)] {
        let claimed = worker.begin_recorded(store, job()).await;
        let end = Finish { keep: Keep::None, ..finish(end) };
        worker.landed(&claimed, Change::Finish(end.clone())).await;
        assert_eq!(store.steps(claimed.fence.job).await.len(), left, "{}", end.state);
    }
}

/// The stage says what a run has recorded: nothing, steps, its pivot.
pub async fn the_stage_follows_the_records(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let job = claimed.fence.job;
    worker.step(&claimed, done("hold", 1)).await;
    assert_eq!(store.stage(job).await, Stage::Recorded);
    worker.step(&claimed, of(StepKind::Pivot, "pivot", StepStatus::Done, 2)).await;
    assert_eq!(store.stage(job).await, Stage::PastPivot);
    worker.step(&claimed, done("notify", 3)).await;
    worker.release(&claimed).await;
    assert_eq!(worker.claim_one().await.stage, Stage::PastPivot);
}
