//! Parked runs: what makes them ready again, and what they keep meanwhile.

use super::{
    Fixture, HandWorker, KIND,
    hand::{again, failure},
    job, keyed,
    recorded::{done, for_event, of, park},
};
use crate::{
    driver::{CancelAnswer, Change, Enqueued, ListFilter, Park, Stage, StepKind, StepStatus, StepWrite, Written},
    failure::RecordedFailure,
    spec::Hold,
    state::State,
};
use chrono::TimeDelta;
use std::time::Duration;

/// A parked run is suspended until it is due, and is then claimed under the attempt that it had.
pub async fn a_parked_run_is_ready_when_it_is_due(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    worker.retry(&worker.begin(store, job()).await, Duration::ZERO).await;
    let claimed = worker.claim_one().await;
    let due = store.in_secs(100).await;
    worker.park(&claimed, Park { due_at: Some(due), waits: vec![for_event("7")], ..park() }).await;
    let record = store.record(claimed.fence.job).await;
    assert_eq!((record.state, record.due_at, record.attempt), (State::Suspended, Some(due), 2));
    let next = store.driver().look(&[]).await.expect("a look answers").next_due.expect("it waits");
    assert!((90..=100).contains(&next.as_secs()), "{next:?}");
    store.advance_secs(90).await;
    assert_eq!(store.promote().await, 0);
    let worker = HandWorker::start(store.driver()).await;
    store.advance_secs(11).await;
    assert_eq!(store.promote().await, 1);
    let again = worker.claim_one().await;
    assert_eq!((again.fence.job, again.fence.attempt), (claimed.fence.job, 2));
    assert_eq!(again.failure, claimed.failure, "the last failure is still its last");
}

/// A park whose time has come is ready at once.
pub async fn a_park_that_is_due_is_ready_at_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for seconds in [-86_400, -1, 0] {
        let claimed = worker.begin(store, job()).await;
        worker.park(&claimed, Park { due_at: Some(store.in_secs(seconds).await), ..park() }).await;
        assert_eq!(store.state(claimed.fence.job).await, State::Ready);
        worker.finish(&worker.claim_one().await, State::Completed).await;
    }
}

/// A park without a time is never due.
pub async fn a_park_without_a_time_is_never_due(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    worker.park(&claimed, park()).await;
    let record = store.record(claimed.fence.job).await;
    assert_eq!((record.state, record.due_at), (State::Suspended, None));
    assert_eq!(store.driver().look(&[]).await.expect("a look answers").next_due, None);
    store.advance_secs(3_650 * 86_400).await;
    assert_eq!(store.promote().await, 0);
    assert_eq!(store.driver().wake(100).await.expect("a wake answers"), 0);
    assert_eq!(store.state(claimed.fence.job).await, State::Suspended);
}

/// What began and is not recorded yet is recorded with the park, and the next claim knows.
pub async fn a_park_records_what_has_begun(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let due = store.in_secs(-1).await;
    let sleep = StepWrite { due_at: Some(due), ..of(StepKind::Sleep, "cool down", StepStatus::Waiting, 2) };
    let wait = of(StepKind::Wait, "shipped", StepStatus::Waiting, 1);
    worker.park(&claimed, Park { due_at: Some(due), records: vec![sleep, wait], ..park() }).await;
    assert_eq!(store.step_names(claimed.fence.job).await, ["shipped", "cool down"]);
    assert_eq!(store.step_of(claimed.fence.job, StepKind::Sleep).await.due_at, Some(due));
    assert_eq!(worker.claim_one().await.stage, Stage::Recorded);
}

/// A run that got as far as a park has not taken its worker down: its crashes are forgotten.
pub async fn a_park_forgets_crashes(store: &dyn Fixture) {
    HandWorker::start(store.driver()).await.begin(store, job()).await;
    store.advance_secs(31).await;
    store.driver().rescue().await.expect("a rescue answers");
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.claim_one().await;
    assert_eq!(claimed.crashes, 1);
    worker.park(&claimed, Park { due_at: Some(store.in_secs(-1).await), ..park() }).await;
    assert_eq!(worker.claim_one().await.crashes, 0);
}

/// A parked run holds no worker, and its old claim writes nothing.
pub async fn a_parked_run_is_let_go(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    worker.park(&claimed, park()).await;
    assert_eq!(store.driver().held(worker.id).await.expect("held answers"), []);
    assert_eq!(store.driver().workers().await.expect("workers answer")[0].running, 0);
    let written = worker.write(&claimed, Change::Step(Box::new(done("late", 1)))).await;
    assert!(matches!(written, Written::Stale), "{written:?}");
    worker.stop().await;
    store.advance_secs(31).await;
    assert_eq!(store.driver().rescue().await.expect("a rescue answers").jobs, 0);
    assert_eq!(store.state(claimed.fence.job).await, State::Suspended);
    let counts = store.driver().counts().await.expect("counts answer");
    let suspended = counts.iter().find(|count| count.kind == KIND && count.state == State::Suspended);
    assert_eq!(suspended.map(|count| count.jobs), Some(1));
}

