//! No step of a run that unwinds goes forward: the store takes no record of one, whoever is late with it.

use super::{
    Fixture, HandWorker,
    children::{child_of, family},
    job,
    recorded::{done, event, for_event, of, park, spawn, until, unwind},
};
use crate::{
    driver::{Change, Claimed, FindEvent, Park, Stage, StepKind, StepStatus, StepWrite, Unwind, Written},
    error::code,
    state::State,
};

async fn unwinding(store: &dyn Fixture, worker: &HandWorker) -> Claimed {
    let claimed = worker.begin_recorded(store, job()).await;
    worker.unwind(&claimed, unwind("out of stock")).await;
    claimed
}

fn assert_refused(written: &Written) {
    let Written::Refused(error) = written else { panic!("it is refused, not {written:?}") };
    assert_eq!(error.code(), code::JOB_STATE_REFUSED);
}

/// A record of a step that was late changes nothing; those of the undoing land.
pub async fn a_run_that_unwinds_records_no_step(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = unwinding(store, &worker).await;
    let id = claimed.fence.job;
    let (before, steps) = (store.snapshot(id).await, store.steps(id).await);
    for kind in StepKind::ALL.into_iter().filter(|kind| kind.is_forward()) {
        // A new one, and one in the place of a record that there is.
        for name in ["charge", "hold"] {
            let written = worker.write(&claimed, Change::Step(Box::new(of(kind, name, StepStatus::Done, 2)))).await;
            assert_refused(&written);
        }
    }
    let child = child_of(&claimed);
    let child_id = child.id;
    assert_refused(&worker.write(&claimed, Change::Step(Box::new(spawn("child", 2, child)))).await);
    assert!(store.find(child_id).await.is_none());
    assert_eq!((store.snapshot(id).await, store.steps(id).await), (before, steps));
    worker.step(&claimed, of(StepKind::Undo, "hold", StepStatus::Done, 3)).await;
    worker.finish(&claimed, State::Dead).await;
}

/// A transaction of a step whose commit comes after the decision is rolled back with all that it did.
pub async fn a_step_that_commits_after_the_decision_leaves_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    let mut tx = store.driver().begin_step(worker.id, claimed.fence, None).await.expect("a transaction begins");
    let (late, published) = (job(), event("7"));
    store.driver().enqueue(std::slice::from_ref(&late), Some(tx.tx())).await.expect("accepted");
    store.driver().publish(std::slice::from_ref(&published), Some(tx.tx())).await.expect("it is published");
    worker.unwind(&claimed, unwind("out of stock")).await;
    let steps = store.steps(claimed.fence.job).await;
    assert_refused(&tx.commit(of(StepKind::StepTx, "charge", StepStatus::Done, 2)).await.expect("a commit answers"));
    assert_eq!(store.steps(claimed.fence.job).await, steps);
    assert!(store.find(late.id).await.is_none());
    let find = FindEvent { name: published.name, key: published.key, tenant: None, taken: Vec::new(), before: None };
    assert!(store.driver().find_event(find).await.expect("a find answers").is_none());
    worker.finish(&claimed, State::Dead).await;
}

/// A park that would record a sleep leaves the run held; one without such a record lands.
pub async fn a_run_that_unwinds_parks_without_new_records(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = unwinding(store, &worker).await;
    let id = claimed.fence.job;
    let steps = store.steps(id).await;
    let sleep = of(StepKind::Sleep, "night", StepStatus::Waiting, 2);
    let late = Park { records: vec![sleep], ..until(for_event("7")) };
    assert_refused(&worker.write(&claimed, Change::Park(Box::new(late))).await);
    assert_eq!((store.state(id).await, store.stage(id).await), (State::Running, Stage::Unwinding));
    assert_eq!(store.steps(id).await, steps);
    let undo = of(StepKind::Undo, "hold", StepStatus::Tried, 3);
    worker.park(&claimed, Park { records: vec![undo], due_at: Some(store.in_secs(60).await), ..park() }).await;
    assert_eq!((store.state(id).await, store.stage(id).await), (State::Suspended, Stage::Unwinding));
    assert_eq!(store.step_names(id).await, ["hold", "", "hold"]);
}

/// A decision that is written again lands again, with the steps that failed.
pub async fn a_decision_brings_its_own_records(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    for _ in 0..2 {
        let failed = of(StepKind::Step, "charge", StepStatus::Failed, 2);
        worker.unwind(&claimed, Unwind { records: vec![failed], ..unwind("refused") }).await;
        assert_eq!(store.step_names(claimed.fence.job).await, ["hold", "charge", ""]);
    }
}

/// The end of a child is recorded with its parent all the same.
pub async fn a_childs_end_is_told_to_a_run_that_unwinds(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let (parent, child) = family(store, &worker).await;
    store.driver().roll_back(parent).await.expect("a roll back answers");
    assert_eq!(store.stage(parent).await, Stage::Unwinding);
    worker.finish(&child, State::Completed).await;
    assert_eq!(store.step_of(parent, StepKind::Spawn).await.status, StepStatus::Done);
}

/// Among the records of one batch only those of the run that unwinds are refused.
pub async fn other_runs_of_the_batch_record_their_steps(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let stopped = unwinding(store, &worker).await;
    let other = worker.begin_recorded(store, job()).await;
    let step = |claimed: &Claimed| crate::driver::Write {
        fence: claimed.fence,
        change: Change::Step(Box::new(StepWrite { tries: 1, ..done("charge", 2) })),
    };
    let written = worker.commit(&[step(&stopped), step(&other)]).await;
    assert_refused(&written[0]);
    assert!(matches!(written[1], Written::Landed), "{written:?}");
    assert_eq!(store.step_names(stopped.fence.job).await, ["hold", ""]);
    assert_eq!(store.step_names(other.fence.job).await, ["hold", "charge"]);
}
