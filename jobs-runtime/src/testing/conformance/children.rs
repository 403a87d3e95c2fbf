//! Children: written with the record of their spawn, their ends told to the run that spawned them, cancelled with it.

use super::{
    Fixture, HandWorker,
    hand::{again, failure, finish},
    job, keyed,
    recorded::{park, spawn, until},
};
use crate::{
    driver::{
        CancelAnswer, Change, ChildEnd, Claimed, Finish, NewJob, Park, StepKind, StepRecord, StepStatus, Wait, Written,
    },
    error::code,
    id::JobId,
    json::JsonText,
    spec::{Hold, Keep},
    state::State,
};
use std::time::Duration;

/// A child of the run.
fn child_of(parent: &Claimed) -> NewJob {
    NewJob { parent: Some(parent.fence.job), ..job() }
}

/// A run that has spawned a child and waits for it, and the child, claimed.
async fn family(store: &dyn Fixture, worker: &HandWorker) -> (JobId, Claimed) {
    let parent = worker.begin(store, job()).await;
    let child = spawned(worker, &parent).await;
    worker.park(&parent, until(Wait::Child(child))).await;
    let child = worker.claim_one().await;
    assert_eq!(store.state(parent.fence.job).await, State::Suspended);
    (parent.fence.job, child)
}

/// Spawns a child, which stays ready.
async fn spawned(worker: &HandWorker, parent: &Claimed) -> JobId {
    let child = child_of(parent);
    let id = child.id;
    worker.step(parent, spawn("child", 1, child)).await;
    id
}

/// The end that a spawn's record tells of.
fn end_of(spawn: &StepRecord) -> ChildEnd {
    assert_eq!((spawn.status, spawn.finished_at.is_some()), (StepStatus::Done, true));
    spawn.output.as_ref().expect("an end is told").decode().expect("it is the end of a child")
}

/// The parent is ready, and its record tells that the child ended in this state.
async fn assert_told(store: &dyn Fixture, parent: JobId, state: State) {
    assert_eq!(store.state(parent).await, State::Ready, "it is woken by a child that is {state}");
    assert_eq!(end_of(&store.step_of(parent, StepKind::Spawn).await).state, state);
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
    worker.step(&parent, super::recorded::done("charge", 2)).await;
    worker.finish(&parent, State::Cancelled).await;
}

