//! Fences: no write by a worker that no longer holds the job changes anything, whatever it writes.

use super::{
    Fixture, HandWorker, KIND,
    hand::{again, failure, finish},
    job,
    recorded::{done, for_event, of, park, spawn, unwind},
};
use crate::{
    driver::{Change, Fence, Park, Progress, StepKind, StepRecord, StepStatus, Token, Unwind, Wait, Write, Written},
    id::JobId,
    json::JsonText,
    spec::Keep,
    state::State,
};
use chrono::DateTime;
use std::time::Duration;

/// One example of the variant that follows. A new variant does not compile before it has joined here.
fn example_after(change: Option<&Change>) -> Option<Change> {
    match change {
        None => Some(Change::Finish(finish(State::Completed))),
        Some(Change::Finish(_)) => Some(Change::Reschedule(again(7, Duration::ZERO))),
        Some(Change::Reschedule(_)) => {
            Some(Change::Progress(Progress { done: 3, total: Some(4), message: "stale".to_owned() }))
        }
        Some(Change::Progress(_)) => Some(Change::Step(Box::new(done("stale", 1)))),
        Some(Change::Step(_)) => Some(Change::Park(Box::new(park()))),
        Some(Change::Park(_)) => Some(Change::Unwind(Box::new(unwind("stale")))),
        Some(Change::Unwind(_)) => None,
    }
}

/// Everything that a worker can write: each variant, each end, each kind of reschedule, of step and of park.
fn every_change() -> Vec<Change> {
    let mut all = Vec::new();
    let mut example = example_after(None);
    while let Some(change) = example {
        example = example_after(Some(&change));
        all.push(change);
    }
    for state in State::ALL.into_iter().filter(|state| state.is_final()) {
        let mut end = finish(state);
        end.output = (state == State::Completed).then(|| JsonText::trusted("\"stale\""));
        end.follow_up = Some(Box::new(job()));
        all.push(Change::Finish(end.clone()));
        end.keep = Keep::None;
        all.push(Change::Finish(end));
    }
    for delay in [Duration::ZERO, Duration::from_secs(60)] {
        for (attempt, text) in [(1, None), (2, Some("stale"))] {
            let mut reschedule = again(attempt, delay);
            reschedule.failure = text.map(failure);
            all.push(Change::Reschedule(reschedule));
        }
    }
    let steps = StepKind::ALL.map(|kind| of(kind, "stale", StepStatus::Done, 1));
    all.extend(steps.into_iter().chain([spawn("stale", 1, job())]).map(|step| Change::Step(Box::new(step))));
    let due = Park { due_at: Some(DateTime::UNIX_EPOCH), records: vec![done("stale", 1)], ..park() };
    let waits =
        Park { waits: vec![for_event("7"), Wait::Child(JobId::new())], reason: Some(failure("stale")), ..park() };
    all.extend([due, waits].map(|park| Change::Park(Box::new(park))));
    all.push(Change::Unwind(Box::new(Unwind { records: vec![done("stale", 1)], ..unwind("stale") })));
    all
}

/// The job that a change writes beside the one that it is about.
fn another_job(change: &Change) -> Option<JobId> {
    let job = match change {
        Change::Finish(finish) => finish.follow_up.as_ref(),
        Change::Step(step) => step.child.as_ref(),
        Change::Reschedule(_) | Change::Progress(_) | Change::Park(_) | Change::Unwind(_) => None,
    };
    job.map(|job| job.id)
}

/// All that is stored of a job.
async fn stored(store: &dyn Fixture, job: JobId) -> (Option<serde_json::Value>, Vec<StepRecord>) {
    (store.snapshot(job).await, store.steps(job).await)
}

/// Writes everything under a fence that must not match, one by one and then together, and compares all that is
/// stored before and after.
async fn changes_nothing(store: &dyn Fixture, worker: &HandWorker, fence: Fence) {
    let before = stored(store, fence.job).await;
    let counts = store.driver().counts().await.expect("counts answer");
    let changes = every_change();
    for change in &changes {
        let written = worker.commit(&[Write { fence, change: change.clone() }]).await;
        assert!(matches!(written[..], [Written::Stale]), "{change:?} is stale, not {written:?}");
        assert_eq!(stored(store, fence.job).await, before, "{change:?} changed nothing");
        if let Some(job) = another_job(change) {
            assert!(store.find(job).await.is_none(), "{change:?} wrote no other job");
        }
    }
    let together: Vec<Write> = changes.into_iter().map(|change| Write { fence, change }).collect();
    let written = worker.commit(&together).await;
    assert!(written.iter().all(|written| matches!(written, Written::Stale)), "all stale, not {written:?}");
    let step = store.driver().begin_step(worker.id, fence, None).await.expect("a transaction begins");
    let written = step.commit(done("stale", 1)).await.expect("a commit answers");
    assert!(matches!(written, Written::Stale), "a step's transaction is stale, not {written:?}");
    assert_eq!(stored(store, fence.job).await, before);
    assert_eq!(store.driver().counts().await.expect("counts answer"), counts);
}

