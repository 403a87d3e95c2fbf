//! The decision to unwind: durable, under the claim, and what it changes for what comes after.

use super::{
    Fixture, HandWorker,
    hand::{again, failure, finish},
    job,
    recorded::{done, of, park, unwind},
};
use crate::{
    driver::{CancelAnswer, Change, Park, Stage, StepKind, StepStatus, StepWrite, Unwind},
    state::State,
};
use std::time::Duration;

/// The decision is recorded with its failure behind the steps that there are, and the run stays held.
pub async fn a_decision_to_unwind_is_recorded(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    let id = claimed.fence.job;
    worker.step(&claimed, done("charge", 2)).await;
    worker.unwind(&claimed, unwind("out of stock")).await;
    let record = store.record(id).await;
    assert_eq!(
        (record.state, record.stage, record.failure),
        (State::Running, Stage::Unwinding, Some(failure("out of stock")))
    );
    let steps = store.steps(id).await;
    assert_eq!(steps.iter().map(|step| &*step.id.name).collect::<Vec<_>>(), ["hold", "charge", ""]);
    let decision = &steps[2];
    assert_eq!((decision.kind, decision.status, decision.position), (StepKind::Unwind, StepStatus::Done, 3));
    assert_eq!((decision.attempt, &decision.failure), (1, &Some(failure("out of stock"))));
    worker.step(&claimed, of(StepKind::Undo, "charge", StepStatus::Done, 4)).await;
    worker.finish(&claimed, State::Dead).await;
    assert_eq!(store.stage(id).await, Stage::Unwinding);
}

/// The steps that failed in this attempt are recorded with the decision, also on a run that had recorded nothing.
pub async fn a_decision_records_the_steps_that_failed(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let failed = StepWrite { failure: Some(failure("refused")), ..of(StepKind::Step, "charge", StepStatus::Failed, 1) };
    worker.unwind(&claimed, Unwind { records: vec![failed], ..unwind("refused") }).await;
    let steps = store.steps(claimed.fence.job).await;
    let kinds: Vec<_> = steps.iter().map(|step| (step.kind, step.position)).collect();
    assert_eq!(kinds, [(StepKind::Step, 1), (StepKind::Unwind, 2)]);
    assert_eq!(steps[0].failure, Some(failure("refused")));
}

/// Whatever happens to the worker, every later claim finds the run unwinding, under the attempt that failed.
pub async fn an_unwinding_run_unwinds_until_it_ends(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    worker.unwind(&claimed, unwind("out of stock")).await;
    worker.release(&claimed).await;
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.stage, claimed.fence.attempt), (Stage::Unwinding, 1));
    assert_eq!(claimed.failure, Some(failure("out of stock")));
    worker.landed(&claimed, Change::Reschedule(again(1, Duration::from_secs(5)))).await;
    assert_eq!(
        (store.state(claimed.fence.job).await, store.stage(claimed.fence.job).await),
        (State::Delayed, Stage::Unwinding)
    );
    store.advance_secs(6).await;
    store.promote().await;
    let claimed = worker.claim_one().await;
    worker.park(&claimed, Park { due_at: Some(store.in_secs(-1).await), ..park() }).await;
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.stage, claimed.crashes), (Stage::Unwinding, 0));
    store.advance_secs(31).await;
    store.driver().rescue().await.expect("a rescue answers");
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.stage, claimed.fence.attempt, claimed.crashes), (Stage::Unwinding, 1, 1));
    assert_eq!(claimed.failure, Some(failure("out of stock")));
}

/// A run that unwinds has a crash budget of its own: those of its way forward are forgotten.
pub async fn a_decision_forgets_crashes(store: &dyn Fixture) {
    HandWorker::start(store.driver()).await.begin_recorded(store, job()).await;
    store.advance_secs(31).await;
    store.driver().rescue().await.expect("a rescue answers");
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.claim_one().await;
    assert_eq!(claimed.crashes, 1);
    worker.unwind(&claimed, unwind("quarantined")).await;
    assert_eq!(store.record(claimed.fence.job).await.crashes, 0);
    worker.release(&claimed).await;
    assert_eq!(worker.claim_one().await.crashes, 0);
}

