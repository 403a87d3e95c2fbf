//! Leases: begun, renewed, ended, lapsed; and what a rescue does with what a lapsed worker held.

use super::{Fixture, HandWorker, KIND, hand::of, job};
use crate::{
    driver::{Claimed, NewJob, Rescued},
    error::code,
    state::State,
};
use std::{collections::HashSet, time::Duration};

async fn rescue(store: &dyn Fixture) -> Rescued {
    store.driver().rescue().await.expect("a rescue answers")
}

async fn is_lost(worker: &HandWorker) -> bool {
    worker.renew().await.is_err_and(|error| error.code() == code::WORKER_LOST)
}

/// A renewal gives the whole period again.
pub async fn a_renewal_extends_the_lease(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    worker.claim_one().await;
    for _ in 0..4 {
        store.advance_secs(20).await;
        worker.renew().await.expect("a current lease is renewed");
        assert_eq!(rescue(store).await, Rescued::default());
    }
    assert_eq!(store.state(id).await, State::Running);
}

/// A lease that has lapsed is never renewed, even before anybody has rescued its jobs.
pub async fn a_lapsed_lease_is_not_renewed(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.advance_secs(31).await;
    assert!(is_lost(&worker).await);
    rescue(store).await;
    assert!(is_lost(&worker).await);
}

/// A session that was opened while the lease was current finds out, too.
pub async fn an_open_session_finds_its_lease_lapsed(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut session = store.driver().lease_session(worker.id).await.expect("a session opens");
    session.renew().await.expect("a current lease is renewed");
    store.advance_secs(31).await;
    assert_eq!(session.renew().await.expect_err("it has lapsed").code(), code::WORKER_LOST);
}

/// A worker that ends its lease hands its jobs back uncounted, ready at once.
pub async fn a_stopped_worker_hands_its_jobs_back_uncounted(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let jobs: Vec<NewJob> = (0..20).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    assert_eq!(worker.claim(20).await.len(), 20);
    worker.stop().await;
    assert!(is_lost(&worker).await);
    let second = HandWorker::start(store.driver()).await;
    let claimed = second.claim(100).await;
    assert_eq!(claimed.len(), 20);
    assert!(claimed.iter().all(|claimed| claimed.fence.attempt == 1 && claimed.crashes == 0));
    worker.stop().await;
    assert_eq!(store.state(jobs[0].id).await, State::Running, "a second stop takes nothing from another");
}

/// A rescue hands everything of a lapsed worker back under the same attempt, each with one more crash.
pub async fn a_rescue_keeps_the_attempt_and_counts_a_crash(store: &dyn Fixture) {
    let jobs: Vec<NewJob> = (0..20).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    let first = HandWorker::start(store.driver()).await;
    let held = first.claim(20).await;
    first.retry(&held[0], Duration::ZERO).await;
    first.claim_one().await;
    store.advance_secs(29).await;
    assert_eq!(rescue(store).await, Rescued::default(), "not before the lease has lapsed");
    store.advance_secs(2).await;
    assert_eq!(rescue(store).await, Rescued { workers: 1, jobs: 20, cancelled: 0 });
    assert_eq!(rescue(store).await, Rescued::default(), "only once");
    let second = HandWorker::start(store.driver()).await;
    let claimed = second.claim(100).await;
    assert_eq!(claimed.len(), 20);
    for claimed in &claimed {
        let attempt = if claimed.fence.job == held[0].fence.job { 2 } else { 1 };
        assert_eq!((claimed.fence.attempt, claimed.crashes), (attempt, 1));
    }
    let old: HashSet<_> = held.iter().map(|claimed| claimed.fence.token).collect();
    assert!(claimed.iter().all(|claimed| !old.contains(&claimed.fence.token)), "each claim has a new token");
}

/// Crashes add up over the lives of a job, and never touch its attempts.
pub async fn crashes_add_up(store: &dyn Fixture) {
    let id = store.insert(job()).await;
    for crashes in 0..5 {
        let claimed = HandWorker::start(store.driver()).await.claim_one().await;
        assert_eq!((claimed.fence.attempt, claimed.crashes), (1, crashes));
        store.advance_secs(31).await;
        rescue(store).await;
    }
    let record = store.record(id).await;
    assert_eq!((record.state, record.attempt, record.crashes), (State::Ready, 1, 5));
}

/// A rescue takes from lapsed workers only.
pub async fn a_rescue_leaves_live_workers_alone(store: &dyn Fixture) {
    store.enqueue(&[job(), job()]).await;
    let (dead, alive) = (HandWorker::start(store.driver()).await, HandWorker::start(store.driver()).await);
    let (lost, kept) = (dead.claim(1).await.remove(0), alive.claim(1).await.remove(0));
    store.advance_secs(20).await;
    alive.renew().await.expect("renewed");
    store.advance_secs(11).await;
    assert_eq!(rescue(store).await, Rescued { workers: 1, jobs: 1, cancelled: 0 });
    assert_eq!(store.state(lost.fence.job).await, State::Ready);
    assert_eq!(store.state(kept.fence.job).await, State::Running);
    alive.finish(&kept, State::Completed).await;
}

