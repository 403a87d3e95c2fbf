//! Unique keys: one job per key while the key is held, whoever asks and however many ask at once.

use super::{Fixture, HandWorker, hand::again, hand::finish, job, keyed};
use crate::{
    driver::{Change, Enqueued, Finish, NewJob, NewUnique, Start, Written},
    error::code,
    id::JobId,
    spec::{Hold, Keep, OnConflict},
    state::State,
};
use std::time::Duration;

/// Asserts that an enqueue of the key finds it taken by the job.
async fn is_taken_by(store: &dyn Fixture, number: u16, hold: Hold, holder: JobId) -> Option<State> {
    let answers = store.enqueue(&[keyed(number, hold)]).await;
    match answers[..] {
        [Enqueued::Existing { id, state }] if id == holder => state,
        _ => panic!("the key is taken by {holder}, not {answers:?}"),
    }
}

/// An enqueue of a taken key writes nothing and answers with the job that holds it and its state.
pub async fn a_taken_key_answers_its_holder(store: &dyn Fixture) {
    let holder = store.insert(keyed(1, Hold::Live)).await;
    let twin = keyed(1, Hold::Live);
    assert_eq!(
        store.enqueue(std::slice::from_ref(&twin)).await,
        [Enqueued::Existing { id: holder, state: Some(State::Ready) }]
    );
    assert!(store.find(twin.id).await.is_none());
    let delayed = store.insert(NewJob { start: Start::After(Duration::from_secs(60)), ..keyed(2, Hold::Live) }).await;
    assert_eq!(is_taken_by(store, 2, Hold::Live, delayed).await, Some(State::Delayed));
}

/// Of one key in one batch the first is inserted, and the others are told of it.
pub async fn a_key_twice_in_a_batch_is_inserted_once(store: &dyn Fixture) {
    let batch = [keyed(1, Hold::Live), job(), keyed(1, Hold::Live), keyed(2, Hold::Live), keyed(1, Hold::Live)];
    let answers = store.enqueue(&batch).await;
    assert_eq!(answers.iter().map(Enqueued::is_inserted).collect::<Vec<_>>(), [true, true, false, true, false]);
    assert_eq!((answers[2].id(), answers[4].id()), (batch[0].id, batch[0].id));
}

/// A key twice in one transaction is inserted once, too.
pub async fn a_key_twice_in_a_transaction_is_inserted_once(store: &dyn Fixture) {
    let (first, second) = (keyed(1, Hold::Live), keyed(1, Hold::Live));
    let mut tx = store.begin().await;
    store.enqueue_in(&mut *tx, std::slice::from_ref(&first)).await.expect("accepted");
    let answers = store.enqueue_in(&mut *tx, std::slice::from_ref(&second)).await.expect("accepted");
    assert_eq!((answers[0].id(), answers[0].is_inserted()), (first.id, false));
    tx.commit().await;
    assert!(store.find(first.id).await.is_some() && store.find(second.id).await.is_none());
}

/// A job that says `reject` is refused with the holder's id.
pub async fn a_rejecting_job_is_refused(store: &dyn Fixture) {
    let holder = store.insert(keyed(1, Hold::Live)).await;
    let rejecting = |number| {
        let new = keyed(number, Hold::Live);
        let unique = new.unique.map(|unique| NewUnique { on_conflict: OnConflict::Reject, ..unique });
        NewJob { unique, ..new }
    };
    let error = store.driver().enqueue(&[rejecting(1)], None).await.expect_err("it is refused");
    assert!(error.is_duplicate() && error.detail().contains(&holder.to_string()), "{error}");
    let twins = [rejecting(2), rejecting(2)];
    let error = store.driver().enqueue(&twins, None).await.expect_err("a batch that repeats it is refused");
    assert_eq!((error.code(), error.index()), (code::JOB_DUPLICATE, Some(1)));
    assert!(store.find(twins[0].id).await.is_none());
    store.insert(rejecting(2)).await;
}

/// `live` holds through runs and waits between them, and frees the key with the end.
pub async fn a_live_key_is_held_until_the_job_ends(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for end in State::ALL.into_iter().filter(|state| state.is_final()) {
        let id = store.insert(keyed(1, Hold::Live)).await;
        let claimed = worker.claim_one().await;
        assert_eq!(is_taken_by(store, 1, Hold::Live, id).await, Some(State::Running));
        worker.retry(&claimed, Duration::from_secs(5)).await;
        assert_eq!(is_taken_by(store, 1, Hold::Live, id).await, Some(State::Delayed));
        store.advance_secs(6).await;
        worker.renew().await.expect("renewed");
        store.promote().await;
        let claimed = worker.claim_one().await;
        worker.finish(&claimed, end).await;
        store.insert(keyed(1, Hold::Live)).await;
        let next = worker.claim_one().await;
        worker.finish(&next, State::Completed).await;
    }
}

/// A waiting job that is cancelled frees its key.
pub async fn a_cancel_frees_the_key(store: &dyn Fixture) {
    for (number, hold) in [(1, Hold::Live), (2, Hold::Queued)] {
        let id = store.insert(keyed(number, hold)).await;
        store.driver().cancel(id).await.expect("a cancel answers");
        store.insert(keyed(number, hold)).await;
    }
}

