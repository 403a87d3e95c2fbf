//! The ends of children: by whatever path one ends, the run that spawned it is told, and woken if it waits for that.

use super::{
    Fixture, HandWorker,
    children::{end_of, family, spawned},
    hand::{again, failure, finish},
    job,
    recorded::{park, until},
};
use crate::{
    driver::{Change, Finish, Park, StepKind, StepStatus, Wait, Written},
    id::JobId,
    json::JsonText,
    spec::Keep,
    state::State,
};
use std::time::Duration;

/// The parent is ready, and its record tells that the child ended in this state.
async fn assert_told(store: &dyn Fixture, parent: JobId, state: State) {
    assert_eq!(store.state(parent).await, State::Ready, "it is woken by a child that is {state}");
    assert_eq!(end_of(&store.step_of(parent, StepKind::Spawn).await).state, state);
}

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
