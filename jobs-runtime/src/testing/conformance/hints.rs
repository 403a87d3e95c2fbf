//! Hints: workers are told what a poll would find later, and nothing of what was rolled back.

use super::{Fixture, HandWorker, hand::of, job};
use crate::{
    driver::{Hint, Hints},
    testing::eventually,
};
use futures_util::FutureExt;
use std::time::Duration;

/// Subscribes, and waits until hints are proven to arrive.
pub(super) async fn listen(store: &dyn Fixture, worker: &HandWorker, queues: &[&str]) -> Box<dyn Hints> {
    let queues = queues.iter().map(|queue| (*queue).to_owned()).collect();
    let mut hints = store.driver().hints(worker.id, queues).await.expect("a subscription is accepted");
    let live = async {
        while !hints.is_live() {
            hints.next().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), live).await.expect("the subscription goes live");
    hints
}

/// Waits for one hint, and gives those that came before it.
pub(super) async fn until(hints: &mut dyn Hints, wanted: Hint) -> Vec<Hint> {
    let mut others = Vec::new();
    let found = async {
        loop {
            let hint = hints.next().await;
            if hint == wanted {
                break;
            }
            others.push(hint);
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(20), found).await.is_ok(), "no {wanted:?}, only {others:?}");
    others
}

fn queue(name: &str) -> Hint {
    Hint::Queue(name.to_owned())
}

/// An enqueue tells the listeners of its queue, also those of other processes, and nobody of other queues.
pub async fn an_enqueue_tells_its_queue(store: &dyn Fixture) {
    let worker = HandWorker::start(store.second_handle().await).await;
    let mut hints = listen(store, &worker, &["mail", "marker"]).await;
    let (others, ()) = tokio::join!(until(&mut *hints, queue("marker")), async {
        store.enqueue(&[of("elsewhere", "mail.send")]).await;
        store.enqueue(&[of("marker", "mail.send")]).await;
    });
    assert!(!others.contains(&queue("elsewhere")));
    tokio::join!(until(&mut *hints, queue("mail")), store.insert(job()));
}

/// What a transaction enqueued is told when it commits; what was rolled back is never told.
pub async fn a_rolled_back_enqueue_wakes_nobody(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut hints = listen(store, &worker, &["mail", "marker"]).await;
    let (others, ()) = tokio::join!(until(&mut *hints, queue("marker")), async {
        let mut tx = store.begin().await;
        store.enqueue_in(&mut *tx, &[job(), job()]).await.expect("accepted");
        tx.rollback().await;
        let mut tx = store.begin().await;
        store.enqueue_in(&mut *tx, &[of("marker", "mail.send")]).await.expect("accepted");
        tx.commit().await;
    });
    assert!(!others.contains(&queue("mail")), "nobody hears of what was rolled back: {others:?}");
}

/// The worker of a running job is told that it was asked to cancel, and no other worker.
pub async fn a_cancel_tells_the_jobs_worker(store: &dyn Fixture) {
    let (worker, other) = (HandWorker::start(store.driver()).await, HandWorker::start(store.driver()).await);
    store.enqueue(&[job(), job()]).await;
    let (mine, theirs) = (worker.claim(1).await.remove(0), other.claim(1).await.remove(0));
    let mut hints = listen(store, &worker, &["mail"]).await;
    let (others, ()) = tokio::join!(until(&mut *hints, Hint::Cancel(mine.fence.job)), async {
        store.driver().cancel(theirs.fence.job).await.expect("a cancel answers");
        store.driver().cancel(mine.fence.job).await.expect("a cancel answers");
    });
    assert!(!others.contains(&Hint::Cancel(theirs.fence.job)));
}

/// What a worker hands back, a rescue frees, or an operator requeues is told like an enqueue.
pub async fn what_becomes_ready_again_is_told(store: &dyn Fixture) {
    let listener = HandWorker::start(store.driver()).await;
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let claimed = worker.claim_one().await;
    let mut hints = listen(store, &listener, &["mail"]).await;
    tokio::join!(until(&mut *hints, queue("mail")), worker.release(&claimed));
    let claimed = worker.claim_one().await;
    worker.finish(&claimed, crate::State::Dead).await;
    let requeued = store.driver();
    let (_, answer) = tokio::join!(until(&mut *hints, queue("mail")), requeued.requeue(claimed.fence.job));
    answer.expect("a dead job is requeued");
}

/// A burst of enqueues never blocks, and never loses the worker: it is told of the queue, or to look at everything.
pub async fn a_burst_is_coalesced(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut hints = listen(store, &worker, &["mail"]).await;
    for _ in 0..5 {
        store.enqueue(&(0..1_000).map(|_| job()).collect::<Vec<_>>()).await;
    }
    let mut told = 0;
    eventually(|| {
        while hints.next().now_or_never().is_some() {
            told += 1;
        }
        let heard = told > 0;
        async move { heard }
    })
    .await;
    assert!((1..=10).contains(&told), "told {told} times of 5,000 jobs");
}