/// A rescued job still holds its key, and frees it with its end: no orphan keeps a key for ever.
pub async fn a_rescued_job_holds_its_key_until_it_ends(store: &dyn Fixture) {
    let id = store.insert(keyed(1, Hold::Live)).await;
    HandWorker::start(store.driver()).await.claim_one().await;
    store.advance_secs(31).await;
    store.driver().rescue().await.expect("a rescue answers");
    assert_eq!(is_taken_by(store, 1, Hold::Live, id).await, Some(State::Ready));
    let second = HandWorker::start(store.driver()).await;
    let claimed = second.claim_one().await;
    second.finish(&claimed, State::Completed).await;
    store.insert(keyed(1, Hold::Live)).await;
}

/// `queued` frees the key at the first claim and never takes it again, so that a retry meets its successor unharmed.
pub async fn a_queued_key_is_free_from_the_first_claim(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let first = store.insert(keyed(1, Hold::Queued)).await;
    is_taken_by(store, 1, Hold::Queued, first).await;
    let claimed = worker.claim_one().await;
    let second = store.insert(keyed(1, Hold::Queued)).await;
    worker.retry(&claimed, Duration::ZERO).await;
    is_taken_by(store, 1, Hold::Queued, second).await;
    let other = store.insert(keyed(2, Hold::Queued)).await;
    let mut claimed: Vec<JobId> = worker.claim(10).await.iter().map(|claimed| claimed.fence.job).collect();
    claimed.sort_unstable();
    assert_eq!(claimed, [first, second, other]);
}

/// `forever` holds the key even after its job has left the store.
pub async fn a_forever_key_outlives_its_job(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(keyed(1, Hold::Forever)).await;
    let claimed = worker.claim_one().await;
    let gone = Finish { keep: Keep::None, ..finish(State::Completed) };
    assert!(matches!(worker.write(&claimed, Change::Finish(gone)).await, Written::Landed));
    assert_eq!(is_taken_by(store, 1, Hold::Forever, id).await, None);
    store.advance_secs(400 * 86_400).await;
    store.purge_all().await;
    assert_eq!(is_taken_by(store, 1, Hold::Forever, id).await, None);
}

/// A period holds the key from the enqueue, whatever becomes of the job, and no longer; a purge is not needed for it.
pub async fn a_period_holds_the_key_so_long(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let hold = Hold::For(Duration::from_secs(60));
    let id = store.insert(keyed(1, hold)).await;
    let claimed = worker.claim_one().await;
    worker.finish(&claimed, State::Completed).await;
    store.advance_secs(50).await;
    store.purge_all().await;
    assert_eq!(is_taken_by(store, 1, hold, id).await, Some(State::Completed));
    store.advance_secs(11).await;
    let second = store.insert(keyed(1, hold)).await;
    store.advance_secs(50).await;
    is_taken_by(store, 1, hold, second).await;
    store.advance_secs(11).await;
    store.purge_all().await;
    store.insert(keyed(1, hold)).await;
}

/// A successor that took a key over is not robbed of it by the end of the job that held it before.
pub async fn an_end_frees_only_its_own_key(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(keyed(1, Hold::Queued)).await;
    let claimed = worker.claim_one().await;
    let second = store.insert(keyed(1, Hold::Queued)).await;
    worker.finish(&claimed, State::Completed).await;
    is_taken_by(store, 1, Hold::Queued, second).await;
}

/// A requeued job takes its key again; while another holds it, the requeue is refused.
pub async fn a_requeue_takes_the_key_again_or_is_refused(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for hold in [Hold::Live, Hold::Queued] {
        let id = store.insert(keyed(1, hold)).await;
        let claimed = worker.claim_one().await;
        worker.finish(&claimed, State::Dead).await;
        let successor = store.insert(keyed(1, hold)).await;
        let refused = store.driver().requeue(id).await.expect_err("the key is taken");
        assert!(refused.is_duplicate() && refused.detail().contains(&successor.to_string()), "{refused}");
        assert_eq!(store.state(id).await, State::Dead);
        let claimed = worker.claim_one().await;
        worker.finish(&claimed, State::Completed).await;
        store.driver().requeue(id).await.expect("the key is free");
        assert_eq!(is_taken_by(store, 1, hold, id).await, Some(State::Ready));
        let claimed = worker.claim_one().await;
        worker.finish(&claimed, State::Completed).await;
    }
}

/// Two jobs of one key, one of them between attempts, are claimed and rescued without a clash.
pub async fn jobs_that_share_a_key_never_block_a_claim(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(keyed(1, Hold::Queued)).await;
    let first = worker.claim_one().await;
    store.insert(keyed(1, Hold::Queued)).await;
    let handed_back = again(first.fence.attempt, Duration::ZERO);
    assert!(matches!(worker.write(&first, Change::Reschedule(handed_back)).await, Written::Landed));
    store.insert(keyed(2, Hold::Queued)).await;
    assert_eq!(worker.claim(10).await.len(), 3);
    store.advance_secs(31).await;
    let rescued = store.driver().rescue().await.expect("a rescue answers");
    assert_eq!(rescued.jobs, 3);
}
