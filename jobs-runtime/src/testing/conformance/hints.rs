//! Hints: workers are told what a poll would find later, and nothing of what was rolled back.

use super::{
    Fixture, HandWorker, KIND,
    hand::of,
    job,
    recorded::{done, event, for_event, park, spawn},
};
use crate::{
    driver::{Hint, Hints, NewJob, Park, Wait, Written},
    state::State,
    testing::eventually,
};
use futures_util::FutureExt;
use std::time::Duration;

/// Subscribes, and waits until hints are proven to arrive.
async fn listen(store: &dyn Fixture, worker: &HandWorker, queues: &[&str]) -> Box<dyn Hints> {
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
async fn until(hints: &mut dyn Hints, wanted: Hint) -> Vec<Hint> {
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
    worker.finish(&claimed, State::Dead).await;
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

/// A roll back tells the worker that holds the job, and no other.
pub async fn a_roll_back_tells_the_jobs_worker(store: &dyn Fixture) {
    let (worker, other) = (HandWorker::start(store.driver()).await, HandWorker::start(store.driver()).await);
    let (mine, theirs) = (worker.begin(store, job()).await, other.begin(store, job()).await);
    let mut hints = listen(store, &worker, &["mail"]).await;
    let (others, ()) = tokio::join!(until(&mut *hints, Hint::RollBack(mine.fence.job)), async {
        store.driver().roll_back(theirs.fence.job).await.expect("a roll back answers");
        store.driver().roll_back(mine.fence.job).await.expect("a roll back answers");
    });
    assert!(!others.contains(&Hint::RollBack(theirs.fence.job)));
}

/// A parked run that an event, the end of its child or a roll back makes ready is told like an enqueue.
pub async fn a_parked_run_that_becomes_ready_is_told(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut hints = listen(store, &worker, &["parents"]).await;
    let driver = store.driver();
    let events = [event("7")];
    for way in ["child", "roll back", "event"] {
        let id = store.insert(of("parents", KIND)).await;
        let parent = worker.try_claim(&[("parents", 1)]).await.expect("a claim answers").remove(0);
        let child = NewJob { parent: Some(id), ..job() };
        let waits = vec![for_event("7"), Wait::Child(child.id)];
        worker.step(&parent, spawn("child", 1, child)).await;
        worker.park(&parent, Park { waits, ..park() }).await;
        let child = worker.claim_one().await;
        while hints.next().now_or_never().is_some() {}
        let told = until(&mut *hints, queue("parents"));
        match way {
            "event" => drop(tokio::join!(told, driver.publish(&events, None)).1.expect("it is published")),
            "child" => drop(tokio::join!(told, worker.finish(&child, State::Completed))),
            _ => drop(tokio::join!(told, driver.roll_back(id)).1.expect("a roll back answers")),
        }
        assert_eq!(store.state(id).await, State::Ready, "{way}");
        driver.cancel(id).await.expect("a cancel answers");
        let left = worker.try_claim(&[("parents", 1)]).await.expect("a claim answers");
        for claimed in left {
            worker.finish(&claimed, State::Cancelled).await;
        }
    }
}

/// What a step enqueues in its transaction is told once the step has landed.
pub async fn a_step_that_lands_tells_its_queue(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    let mut tx = store.driver().begin_step(worker.id, claimed.fence, None).await.expect("a transaction begins");
    store.driver().enqueue(&[of("other", KIND)], Some(tx.tx())).await.expect("accepted");
    let mut hints = listen(store, &worker, &["other"]).await;
    let (_, written) = tokio::join!(until(&mut *hints, queue("other")), tx.commit(done("pay", 1)));
    assert!(matches!(written, Ok(Written::Landed)), "{written:?}");
}
