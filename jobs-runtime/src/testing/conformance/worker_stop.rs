//! Real workers: drains, cancels, crashes and lost leases, on any driver.

use super::{Fixture, crew::Crew};
use crate::{
    client::Cancelled,
    driver::Lease,
    error::code,
    failure::Stop,
    state::State,
    testing::{Act, Acts, eventually},
};
use std::time::Duration;

/// A drain hands back, uncounted, what does not finish within the grace, and what was claimed ahead.
pub async fn a_drain_hands_back_uncounted(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.worker().queue("acts", 1).prefetch(10).drain_grace("0s").start().await.expect("it starts");
    let first = crew.enqueue(&[Act::UntilCancelled]).await;
    crew.started(first, 1).await;
    let ahead = crew.jobs.enqueue_many::<Acts>((0..10).map(|_| vec![Act::UntilCancelled])).await.expect("accepted");
    eventually(|| async { store.state(ahead[0].id()).await == State::Running }).await;
    worker.drain().await;
    for job in ahead.iter().map(crate::Enqueued::id).chain([first]) {
        let record = store.record(job).await;
        assert_eq!((record.state, record.attempt, record.crashes), (State::Ready, 1, 0));
        assert_eq!(record.failure, None);
    }
    assert_eq!(crew.starts.all().len(), 1, "nothing was begun that was only claimed ahead");
}

/// What a drained worker handed back, another runs.
pub async fn another_worker_runs_what_was_handed_back(store: &dyn Fixture) {
    let crew = Crew::new(store);
    for round in 1..=5 {
        let worker = crew.worker().drain_grace("0s").start().await.expect("it starts");
        if round == 1 {
            crew.enqueue(&[Act::UntilCancelled]).await;
        }
        eventually(|| async { crew.starts.all().len() >= round }).await;
        worker.drain().await;
    }
    assert!(crew.starts.all().iter().all(|(_, attempt)| *attempt == 1), "five restarts burnt no attempt");
}

/// A running job is told of a cancel, and ends as cancelled whether it listens or not; no new attempt begins.
pub async fn a_running_job_is_cancelled(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.worker().cancel_grace("50ms").start().await.expect("it starts");
    for act in [Act::UntilCancelled, Act::Hang] {
        let id = crew.enqueue(std::slice::from_ref(&act)).await;
        crew.started(id, 1).await;
        assert_eq!(crew.jobs.cancel(id).await.expect("a cancel answers"), Cancelled::Asked);
        let record = crew.ended(id).await;
        assert_eq!((record.state, record.attempt), (State::Cancelled, 1), "{act:?}");
        assert_eq!(crew.starts.of(id), 1);
    }
    worker.drain().await;
}

/// A job whose worker died is run again by another under the same attempt, with a crash counted.
pub async fn a_dead_workers_job_runs_again_under_its_attempt(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let worker = crew.start().await;
    let id = crew.enqueue(&[Act::Hang, Act::Ok]).await;
    crew.started(id, 1).await;
    worker.abort();
    worker.wait().await;
    store.advance_secs(31).await;
    let worker = crew.start().await;
    let record = crew.ended(id).await;
    assert_eq!((record.state, record.attempt, record.crashes), (State::Completed, 1, 1));
    worker.drain().await;
}

/// A job that takes its worker down as often as its budget allows is quarantined: dead, with a code that says so.
pub async fn a_job_that_kills_its_workers_is_quarantined(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let id = crew.enqueue(&[Act::Hang]).await;
    for life in 1..=3 {
        let worker = crew.start().await;
        crew.started(id, life).await;
        worker.abort();
        worker.wait().await;
        store.advance_secs(31).await;
    }
    let worker = crew.start().await;
    let record = crew.ended(id).await;
    assert_eq!((record.state, record.attempt, record.crashes), (State::Dead, 1, 3));
    let failure = record.failure.expect("a failure is recorded");
    assert_eq!((failure.stop, &*failure.code), (Some(Stop::Quarantined), code::JOB_QUARANTINED.name));
    assert_eq!(crew.starts.of(id), 3, "it was not begun again");
    worker.drain().await;
}

/// A worker that loses its lease stops its runs, writes nothing of them, and goes on as another incarnation.
pub async fn a_worker_that_lost_its_lease_goes_on_as_another(store: &dyn Fixture) {
    let crew = Crew::new(store);
    let lease = Lease { duration: Duration::from_secs(30), beat: Duration::from_millis(100) };
    let worker = crew.worker().lease(lease).cancel_grace("50ms").drain_grace("0s").start().await.expect("it starts");
    let first = worker.id();
    let id = crew.enqueue(&[Act::UntilCancelled]).await;
    crew.started(id, 1).await;
    store.advance_secs(31).await;
    crew.started(id, 2).await;
    assert_ne!(worker.id(), first);
    let record = store.record(id).await;
    assert_eq!((record.state, record.attempt), (State::Running, 1));
    assert_eq!(record.failure, None, "the lost run wrote nothing");
    worker.drain().await;
    assert_eq!(store.state(id).await, State::Ready);
}