/// A decision that is written again, because its answer was lost, leaves one record.
pub async fn a_decision_is_recorded_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    worker.unwind(&claimed, unwind("out of stock")).await;
    let first = store.step_of(claimed.fence.job, StepKind::Unwind).await;
    worker.unwind(&claimed, unwind("out of stock")).await;
    let second = store.step_of(claimed.fence.job, StepKind::Unwind).await;
    assert_eq!((second.position, second.started_at, second.failure), (first.position, first.started_at, first.failure));
}

/// A run that unwinds is not cancelled: it goes on undoing, whether it runs or waits.
pub async fn a_cancel_does_not_stop_an_unwinding(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    let id = claimed.fence.job;
    worker.unwind(&claimed, unwind("out of stock")).await;
    for waits in [false, true] {
        if waits {
            worker.landed(&claimed, Change::Reschedule(again(1, Duration::from_secs(5)))).await;
        }
        let before = store.snapshot(id).await;
        for roll_back in [false, true] {
            let answer = match roll_back {
                true => store.driver().roll_back(id).await,
                false => store.driver().cancel(id).await,
            };
            assert_eq!(answer.expect("a cancel answers"), CancelAnswer::Asked);
            assert_eq!(store.snapshot(id).await, before);
        }
        let renewed = worker.renew().await.expect("renewed");
        assert_eq!((renewed.cancel, renewed.roll_back), (Vec::new(), Vec::new()));
    }
}

/// A request to cancel that came before the decision is met by it: what the run then hands back is undone.
pub async fn a_decision_meets_a_request_to_cancel(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for roll_back in [false, true] {
        let claimed = worker.begin_recorded(store, job()).await;
        let id = claimed.fence.job;
        let answer = if roll_back { store.driver().roll_back(id).await } else { store.driver().cancel(id).await };
        assert_eq!(answer.expect("a cancel answers"), CancelAnswer::Asked);
        worker.unwind(&claimed, unwind("out of stock")).await;
        assert!(!store.record(id).await.cancel_requested);
        worker.release(&claimed).await;
        let claimed = worker.claim_one().await;
        assert_eq!((claimed.stage, &claimed.failure), (Stage::Unwinding, &Some(failure("out of stock"))));
        worker.finish(&claimed, State::Dead).await;
    }
}

/// A dead job that unwound begins anew when it is requeued: of its records only the number of its new beginnings stays.
pub async fn a_requeue_after_an_unwinding_begins_anew(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut claimed = worker.begin_recorded(store, job()).await;
    let id = claimed.fence.job;
    for tries in 1..=3 {
        worker.unwind(&claimed, unwind("out of stock")).await;
        worker.step(&claimed, of(StepKind::Undo, "hold", StepStatus::Done, 3)).await;
        worker.finish(&claimed, State::Dead).await;
        store.driver().requeue(id).await.expect("a dead job is requeued");
        let steps = store.steps(id).await;
        assert_eq!(steps.len(), 1, "{steps:?}");
        assert_eq!((steps[0].kind, steps[0].tries, steps[0].position), (StepKind::Requeue, tries, 0));
        claimed = worker.claim_one().await;
        assert_eq!((claimed.stage, claimed.fence.attempt), (Stage::Recorded, 1));
        worker.step(&claimed, done("hold", 1)).await;
        assert_eq!(store.step_names(id).await, ["", "hold"]);
    }
}

/// Another dead job keeps its records when it is requeued, as those of no attempt, so that what failed is tried again.
pub async fn a_requeue_without_an_unwinding_goes_on(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for pivoted in [false, true] {
        let claimed = worker.begin_recorded(store, job()).await;
        let id = claimed.fence.job;
        worker
            .step(
                &claimed,
                StepWrite { failure: Some(failure("refused")), ..of(StepKind::Step, "charge", StepStatus::Failed, 2) },
            )
            .await;
        if pivoted {
            worker.step(&claimed, of(StepKind::Pivot, "pivot", StepStatus::Done, 3)).await;
        }
        let mut expected = store.steps(id).await;
        worker.landed(&claimed, Change::Finish(finish(State::Dead))).await;
        store.driver().requeue(id).await.expect("a dead job is requeued");
        for step in &mut expected {
            step.attempt = 0;
        }
        assert_eq!(store.steps(id).await, expected);
        let claimed = worker.claim_one().await;
        assert_eq!(claimed.stage, if pivoted { Stage::PastPivot } else { Stage::Recorded });
        worker.finish(&claimed, State::Completed).await;
    }
}
