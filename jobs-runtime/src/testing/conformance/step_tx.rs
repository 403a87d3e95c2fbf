//! Transactions of steps: what is done in them lands with the step's record, or not at all.

use super::{
    Fixture, HandWorker, job,
    recorded::{EVENT, done, event, for_event, spawn, until},
};
use crate::{
    driver::{
        Claimed, EventRecord, Fence, FindEvent, NewEvent, NewJob, Stage, StepStatus, StepTransaction, StepWrite, Token,
        Written,
    },
    json::JsonText,
    state::State,
};

/// What a step does in its transaction.
struct Work {
    job: NewJob,
    event: NewEvent,
}

impl Work {
    /// Enqueues and publishes.
    async fn begin(store: &dyn Fixture, worker: &HandWorker, fence: Fence) -> (Self, Box<dyn StepTransaction>) {
        let work = Self { job: job(), event: event("7") };
        let mut tx = store.driver().begin_step(worker.id, fence, None).await.expect("a transaction begins");
        let jobs = std::slice::from_ref(&work.job);
        assert!(store.driver().enqueue(jobs, Some(tx.tx())).await.expect("accepted")[0].is_inserted());
        let events = std::slice::from_ref(&work.event);
        store.driver().publish(events, Some(tx.tx())).await.expect("it is published");
        (work, tx)
    }

    /// The job and the event are there, or neither is.
    async fn assert_done(&self, store: &dyn Fixture, expected: bool) {
        assert_eq!(store.find(self.job.id).await.is_some(), expected, "the job");
        assert_eq!(found(store).await.map(|event| event.id), expected.then_some(self.event.id), "the event");
    }
}

async fn found(store: &dyn Fixture) -> Option<EventRecord> {
    let find = FindEvent { name: EVENT.to_owned(), key: "7".to_owned(), tenant: None, taken: Vec::new(), before: None };
    store.driver().find_event(find).await.expect("a find answers")
}

async fn commit(tx: Box<dyn StepTransaction>, record: StepWrite) -> Written {
    tx.commit(record).await.expect("a commit answers")
}

/// What is done in the transaction is seen once its step is recorded, not before, and together with it.
pub async fn a_step_lands_with_its_record(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let (work, tx) = Work::begin(store, &worker, claimed.fence).await;
    work.assert_done(store, false).await;
    assert_eq!(store.steps(claimed.fence.job).await, []);
    let output = Some(JsonText::trusted(r#"{"z": 1}"#));
    let written = commit(tx, StepWrite { output: output.clone(), ..done("pay", 1) }).await;
    assert!(matches!(written, Written::Landed), "{written:?}");
    work.assert_done(store, true).await;
    let steps = store.steps(claimed.fence.job).await;
    assert_eq!((steps.len(), steps[0].status, &steps[0].output), (1, StepStatus::Done, &output));
    assert_eq!(
        (store.state(claimed.fence.job).await, store.stage(claimed.fence.job).await),
        (State::Running, Stage::Recorded)
    );
    worker.finish(&claimed, State::Completed).await;
}

/// A transaction that is dropped leaves nothing, and the run goes on.
pub async fn a_dropped_step_leaves_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let (work, tx) = Work::begin(store, &worker, claimed.fence).await;
    drop(tx);
    work.assert_done(store, false).await;
    assert_eq!(store.steps(claimed.fence.job).await, []);
    worker.step(&claimed, done("pay", 1)).await;
}

/// A step that ran when its worker lost the job leaves nothing, whatever it lost it by.
pub async fn a_stale_step_leaves_nothing(store: &dyn Fixture) {
    for way in ["lapsed", "rescued", "released", "ended", "invented"] {
        let worker = HandWorker::start(store.driver()).await;
        let claimed = worker.begin(store, job()).await;
        let mut fence = claimed.fence;
        if way == "invented" {
            fence.token = Token(fence.token.0 + 1_000_000);
        }
        let (work, tx) = Work::begin(store, &worker, fence).await;
        match way {
            "lapsed" => store.advance_secs(31).await,
            "rescued" => {
                store.advance_secs(31).await;
                store.driver().rescue().await.expect("a rescue answers");
            }
            "released" => worker.release(&claimed).await,
            "ended" => worker.finish(&claimed, State::Completed).await,
            _ => {}
        }
        let written = commit(tx, done("pay", 1)).await;
        assert!(matches!(written, Written::Stale), "{way}: {written:?}");
        work.assert_done(store, false).await;
        assert_eq!(store.steps(claimed.fence.job).await, [], "{way}");
        store.advance_secs(31).await;
        store.driver().rescue().await.expect("a rescue answers");
        store.driver().cancel(claimed.fence.job).await.expect("a cancel answers");
    }
}

/// A step of a run that was claimed again under another token leaves nothing; the new claim's does.
pub async fn of_two_claims_the_newer_lands(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let old = worker.begin(store, job()).await;
    let (stale, old_tx) = Work::begin(store, &worker, old.fence).await;
    worker.release(&old).await;
    let new: Claimed = worker.claim_one().await;
    let written = commit(old_tx, done("pay", 1)).await;
    assert!(matches!(written, Written::Stale), "{written:?}");
    stale.assert_done(store, false).await;
    let (work, tx) = Work::begin(store, &worker, new.fence).await;
    assert!(matches!(commit(tx, done("pay", 1)).await, Written::Landed));
    work.assert_done(store, true).await;
}

/// A step that would spawn in its transaction is refused, with all that it did; the run is still held.
pub async fn a_refused_step_leaves_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let (work, tx) = Work::begin(store, &worker, claimed.fence).await;
    let child = NewJob { parent: Some(claimed.fence.job), ..job() };
    let id = child.id;
    let written = commit(tx, spawn("child", 1, child)).await;
    assert!(matches!(written, Written::Refused(_)), "{written:?}");
    work.assert_done(store, false).await;
    assert!(store.find(id).await.is_none());
    assert_eq!(store.steps(claimed.fence.job).await, []);
    worker.finish(&claimed, State::Completed).await;
}

/// Asked to cancel, a step that is at its end still lands: its effect is recorded.
pub async fn a_step_at_its_end_lands_despite_a_cancel(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let (work, tx) = Work::begin(store, &worker, claimed.fence).await;
    store.driver().cancel(claimed.fence.job).await.expect("a cancel answers");
    assert!(matches!(commit(tx, done("pay", 1)).await, Written::Landed));
    work.assert_done(store, true).await;
    assert_eq!(store.step_names(claimed.fence.job).await, ["pay"]);
}

/// What a step enqueues and publishes wakes whom it concerns when it lands.
pub async fn a_step_wakes_when_it_lands(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let waiting = worker.begin(store, job()).await;
    worker.park(&waiting, until(for_event("7"))).await;
    let claimed = worker.begin(store, job()).await;
    let (work, tx) = Work::begin(store, &worker, claimed.fence).await;
    assert_eq!(store.state(waiting.fence.job).await, State::Suspended);
    let written = commit(tx, done("pay", 1)).await;
    assert!(matches!(written, Written::Landed), "{written:?}");
    work.assert_done(store, true).await;
    assert_eq!(store.state(waiting.fence.job).await, State::Ready);
    assert_eq!(worker.claim(10).await.len(), 2);
}