/// A parked run is a live one: it holds its unique key.
pub async fn a_parked_run_holds_its_key(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, keyed(1, Hold::Live)).await;
    worker.park(&claimed, park()).await;
    let id = claimed.fence.job;
    let answers = store.enqueue(&[keyed(1, Hold::Live)]).await;
    assert_eq!(answers, [Enqueued::Existing { id, state: Some(State::Suspended) }]);
    store.driver().cancel(id).await.expect("a cancel answers");
    assert!(store.enqueue(&[keyed(1, Hold::Live)]).await[0].is_inserted());
}

/// A run that was asked to cancel ends as cancelled instead of being parked, also where it would be ready at once.
pub async fn a_park_of_a_run_that_was_asked_to_cancel_ends_it(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for due in [None, Some(-1), Some(60)] {
        let claimed = worker.begin(store, job()).await;
        store.driver().cancel(claimed.fence.job).await.expect("a cancel answers");
        let due_at = match due {
            Some(seconds) => Some(store.in_secs(seconds).await),
            None => None,
        };
        let written = worker.write(&claimed, Change::Park(Box::new(Park { due_at, ..park() }))).await;
        assert!(matches!(written, Written::Cancelled), "{written:?}");
        let record = store.record(claimed.fence.job).await;
        assert_eq!((record.state, record.due_at), (State::Cancelled, None));
        assert!(record.finished_at.is_some() && !record.cancel_requested);
    }
}

/// A parked run is cancelled at once, with what it has recorded, and nothing wakes it any more.
pub async fn a_parked_run_is_cancelled_at_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    let due_at = Some(store.in_secs(5).await);
    worker.park(&claimed, Park { due_at, waits: vec![for_event("7")], ..park() }).await;
    let answer = store.driver().cancel(claimed.fence.job).await.expect("a cancel answers");
    assert_eq!((answer, store.state(claimed.fence.job).await), (CancelAnswer::Cancelled, State::Cancelled));
    store.publish(&[super::recorded::event("7")]).await;
    store.advance_secs(6).await;
    assert_eq!((store.promote().await, worker.claim(1).await.len()), (0, 0));
    assert_eq!(store.step_names(claimed.fence.job).await, ["hold"]);
}

/// Why a run cannot go on by itself is told while it is parked, and not after; lists find such runs and the others apart.
pub async fn a_park_tells_its_reason(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let reason = RecordedFailure { code: "X_STEP_MISMATCH".to_owned(), ..failure("step `charge` is a sleep now") };
    let due_at = Some(store.now().await + TimeDelta::seconds(20));
    worker.park(&claimed, Park { due_at, reason: Some(reason.clone()), ..park() }).await;
    let record = store.record(claimed.fence.job).await;
    let told = record.parked.expect("the reason is told");
    assert_eq!((told.code, told.operator, record.failure), (reason.code, reason.operator, None));
    let other = worker.begin(store, job()).await;
    worker.park(&other, Park { due_at: Some(store.in_secs(10_000).await), ..park() }).await;
    for (parked, job) in [(true, claimed.fence.job), (false, other.fence.job)] {
        let filter = ListFilter { parked: Some(parked), ..ListFilter::default() };
        let listed = store.driver().list(filter).await.expect("a list answers");
        let both = listed.iter().map(|record| record.id).filter(|id| [claimed.fence.job, other.fence.job].contains(id));
        assert_eq!(both.collect::<Vec<_>>(), [job]);
    }
    store.advance_secs(21).await;
    store.promote().await;
    assert_eq!(store.record(claimed.fence.job).await.parked, None);
    let claimed = worker.claim_one().await;
    assert_eq!(store.record(claimed.fence.job).await.parked, None);
    worker.landed(&claimed, Change::Reschedule(again(1, Duration::from_secs(5)))).await;
    assert_eq!(store.record(claimed.fence.job).await.parked, None);
}

/// Whatever the order of a park and a cancel, the run ends as cancelled.
pub async fn a_park_and_a_cancel_never_miss_each_other(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let other = store.second_handle().await;
    for round in 0..40 {
        let claimed = worker.begin(store, job()).await;
        let change = Change::Park(Box::new(park()));
        let (written, answer) = tokio::join!(worker.write(&claimed, change), async {
            for _ in 0..round % 4 {
                tokio::task::yield_now().await;
            }
            other.cancel(claimed.fence.job).await
        });
        match (written, answer.expect("a cancel answers")) {
            (Written::Landed, CancelAnswer::Cancelled) | (Written::Cancelled, CancelAnswer::Asked) => {}
            both => panic!("one of them cancels it, not {both:?}"),
        }
        assert_eq!(store.state(claimed.fence.job).await, State::Cancelled, "round {round}");
    }
}