/// Whatever way a worker ends a child, its parent's record tells it and the parent is woken, also where the child keeps
/// nothing.
pub async fn an_end_by_a_worker_is_told_to_the_parent(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for state in State::ALL.into_iter().filter(|state| state.is_final()) {
        for keep in [Keep::DEFAULT, Keep::None] {
            let (parent, child) = family(store, &worker).await;
            let output = (state == State::Completed).then(|| JsonText::trusted(r#"{"z": 18446744073709551615}"#));
            let end = Finish { output: output.clone(), keep, ..finish(state) };
            worker.landed(&child, Change::Finish(end.clone())).await;
            assert_told(store, parent, state).await;
            let told = end_of(&store.step_of(parent, StepKind::Spawn).await);
            assert_eq!((told.output, told.failure), (output, end.failure));
            worker.finish(&worker.claim_one().await, State::Completed).await;
        }
    }
}

/// A child that failed before tells the failure of its last attempt, and one that then completes none.
pub async fn an_end_tells_the_last_failure(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let (parent, child) = family(store, &worker).await;
    worker.retry(&child, Duration::ZERO).await;
    let child = worker.claim_one().await;
    let end = Finish { failure: Some(failure("the last")), ..finish(State::Dead) };
    worker.landed(&child, Change::Finish(end)).await;
    let told = end_of(&store.step_of(parent, StepKind::Spawn).await);
    assert_eq!((told.state, told.failure), (State::Dead, Some(failure("the last"))));
    worker.finish(&worker.claim_one().await, State::Completed).await;
    let (parent, child) = family(store, &worker).await;
    worker.retry(&child, Duration::ZERO).await;
    worker.finish(&worker.claim_one().await, State::Completed).await;
    let told = end_of(&store.step_of(parent, StepKind::Spawn).await);
    assert_eq!((told.state, told.failure), (State::Completed, None));
}

/// A cancel that ends a child, at once or when its worker lets it go, is told to the parent.
pub async fn an_end_by_a_cancel_is_told_to_the_parent(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for way in ["ready", "delayed", "parked", "retried", "released", "parks"] {
        let (parent, child) = family(store, &worker).await;
        match way {
            "ready" => worker.release(&child).await,
            "delayed" => worker.retry(&child, Duration::from_secs(60)).await,
            "parked" => worker.park(&child, park()).await,
            _ => {}
        }
        store.driver().cancel(child.fence.job).await.expect("a cancel answers");
        let change = match way {
            "retried" => Some(Change::Reschedule(again(2, Duration::from_secs(60)))),
            "released" => Some(Change::Reschedule(again(1, Duration::ZERO))),
            "parks" => Some(Change::Park(Box::new(Park { keep: Keep::None, ..park() }))),
            _ => None,
        };
        if let Some(change) = change {
            assert_eq!(store.state(parent).await, State::Suspended, "{way}");
            let written = worker.write(&child, change).await;
            assert!(matches!(written, Written::Cancelled), "{way}: {written:?}");
        }
        assert_told(store, parent, State::Cancelled).await;
        worker.finish(&worker.claim_one().await, State::Completed).await;
    }
}

/// A child that was asked to cancel and whose worker dies or stops ends as cancelled, and its parent is told.
pub async fn an_end_by_a_rescue_or_a_stop_is_told_to_the_parent(store: &dyn Fixture) {
    for dies in [true, false] {
        let worker = HandWorker::start(store.driver()).await;
        let (parent, child) = family(store, &worker).await;
        store.driver().cancel(child.fence.job).await.expect("a cancel answers");
        if dies {
            store.advance_secs(31).await;
            assert_eq!(store.driver().rescue().await.expect("a rescue answers").cancelled, 1);
        } else {
            worker.stop().await;
        }
        assert_told(store, parent, State::Cancelled).await;
        let worker = HandWorker::start(store.driver()).await;
        worker.finish(&worker.claim_one().await, State::Completed).await;
        worker.stop().await;
    }
}

/// A child that ended before its parent parked leaves the parent ready at once.
pub async fn a_child_that_ended_before_the_park_makes_it_ready_at_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let parent = worker.begin(store, job()).await;
    let child = spawned(&worker, &parent).await;
    let claimed = worker.claim_one().await;
    worker.landed(&claimed, Change::Finish(Finish { keep: Keep::None, ..finish(State::Completed) })).await;
    worker.park(&parent, until(Wait::Child(child))).await;
    assert_told(store, parent.fence.job, State::Completed).await;
}

/// Whatever the order of a parent's park and its child's end, the parent is ready in the end, and claimed once.
pub async fn a_park_and_a_childs_end_never_miss_each_other(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let other = HandWorker::start(store.second_handle().await).await;
    for round in 0..60 {
        let parent = worker.begin(store, job()).await;
        let child = spawned(&worker, &parent).await;
        let claimed = other.claim_one().await;
        tokio::join!(worker.park(&parent, until(Wait::Child(child))), async {
            for _ in 0..round % 4 {
                tokio::task::yield_now().await;
            }
            other.finish(&claimed, State::Completed).await;
        });
        store.driver().wake(100).await.expect("a wake answers");
        let woken = worker.claim_one().await;
        assert_eq!(woken.fence.job, parent.fence.job, "round {round}");
        let spawn = store.step_of(parent.fence.job, StepKind::Spawn).await;
        assert_eq!(spawn.status, StepStatus::Done, "round {round}");
        worker.finish(&woken, State::Completed).await;
    }
}

/// A parent that does not wait for the child that ended is told, but not woken.
pub async fn a_parent_that_waits_for_something_else_is_not_woken(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let parent = worker.begin(store, job()).await;
    spawned(&worker, &parent).await;
    let due_at = Some(store.in_secs(60).await);
    worker.park(&parent, Park { due_at, waits: vec![Wait::Child(JobId::new())], ..park() }).await;
    worker.finish(&worker.claim_one().await, State::Completed).await;
    assert_eq!(store.state(parent.fence.job).await, State::Suspended);
    let spawn = store.step_of(parent.fence.job, StepKind::Spawn).await;
    assert_eq!(end_of(&spawn).state, State::Completed);
}

/// A run is told of its child's end also while it is held, ready or dead; one in the history stays as it ended.
pub async fn a_parent_is_told_whatever_its_state(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for (state, told) in [(None, true), (Some(State::Dead), true), (Some(State::Completed), false)] {
        let parent = worker.begin(store, job()).await;
        spawned(&worker, &parent).await;
        let child = worker.claim_one().await;
        if let Some(state) = state {
            worker.finish(&parent, state).await;
        }
        assert_eq!(store.state(child.fence.job).await, State::Running, "it outlives its parent");
        let before = store.state(parent.fence.job).await;
        worker.finish(&child, State::Completed).await;
        let spawn = store.step_of(parent.fence.job, StepKind::Spawn).await;
        assert_eq!(
            (spawn.status == StepStatus::Done, store.state(parent.fence.job).await),
            (told, before),
            "{state:?}"
        );
    }
}

/// Only a child's first end counts: a dead one that is requeued and completes has ended as dead for its parent.
pub async fn only_the_first_end_of_a_child_counts(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let (parent, child) = family(store, &worker).await;
    worker.finish(&child, State::Dead).await;
    let first = store.step_of(parent, StepKind::Spawn).await;
    let parent = worker.claim_one().await;
    worker.park(&parent, park()).await;
    store.driver().requeue(child.fence.job).await.expect("a dead child is requeued");
    worker.finish(&worker.claim_one().await, State::Completed).await;
    assert_eq!(store.step_of(parent.fence.job, StepKind::Spawn).await, first);
    assert_eq!(store.state(parent.fence.job).await, State::Suspended);
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
