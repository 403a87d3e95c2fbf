//! Children: written with the record of their spawn, or not at all, and cancelled with the run that spawned them.

use super::{
    Fixture, HandWorker, job, keyed,
    recorded::{done, spawn, until},
};
use crate::{
    driver::{CancelAnswer, Change, ChildEnd, Claimed, NewJob, StepKind, StepRecord, StepStatus, Wait, Written},
    error::code,
    id::JobId,
    spec::Hold,
    state::State,
};
use std::time::Duration;

/// A child of the run.
pub(super) fn child_of(parent: &Claimed) -> NewJob {
    NewJob { parent: Some(parent.fence.job), ..job() }
}

/// A run that has spawned a child and waits for it, and the child, claimed.
pub(super) async fn family(store: &dyn Fixture, worker: &HandWorker) -> (JobId, Claimed) {
    let parent = worker.begin(store, job()).await;
    let child = spawned(worker, &parent).await;
    worker.park(&parent, until(Wait::Child(child))).await;
    let child = worker.claim_one().await;
    assert_eq!(store.state(parent.fence.job).await, State::Suspended);
    (parent.fence.job, child)
}

/// Spawns a child, which stays ready.
pub(super) async fn spawned(worker: &HandWorker, parent: &Claimed) -> JobId {
    let child = child_of(parent);
    let id = child.id;
    worker.step(parent, spawn("child", 1, child)).await;
    id
}

/// The end that a spawn's record tells of.
pub(super) fn end_of(spawn: &StepRecord) -> ChildEnd {
    assert_eq!((spawn.status, spawn.finished_at.is_some()), (StepStatus::Done, true));
    spawn.output.as_ref().expect("an end is told").decode().expect("it is the end of a child")
}

/// A child is written with the record of its spawn, and both name each other.
pub async fn a_child_is_written_with_its_record(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let parent = worker.begin(store, job()).await;
    let child = spawned(&worker, &parent).await;
    let record = store.step_of(parent.fence.job, StepKind::Spawn).await;
    assert_eq!((record.child, record.status, record.finished_at), (Some(child), StepStatus::Started, None));
    let stored = store.record(child).await;
    assert_eq!((stored.state, stored.parent), (State::Ready, Some(parent.fence.job)));
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.fence.job, claimed.parent), (child, Some(parent.fence.job)));
}

/// A child whose unique key is taken is refused, its record is not written, and its parent is still held.
pub async fn a_child_whose_key_is_taken_leaves_no_record(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let parent = worker.begin(store, job()).await;
    store.insert(keyed(1, Hold::Live)).await;
    let child = NewJob { parent: Some(parent.fence.job), ..keyed(1, Hold::Live) };
    let id = child.id;
    let written = worker.write(&parent, Change::Step(Box::new(spawn("child", 1, child)))).await;
    assert!(matches!(&written, Written::Refused(error) if error.code() == code::JOB_DUPLICATE), "{written:?}");
    assert!(store.find(id).await.is_none());
    assert_eq!(store.steps(parent.fence.job).await, []);
    worker.finish(&parent, State::Completed).await;
}

/// A run that was asked to cancel spawns nothing more; it is still held, and its other steps are still recorded.
pub async fn a_run_that_was_asked_to_cancel_spawns_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let parent = worker.begin_recorded(store, job()).await;
    store.driver().cancel(parent.fence.job).await.expect("a cancel answers");
    let child = child_of(&parent);
    let id = child.id;
    let written = worker.write(&parent, Change::Step(Box::new(spawn("child", 2, child)))).await;
    assert!(matches!(written, Written::Cancelled), "{written:?}");
    assert!(store.find(id).await.is_none());
    assert_eq!(store.step_names(parent.fence.job).await, ["hold"]);
    worker.step(&parent, done("charge", 2)).await;
    worker.finish(&parent, State::Cancelled).await;
}

/// A cancel goes down to all that have not ended: waiting ones end at once, running ones are asked.
pub async fn a_cancel_reaches_grandchildren(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for running in [true, false] {
        let (parent, child) = family(store, &worker).await;
        let grandchild = spawned(&worker, &child).await;
        worker.park(&child, until(Wait::Child(grandchild))).await;
        let claimed = worker.claim_one().await;
        assert_eq!(claimed.fence.job, grandchild);
        if !running {
            worker.retry(&claimed, Duration::from_secs(60)).await;
        }
        let answer = store.driver().cancel(parent).await.expect("a cancel answers");
        assert_eq!(answer, CancelAnswer::Cancelled);
        assert_eq!(
            (store.state(parent).await, store.state(child.fence.job).await),
            (State::Cancelled, State::Cancelled)
        );
        // What a run leaves with tells of the ends of those below it.
        assert_eq!(end_of(&store.step_of(parent, StepKind::Spawn).await).state, State::Cancelled);
        let spawn = store.step_of(child.fence.job, StepKind::Spawn).await;
        assert_eq!(spawn.status, if running { StepStatus::Started } else { StepStatus::Done });
        let record = store.record(grandchild).await;
        let expected = if running { State::Running } else { State::Cancelled };
        assert_eq!((record.state, record.cancel_requested), (expected, running));
        if running {
            assert_eq!(worker.renew().await.expect("renewed").cancel, [grandchild]);
            worker.finish(&claimed, State::Cancelled).await;
        }
    }
}

/// A cancel of a running parent asks it and cancels its children; those that have ended stay as they are.
pub async fn a_cancel_of_a_running_parent_cancels_its_children(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let parent = worker.begin(store, job()).await;
    let mut children = Vec::new();
    for (number, name) in (1..).zip(["completed", "ready", "delayed"]) {
        let child = child_of(&parent);
        children.push(child.id);
        worker.step(&parent, spawn(name, number, child)).await;
        match name {
            "completed" => worker.finish(&worker.claim_one().await, State::Completed).await,
            "delayed" => {
                let held = worker.claim(10).await;
                worker.retry(&held[1], Duration::from_secs(60)).await;
                worker.release(&held[0]).await;
            }
            _ => {}
        }
    }
    let answer = store.driver().cancel(parent.fence.job).await.expect("a cancel answers");
    assert_eq!(answer, CancelAnswer::Asked);
    let mut states = Vec::new();
    for child in &children {
        states.push(store.state(*child).await);
    }
    assert_eq!(states, [State::Completed, State::Cancelled, State::Cancelled]);
    let told: Vec<State> = store.steps(parent.fence.job).await.iter().map(|spawn| end_of(spawn).state).collect();
    assert_eq!(told, states);
}

/// Whatever the order of a spawn and a cancel, no child is left to run.
pub async fn a_spawn_and_a_cancel_leave_no_live_child(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let other = store.second_handle().await;
    for round in 0..40 {
        let parent = worker.begin(store, job()).await;
        let child = child_of(&parent);
        let (id, step) = (child.id, Change::Step(Box::new(spawn("child", 1, child))));
        let (written, answer) = tokio::join!(worker.write(&parent, step), async {
            for _ in 0..round % 4 {
                tokio::task::yield_now().await;
            }
            other.cancel(parent.fence.job).await
        });
        assert_eq!(answer.expect("a cancel answers"), CancelAnswer::Asked);
        let child = store.find(id).await.map(|child| child.state);
        match written {
            Written::Landed => assert_eq!(child, Some(State::Cancelled), "round {round}"),
            Written::Cancelled => assert_eq!(child, None, "round {round}"),
            written => panic!("landed or cancelled, not {written:?}"),
        }
        worker.finish(&parent, State::Cancelled).await;
    }
}