/// Many rescuers at once count each crash once.
pub async fn concurrent_rescues_count_each_crash_once(store: &dyn Fixture) {
    let jobs: Vec<NewJob> = (0..50).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    HandWorker::start(store.driver()).await.claim(50).await;
    store.advance_secs(31).await;
    let handles = [store.driver(), store.second_handle().await];
    let rescuers = (0..8).map(|number| {
        let driver = handles[number % 2].clone();
        tokio::spawn(async move { driver.rescue().await.expect("a rescue answers") })
    });
    let rescued = futures_util::future::join_all(rescuers).await;
    assert_eq!(rescued.iter().map(|rescued| rescued.as_ref().expect("no rescuer panics").jobs).sum::<u32>(), 50);
    for job in &jobs {
        assert_eq!(store.record(job.id).await.crashes, 1);
    }
}

/// A rescue decides nothing about kinds: a job that no live worker knows goes back, and waits for one that does.
pub async fn a_rescue_decides_no_failure_of_kinds_unknown_to_it(store: &dyn Fixture) {
    let new = of("mail", "only.b");
    store.insert(new.clone()).await;
    let b = HandWorker::knowing(store.driver(), "b", &[("only.b", 1)]).await;
    b.claim_one().await;
    store.advance_secs(31).await;
    let a = HandWorker::knowing(store.driver(), "a", &[(KIND, 1)]).await;
    assert_eq!(a.driver.rescue().await.expect("a rescue answers").jobs, 1);
    assert_eq!(a.claim(10).await.len(), 0);
    assert_eq!(store.state(new.id).await, State::Ready);
    let b = HandWorker::knowing(store.driver(), "b", &[("only.b", 1)]).await;
    assert_eq!(b.claim_one().await.fence.attempt, 1);
}

/// A process that starts again under its old name is another incarnation: the old one's jobs are rescued on time.
pub async fn a_reused_name_is_another_incarnation(store: &dyn Fixture) {
    store.insert(job()).await;
    let kinds = [(KIND, 1)];
    let old = HandWorker::knowing(store.driver(), "pod-0", &kinds).await;
    let lost = old.claim_one().await;
    store.advance_secs(20).await;
    let new = HandWorker::knowing(store.driver(), "pod-0", &kinds).await;
    assert_ne!(old.id, new.id);
    store.advance_secs(11).await;
    new.renew().await.expect("renewed");
    assert_eq!(rescue(store).await, Rescued { workers: 1, jobs: 1, cancelled: 0 });
    let again = new.claim_one().await;
    assert_eq!((again.fence.job, again.crashes), (lost.fence.job, 1));
}

/// The claims that a worker holds can be listed, so that one whose answer was lost is found.
pub async fn a_worker_can_list_what_it_holds(store: &dyn Fixture) {
    store.enqueue(&[job(), job(), job()]).await;
    let (worker, other) = (HandWorker::start(store.driver()).await, HandWorker::start(store.driver()).await);
    let claimed = worker.claim(2).await;
    other.claim(1).await;
    worker.finish(&claimed[0], State::Completed).await;
    let held = store.driver().held(worker.id).await.expect("held answers");
    assert_eq!(held, claimed[1..].iter().map(|claimed: &Claimed| claimed.fence).collect::<Vec<_>>());
}

/// A claim that asks for no queue answers nothing while the lease is held, and fails once it has lapsed.
pub async fn a_claim_of_nothing_tells_whether_the_lease_is_held(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.insert(job()).await;
    assert_eq!(worker.try_claim(&[]).await.expect("the lease is held").len(), 0);
    store.advance_secs(31).await;
    let lost = worker.try_claim(&[]).await.expect_err("the lease has lapsed");
    assert_eq!(lost.code(), code::WORKER_LOST);
}

/// However much a worker holds, a rescue and an orderly end hand back all of it.
pub async fn thousands_of_held_jobs_are_handed_back_by_a_rescue_and_by_a_stop(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.enqueue(&(0..2_000).map(|_| job()).collect::<Vec<_>>()).await;
    assert_eq!(worker.claim(2_000).await.len(), 2_000);
    store.advance_secs(31).await;
    assert_eq!(rescue(store).await, Rescued { workers: 1, jobs: 2_000, cancelled: 0 });
    let next = HandWorker::start(store.driver()).await;
    assert!(next.claim(2_000).await.iter().all(|claimed| claimed.crashes == 1));
    next.stop().await;
    assert!(is_lost(&next).await);
    let last = HandWorker::start(store.driver()).await;
    let claimed = last.claim(3_000).await;
    assert_eq!((claimed.len(), claimed.iter().filter(|claimed| claimed.crashes == 1).count()), (2_000, 2_000));
}