/// A claim that the same worker has given back and got again has another token.
pub async fn an_older_claim_of_the_same_worker_is_stale(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let old = worker.claim_one().await;
    worker.release(&old).await;
    let new = worker.claim_one().await;
    changes_nothing(store, &worker, old.fence).await;
    worker.finish(&new, State::Completed).await;
}

/// The right token under another attempt's number is stale.
pub async fn another_attempt_is_stale(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    for attempt in [0, 2, u32::MAX >> 1] {
        changes_nothing(store, &worker, Fence { attempt, ..claimed.fence }).await;
    }
    worker.finish(&claimed, State::Completed).await;
}

/// A token that nobody was given is stale.
pub async fn an_invented_token_is_stale(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    for token in [Token(0), Token(-1), Token(claimed.fence.token.0 + 1), Token(i64::MAX)] {
        changes_nothing(store, &worker, Fence { token, ..claimed.fence }).await;
    }
    worker.finish(&claimed, State::Completed).await;
}

/// After its lease has lapsed a worker writes nothing, even before anybody has rescued the job.
pub async fn a_lapsed_lease_makes_writes_stale(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    store.advance_secs(31).await;
    changes_nothing(store, &worker, claimed.fence).await;
    assert_eq!(store.state(claimed.fence.job).await, State::Running);
}

/// A worker that wakes up after a rescue writes nothing, whether the job waits, runs again, or is done.
pub async fn a_rescued_job_is_lost_to_its_old_worker(store: &dyn Fixture) {
    let old = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let lost = old.claim_one().await;
    store.advance_secs(31).await;
    store.driver().rescue().await.expect("a rescue answers");
    changes_nothing(store, &old, lost.fence).await;
    let new = HandWorker::start(store.driver()).await;
    let claimed = new.claim_one().await;
    changes_nothing(store, &old, lost.fence).await;
    changes_nothing(store, &new, lost.fence).await;
    new.finish(&claimed, State::Completed).await;
    changes_nothing(store, &old, lost.fence).await;
    assert_eq!(store.state(lost.fence.job).await, State::Completed);
}

/// A process that reuses the name of its predecessor cannot write under the predecessor's claims.
pub async fn a_reused_name_does_not_revive_a_claim(store: &dyn Fixture) {
    let kinds = [(KIND, 1)];
    let old = HandWorker::knowing(store.driver(), "pod-0", &kinds).await;
    store.insert(job()).await;
    let lost = old.claim_one().await;
    let new = HandWorker::knowing(store.driver(), "pod-0", &kinds).await;
    changes_nothing(store, &new, lost.fence).await;
    old.finish(&lost, State::Completed).await;
}

/// What a worker gave back by ending its lease, it cannot write about.
pub async fn a_stopped_worker_writes_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    worker.stop().await;
    changes_nothing(store, &worker, claimed.fence).await;
}

/// A job that has ended stays as it ended.
pub async fn a_finished_job_is_never_written_again(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for end in State::ALL.into_iter().filter(|state| state.is_final()) {
        store.insert(job()).await;
        let claimed = worker.claim_one().await;
        worker.finish(&claimed, end).await;
        changes_nothing(store, &worker, claimed.fence).await;
    }
}

/// A job that left nothing behind is not brought back.
pub async fn a_job_that_left_the_store_is_not_revived(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    let mut end = finish(State::Completed);
    end.keep = Keep::None;
    assert!(matches!(worker.write(&claimed, Change::Finish(end)).await, Written::Landed));
    changes_nothing(store, &worker, claimed.fence).await;
    assert!(store.find(claimed.fence.job).await.is_none());
}

/// A requeued job begins at attempt 1 again; the claims of its first life stay stale.
pub async fn a_requeue_does_not_revive_old_claims(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let old = worker.claim_one().await;
    worker.finish(&old, State::Dead).await;
    store.driver().requeue(id).await.expect("a dead job is requeued");
    changes_nothing(store, &worker, old.fence).await;
    let new = worker.claim_one().await;
    assert_eq!(new.fence.attempt, old.fence.attempt);
    changes_nothing(store, &worker, old.fence).await;
    worker.finish(&new, State::Completed).await;
}

/// A job that waits, was retried or was cancelled is not written by the claim that let it go.
pub async fn a_job_that_was_let_go_is_not_written(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    worker.retry(&claimed, Duration::from_secs(60)).await;
    changes_nothing(store, &worker, claimed.fence).await;
    store.driver().cancel(claimed.fence.job).await.expect("a cancel answers");
    changes_nothing(store, &worker, claimed.fence).await;
}

/// A job that was never stored is stale, not an error.
pub async fn an_unknown_job_is_stale(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let fence = Fence { job: JobId::new(), attempt: 1, token: Token(1) };
    changes_nothing(store, &worker, fence).await;
    assert!(store.find(fence.job).await.is_none());
}
