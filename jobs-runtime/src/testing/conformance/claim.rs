//! Claims: which jobs, in which order, by whom.

use super::{Fixture, HandWorker, KIND, QUEUE, hand::of, job};
use crate::{
    driver::{Claimed, NewJob, WorkerId},
    error::code,
    id::JobId,
    state::State,
};
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

fn ids(claimed: &[Claimed]) -> Vec<JobId> {
    claimed.iter().map(|claimed| claimed.fence.job).collect()
}

/// A lower priority number goes first; of one priority, who became ready first; of one batch, in its order.
pub async fn claims_go_by_priority_then_by_readiness(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let with = |priority| NewJob { priority, ..job() };
    let (first, second) = ([with(5), with(0), with(5), with(-1)], [with(0), with(-1), with(i16::MAX)]);
    store.enqueue(&first).await;
    store.advance_secs(1).await;
    store.enqueue(&second).await;
    let expected = [&first[3], &second[1], &first[1], &second[0], &first[0], &first[2], &second[2]].map(|job| job.id);
    assert_eq!(ids(&worker.claim(3).await), expected[..3]);
    assert_eq!(ids(&worker.claim(100).await), expected[3..]);
}

/// A job that waited becomes ready when it is promoted, behind those that were ready before.
pub async fn a_retried_job_goes_behind_those_that_are_ready(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let first = store.insert(job()).await;
    let claimed = worker.claim_one().await;
    store.advance_secs(1).await;
    let second = store.insert(job()).await;
    store.advance_secs(1).await;
    worker.retry(&claimed, Duration::ZERO).await;
    assert_eq!(ids(&worker.claim(10).await), [second, first]);
}

/// A claim takes at most as many of each queue as it asks for, and none of other queues.
pub async fn claims_keep_to_their_queues_and_limits(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let jobs: Vec<NewJob> = ["a", "b", "c"].iter().flat_map(|queue| (0..5).map(|_| of(queue, KIND))).collect();
    store.enqueue(&jobs).await;
    let claimed = worker.try_claim(&[("a", 2), ("c", 9), ("empty", 4), ("b", 0)]).await.expect("a claim answers");
    let mut per_queue: HashMap<&str, u32> = HashMap::new();
    for claimed in &claimed {
        *per_queue.entry(&claimed.queue).or_default() += 1;
    }
    assert_eq!(per_queue, HashMap::from([("a", 2), ("c", 5)]));
}

/// A claimed job is running, and its claim says by the store's clock since when.
pub async fn a_claimed_job_is_running(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let claimed = worker.claim_one().await;
    assert_eq!(store.state(id).await, State::Running);
    assert!(claimed.claimed_at >= claimed.ready_at);
    assert_eq!(worker.claim(10).await.len(), 0, "a running job is not claimed again");
}

/// Kinds that a worker does not know stay untouched, and do not hide what it knows behind them.
pub async fn unknown_kinds_stay_untouched(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let strangers: Vec<NewJob> = (0..500).map(|_| NewJob { priority: -5, ..of(QUEUE, "not.known") }).collect();
    store.enqueue(&strangers).await;
    let known = store.insert(job()).await;
    let before = store.snapshot(strangers[0].id).await;
    assert_eq!(ids(&worker.claim(10).await), [known]);
    assert_eq!(store.snapshot(strangers[0].id).await, before);
    let other = HandWorker::knowing(store.driver(), "other", &[("not.known", 1)]).await;
    let claimed = other.claim(1_000).await;
    assert_eq!(claimed.len(), 500);
    assert!(claimed.iter().all(|claimed| claimed.fence.attempt == 1 && claimed.crashes == 0));
}

/// Payloads of a newer version stay for a newer worker; older ones are claimed.
pub async fn newer_versions_stay_untouched(store: &dyn Fixture) {
    let worker = HandWorker::knowing(store.driver(), "hand", &[(KIND, 2)]).await;
    let jobs = [3, 1, 2].map(|version| NewJob { version, ..job() });
    store.enqueue(&jobs).await;
    assert_eq!(ids(&worker.claim(10).await), [jobs[1].id, jobs[2].id]);
    assert_eq!(store.state(jobs[0].id).await, State::Ready);
    let newer = HandWorker::knowing(store.driver(), "newer", &[(KIND, 3)]).await;
    assert_eq!(newer.claim_one().await.version, 3);
}

/// Of many concurrent claimers no two get one job, and no two claims one token.
pub async fn two_claimers_never_share_a_job(store: &dyn Fixture) {
    let jobs: Vec<NewJob> = (0..1_000).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    let handles = [store.driver(), store.second_handle().await];
    let claimers = (0..8).map(|number| {
        let driver = handles[number % 2].clone();
        tokio::spawn(async move {
            let worker = HandWorker::start(driver).await;
            let mut all = Vec::new();
            loop {
                let claimed = worker.claim(7).await;
                if claimed.is_empty() {
                    return all;
                }
                all.extend(claimed);
            }
        })
    });
    let mut fences = Vec::new();
    for claimed in futures_util::future::join_all(claimers).await {
        fences.extend(claimed.expect("no claimer panics").iter().map(|claimed| claimed.fence));
    }
    // A claim may pass by rows that another is just taking: what is left is claimed now.
    let rest = HandWorker::start(store.driver()).await;
    fences.extend(rest.claim(1_000).await.iter().map(|claimed| claimed.fence));
    assert_eq!(fences.len(), 1_000);
    assert_eq!(fences.iter().map(|fence| fence.job).collect::<HashSet<_>>().len(), 1_000);
    assert_eq!(fences.iter().map(|fence| fence.token).collect::<HashSet<_>>().len(), 1_000);
}

/// A job that is claimed again gets a token that it never had.
pub async fn each_claim_of_a_job_has_its_own_token(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let mut tokens = HashSet::new();
    for _ in 0..20 {
        let claimed = worker.claim_one().await;
        assert!(tokens.insert(claimed.fence.token), "a new token");
        worker.release(&claimed).await;
    }
}

/// A worker whose lease has lapsed claims nothing and is told so.
pub async fn a_lapsed_worker_claims_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    store.advance_secs(31).await;
    let refused = worker.try_claim(&[(QUEUE, 1)]).await.expect_err("the claim is refused");
    assert_eq!(refused.code(), code::WORKER_LOST);
    assert_eq!(store.state(id).await, State::Ready);
}

/// A worker that never began a lease, or ended it, claims nothing.
pub async fn a_worker_without_a_lease_claims_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    let ghost = HandWorker { id: WorkerId(worker.id.0 + 1_000), ..worker.clone() };
    assert_eq!(ghost.try_claim(&[(QUEUE, 1)]).await.expect_err("refused").code(), code::WORKER_LOST);
    worker.stop().await;
    assert_eq!(worker.try_claim(&[(QUEUE, 1)]).await.expect_err("refused").code(), code::WORKER_LOST);
}
