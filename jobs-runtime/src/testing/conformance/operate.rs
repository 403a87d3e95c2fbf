//! What operators do and look at: requeue, find, list, count, workers.

use super::{Fixture, HandWorker, KIND, QUEUE, hand::of, job};
use crate::{
    driver::{JobRecord, KnownKind, Lease, ListFilter, NewJob, NewWorker, Start},
    error::code,
    id::JobId,
    outline::{OutlineItem, OutlineKind, StoredItem},
    state::State,
};
use chrono::TimeDelta;
use std::time::Duration;

async fn list(store: &dyn Fixture, filter: ListFilter) -> Vec<JobRecord> {
    store.driver().list(filter).await.expect("a list answers")
}

/// A requeued job starts over: attempt 1, no crashes, ready at once, its payload as stored.
pub async fn a_dead_job_is_requeued_from_the_start(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let new = job();
    store.insert(new.clone()).await;
    worker.claim_one().await;
    store.advance_secs(31).await;
    store.driver().rescue().await.expect("a rescue answers");
    let worker = HandWorker::start(store.driver()).await;
    worker.retry(&worker.claim_one().await, Duration::ZERO).await;
    worker.finish(&worker.claim_one().await, State::Dead).await;
    let dead = store.record(new.id).await;
    assert_eq!((dead.state, dead.attempt, dead.crashes), (State::Dead, 2, 1));
    store.driver().requeue(new.id).await.expect("a dead job is requeued");
    let record = store.record(new.id).await;
    assert_eq!((record.state, record.attempt, record.crashes), (State::Ready, 1, 0));
    assert_eq!((record.payload, record.finished_at), (new.payload.clone(), None));
    assert_eq!(record.created_at, dead.created_at);
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.fence.attempt, claimed.crashes, claimed.payload), (1, 0, new.payload));
}

/// Only dead jobs are requeued: a live one, and one that ended otherwise, are refused and stay as they are.
pub async fn a_requeue_of_another_state_is_refused(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut ids = Vec::new();
    for end in [State::Completed, State::Dropped, State::Cancelled, State::Expired] {
        ids.push(store.insert(job()).await);
        worker.finish(&worker.claim_one().await, end).await;
    }
    ids.push(store.insert(job()).await);
    worker.claim_one().await;
    ids.push(store.insert(NewJob { start: Start::After(Duration::from_secs(60)), ..job() }).await);
    ids.push(store.insert(job()).await);
    for id in ids {
        let before = store.snapshot(id).await;
        let refused = store.driver().requeue(id).await.expect_err("it is refused");
        assert_eq!(refused.code(), code::JOB_STATE_REFUSED);
        assert_eq!(store.snapshot(id).await, before);
    }
    let refused = store.driver().requeue(JobId::new()).await.expect_err("it is refused");
    assert_eq!(refused.code(), code::JOB_NOT_FOUND);
}

/// Of many requeues of one job at once, one succeeds.
pub async fn concurrent_requeues_start_it_over_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    worker.finish(&worker.claim_one().await, State::Dead).await;
    let handles = [store.driver(), store.second_handle().await];
    let callers = (0..8).map(|number| {
        let driver = handles[number % 2].clone();
        tokio::spawn(async move { driver.requeue(id).await.is_ok() })
    });
    let answers = futures_util::future::join_all(callers).await;
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(true))).count(), 1);
    assert_eq!(worker.claim(10).await.len(), 1);
}

/// A job is found in every state, and one that was never stored is not.
pub async fn a_job_is_found_in_every_state(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for end in State::ALL.into_iter().filter(|state| state.is_final()) {
        let id = store.insert(job()).await;
        assert_eq!(store.state(id).await, State::Ready);
        let claimed = worker.claim_one().await;
        assert_eq!(store.state(id).await, State::Running);
        worker.finish(&claimed, end).await;
        assert_eq!(store.state(id).await, end);
    }
    assert!(store.find(JobId::new()).await.is_none());
}

/// A list pages from the newest to the oldest, across all states, without gaps or repeats.
pub async fn a_list_pages_from_new_to_old(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let jobs: Vec<NewJob> = (0..25).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    let held = worker.claim(10).await;
    for (claimed, end) in held.iter().zip([State::Completed, State::Dead, State::Dropped, State::Cancelled]) {
        worker.finish(claimed, end).await;
    }
    worker.retry(&held[4], Duration::from_secs(60)).await;
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = list(store, ListFilter { before, limit: 7, ..ListFilter::default() }).await;
        assert!(page.len() <= 7);
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        seen.extend(page.iter().map(|record| record.id));
    }
    assert_eq!(seen, jobs.iter().rev().map(|job| job.id).collect::<Vec<_>>());
}

/// A page holds 100 unless asked otherwise, and 200 at most.
pub async fn a_page_has_its_limits(store: &dyn Fixture) {
    let jobs: Vec<NewJob> = (0..250).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    for (limit, expected) in [(0, 100), (1, 1), (150, 150), (200, 200), (u32::MAX, 200)] {
        assert_eq!(list(store, ListFilter { limit, ..ListFilter::default() }).await.len(), expected);
    }
}

/// A list's filters narrow it, each alone and together.
pub async fn a_list_is_filtered(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let tenant = |name: &str| Some(name.to_owned());
    let jobs = [
        NewJob { tenant: tenant("acme"), ..job() },
        NewJob { tenant: tenant("acme"), ..of("other", KIND) },
        NewJob { tenant: tenant("umbrella"), ..of(QUEUE, "other.kind") },
        job(),
    ];
    store.enqueue(&jobs).await;
    worker.finish(&worker.claim(1).await[0], State::Dead).await;
    let by = |filter: ListFilter| {
        let jobs = jobs.each_ref().map(|job| job.id);
        async move {
            let found: Vec<JobId> = list(store, filter).await.iter().map(|record| record.id).collect();
            jobs.map(|job| found.contains(&job))
        }
    };
    let all = ListFilter::default;
    assert_eq!(by(all()).await, [true; 4]);
    assert_eq!(by(ListFilter { tenant: tenant("acme"), ..all() }).await, [true, true, false, false]);
    assert_eq!(by(ListFilter { state: Some(State::Dead), ..all() }).await, [true, false, false, false]);
    assert_eq!(by(ListFilter { queue: tenant("other"), ..all() }).await, [false, true, false, false]);
    assert_eq!(by(ListFilter { kind: tenant("other.kind"), ..all() }).await, [false, false, true, false]);
    let narrow = ListFilter { state: Some(State::Ready), kind: tenant(KIND), tenant: tenant("acme"), ..all() };
    assert_eq!(by(narrow).await, [false, true, false, false]);
}

/// Counts hold the live jobs and the dead, by queue, kind and state, and say which a live worker serves.
pub async fn counts_are_by_queue_kind_and_state(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.enqueue(&[job(), job(), job(), job(), job(), job()]).await;
    let held = worker.claim(5).await;
    worker.finish(&held[0], State::Completed).await;
    worker.finish(&held[1], State::Dead).await;
    worker.retry(&held[2], Duration::from_secs(60)).await;
    store
        .enqueue(&[of("other", "not.known"), of("other", "not.known"), of("other", KIND), of(QUEUE, "not.known")])
        .await;
    let counts = |store: &dyn Fixture| {
        let driver = store.driver();
        async move {
            let counts = driver.counts().await.expect("counts answer");
            let mut counts: Vec<_> = counts
                .into_iter()
                .map(|count| (count.queue, count.kind, count.state, count.jobs, count.has_worker))
                .collect();
            counts.sort();
            counts
        }
    };
    let expected = |known: bool| {
        let mine = |state, jobs| (QUEUE.to_owned(), KIND.to_owned(), state, jobs, known);
        let mut all = vec![
            mine(State::Delayed, 1),
            mine(State::Ready, 1),
            mine(State::Running, 2),
            mine(State::Dead, 1),
            ("other".to_owned(), "not.known".to_owned(), State::Ready, 2, false),
            ("other".to_owned(), KIND.to_owned(), State::Ready, 1, false),
            (QUEUE.to_owned(), "not.known".to_owned(), State::Ready, 1, false),
        ];
        all.sort();
        all
    };
    assert_eq!(counts(store).await, expected(true));
    store.advance_secs(31).await;
    assert_eq!(counts(store).await, expected(false), "a lapsed worker does not count");
}

/// Workers are listed while their lease is current, with what they hold.
pub async fn workers_are_listed_while_their_lease_is_current(store: &dyn Fixture) {
    let (one, two) = (
        HandWorker::knowing(store.driver(), "one", &[(KIND, 1), ("alias.of", 1)]).await,
        HandWorker::knowing(store.driver(), "two", &[(KIND, 1)]).await,
    );
    store.enqueue(&[job(), job()]).await;
    one.claim(2).await;
    let listed = store.driver().workers().await.expect("workers answer");
    let first = listed.iter().find(|worker| worker.id == one.id.0).expect("it is listed");
    assert_eq!((listed.len(), &*first.name, first.running), (2, "one", 2));
    assert_eq!(first.queues, [(QUEUE.to_owned(), 10)]);
    assert!(first.kinds.iter().any(|kind| kind == "alias.of"));
    assert!(first.lease_until - first.started_at > TimeDelta::seconds(29));
    one.stop().await;
    let listed = store.driver().workers().await.expect("workers answer");
    assert_eq!(listed.iter().map(|worker| worker.id).collect::<Vec<_>>(), [two.id.0]);
    store.advance_secs(31).await;
    assert!(store.driver().workers().await.expect("workers answer").is_empty());
}

/// The outline of a kind's body is told as the worker had it that began last, also once that has stopped.
pub async fn the_outline_of_a_kind_is_kept(store: &dyn Fixture) {
    const OLD: &[OutlineItem] = &[OutlineItem::new(OutlineKind::Step, "hold", false, 7)];
    const NEW: &[OutlineItem] =
        &[OutlineItem::new(OutlineKind::Sleep, "", true, 0), OutlineItem::new(OutlineKind::Pivot, "pivot", false, 9)];
    let other = store.second_handle().await;
    for outline in [OLD, NEW] {
        let kind = KnownKind { name: KIND.to_owned(), version: 1, queue: QUEUE.to_owned(), outline };
        let worker =
            NewWorker { name: "one".to_owned(), lease: Lease::default(), queues: Vec::new(), kinds: vec![kind] };
        let worker = store.driver().start_worker(worker).await.expect("a worker starts");
        store.driver().stop_worker(worker).await.expect("a worker stops");
        let told = other.outline(KIND).await.expect("an outline answers");
        assert_eq!(told, Some(outline.iter().map(StoredItem::from).collect()));
    }
    assert_eq!(other.outline("unheard.of").await.expect("an outline answers"), None);
}
