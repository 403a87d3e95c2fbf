//! Events that wake parked runs: exactly those that wait for them, at once, and each once.

use super::{
    Fixture, HandWorker, job,
    recorded::{EVENT, event, for_event, for_untaken, park, until},
};
use crate::{
    driver::{Claimed, FindEvent, NewEvent, NewJob, Park, Wait, WaitEvent},
    id::JobId,
    state::State,
};
use std::time::Duration;

/// Begins a run of a tenant and parks it until the suite's event of a key.
async fn parked(store: &dyn Fixture, worker: &HandWorker, key: &str, tenant: Option<&str>) -> JobId {
    let claimed = worker.begin(store, NewJob { tenant: tenant.map(str::to_owned), ..job() }).await;
    worker.park(&claimed, until(for_event(key))).await;
    assert_eq!(store.state(claimed.fence.job).await, State::Suspended);
    claimed.fence.job
}

/// Those that became ready, of the given runs.
async fn ready(store: &dyn Fixture, jobs: &[JobId]) -> Vec<bool> {
    let mut ready = Vec::new();
    for job in jobs {
        ready.push(store.state(*job).await == State::Ready);
    }
    ready
}

/// An event wakes the runs that wait for its name and key, whatever else they wait for, and no others.
pub async fn an_event_wakes_the_runs_that_wait_for_it(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut jobs = Vec::new();
    for key in ["7", "7", "8", ""] {
        jobs.push(parked(store, &worker, key, None).await);
    }
    let both = worker.begin(store, job()).await;
    let due_at = Some(store.in_secs(500).await);
    worker.park(&both, Park { due_at, waits: vec![for_event("9"), for_event("7")], ..park() }).await;
    jobs.push(both.fence.job);
    let other = worker.begin(store, job()).await;
    let lost = WaitEvent { name: "order.lost".to_owned(), key: "7".to_owned(), taken: Vec::new() };
    worker.park(&other, until(Wait::Event(lost))).await;
    jobs.push(other.fence.job);
    store.publish(&[event("7")]).await;
    assert_eq!(ready(store, &jobs).await, [true, true, false, false, true, false]);
    let mut woken: Vec<JobId> = worker.claim(10).await.iter().map(|claimed| claimed.fence.job).collect();
    woken.sort();
    assert_eq!(woken, [jobs[0], jobs[1], jobs[4]]);
}

/// An event of a tenant wakes that tenant's runs alone; one without, the runs of all.
pub async fn an_event_of_a_tenant_wakes_its_runs_alone(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let mut jobs = Vec::new();
    for tenant in [Some("acme"), Some("umbrella"), None] {
        jobs.push(parked(store, &worker, "7", tenant).await);
    }
    store.publish(&[NewEvent { tenant: Some("acme".to_owned()), ..event("7") }]).await;
    assert_eq!(ready(store, &jobs).await, [true, false, false]);
    store.publish(&[event("7")]).await;
    assert_eq!(ready(store, &jobs).await, [true, true, true]);
}

/// A run that was woken is not woken again: further events find it ready, running or done, and change nothing.
pub async fn a_run_is_woken_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = parked(store, &worker, "7", None).await;
    store.publish(&[event("7"), event("7")]).await;
    store.publish(&[event("7")]).await;
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.fence.job, claimed.fence.attempt), (id, 1));
    store.publish(&[event("7")]).await;
    assert_eq!((store.state(id).await, worker.claim(1).await.len()), (State::Running, 0));
    worker.finish(&claimed, State::Completed).await;
    store.publish(&[event("7")]).await;
    assert_eq!((store.state(id).await, worker.claim(1).await.len()), (State::Completed, 0));
    assert_eq!(store.driver().wake(100).await.expect("a wake answers"), 0);
}

/// An event that was there before the park is found by it: the run is ready at once.
pub async fn an_event_before_the_park_makes_it_ready_at_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin(store, job()).await;
    store.publish(&[event("7")]).await;
    worker.park(&claimed, Park { waits: vec![for_event("8"), for_event("7")], ..park() }).await;
    assert_eq!(store.state(claimed.fence.job).await, State::Ready);
    worker.finish(&worker.claim_one().await, State::Completed).await;
    let tenant = Some("acme".to_owned());
    store.publish(&[NewEvent { tenant: tenant.clone(), ..event("9") }]).await;
    let claimed = worker.begin(store, NewJob { tenant, ..job() }).await;
    worker.park(&claimed, until(for_event("9"))).await;
    assert_eq!(store.state(claimed.fence.job).await, State::Ready, "it sees what is its tenant's");
}

/// A park finds no event that is of another run's tenant, that has expired, or that the run has taken.
pub async fn a_park_finds_only_what_the_run_may_take(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let ttl = Duration::from_secs(5);
    let events = [
        NewEvent { tenant: Some("acme".to_owned()), ..event("tenant") },
        NewEvent { ttl, ..event("expired") },
        event("taken"),
    ];
    store.publish(&events).await;
    store.advance_secs(6).await;
    let waits = [for_event("tenant"), for_event("expired"), for_untaken("taken", &[events[2].id])];
    for wait in waits {
        let claimed = worker.begin(store, job()).await;
        worker.park(&claimed, until(wait.clone())).await;
        assert_eq!(store.state(claimed.fence.job).await, State::Suspended, "{wait:?}");
    }
    store.driver().wake(100).await.expect("a wake answers");
    assert_eq!(worker.claim(10).await.len(), 0);
}

/// An event that the run has taken, published once more, does not wake it; the next one does.
pub async fn a_taken_event_wakes_nobody(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let taken = event("7");
    store.publish(std::slice::from_ref(&taken)).await;
    let claimed = worker.begin(store, job()).await;
    worker.park(&claimed, until(for_untaken("7", &[taken.id]))).await;
    store.publish(&[taken]).await;
    assert_eq!(store.state(claimed.fence.job).await, State::Suspended);
    store.publish(&[event("7")]).await;
    assert_eq!(store.state(claimed.fence.job).await, State::Ready);
}

/// A transaction's event wakes at its commit, not before; rolled back or dropped, it wakes nobody.
pub async fn an_event_wakes_at_its_commit(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = parked(store, &worker, "7", None).await;
    for ending in ["rolled back", "dropped", "committed"] {
        let mut tx = store.begin().await;
        store.driver().publish(&[event("7")], Some(tx.tx())).await.expect("it is published");
        assert_eq!(store.state(id).await, State::Suspended, "not {ending} yet");
        match ending {
            "rolled back" => tx.rollback().await,
            "dropped" => drop(tx),
            _ => tx.commit().await,
        }
        store.driver().wake(100).await.expect("a wake answers");
        let expected = if ending == "committed" { State::Ready } else { State::Suspended };
        assert_eq!(store.state(id).await, expected, "{ending}");
    }
    assert_eq!(worker.claim_one().await.fence.job, id);
}

/// One event wakes all runs that wait for it.
pub async fn an_event_wakes_a_thousand_runs(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.enqueue(&(0..1_000).map(|_| job()).collect::<Vec<_>>()).await;
    for claimed in worker.claim(1_000).await {
        worker.park(&claimed, until(for_event("7"))).await;
    }
    store.publish(&[event("7")]).await;
    assert_eq!(worker.claim(2_000).await.len(), 1_000);
}

/// Whatever the order of a park and the event that it waits for, the run is ready in the end, and claimed once.
pub async fn a_park_and_its_event_never_miss_each_other(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let other = store.second_handle().await;
    for round in 0..60 {
        let key = round.to_string();
        let claimed = worker.begin(store, job()).await;
        let events = [event(&key)];
        tokio::join!(worker.park(&claimed, until(for_event(&key))), async {
            for _ in 0..round % 4 {
                tokio::task::yield_now().await;
            }
            match round % 3 {
                0 => {
                    let mut tx = store.begin().await;
                    store.driver().publish(&events, Some(tx.tx())).await.expect("it is published");
                    tx.commit().await;
                }
                _ => drop(other.publish(&events, None).await.expect("it is published")),
            }
        });
        store.driver().wake(100).await.expect("a wake answers");
        let woken: Claimed = worker.claim_one().await;
        assert_eq!((woken.fence.job, woken.fence.attempt), (claimed.fence.job, 1), "round {round}");
        let find = FindEvent { name: EVENT.to_owned(), key, tenant: None, taken: Vec::new(), before: None };
        let found = other.find_event(find).await.expect("a find answers");
        assert_eq!(found.map(|event| event.id), Some(events[0].id), "what woke it is found");
        worker.finish(&woken, State::Completed).await;
    }
}

/// Whatever the order of its event, another event and its time, a run becomes ready once.
pub async fn a_time_and_two_events_wake_once(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let other = store.second_handle().await;
    for round in 0..40 {
        let claimed = worker.begin(store, job()).await;
        let waits = vec![for_event("7"), for_event("8")];
        worker.park(&claimed, Park { due_at: Some(store.in_secs(1).await), waits, ..park() }).await;
        store.advance_secs(1).await;
        let first = [NewEvent { ttl: Duration::from_millis(500), ..event("7") }];
        let second = [NewEvent { ttl: Duration::from_millis(500), ..event("8") }];
        let (promoted, first, second) =
            tokio::join!(store.promote(), other.publish(&first, None), other.publish(&second, None));
        assert!(promoted <= 1 && first.is_ok() && second.is_ok());
        let woken = worker.claim_one().await;
        assert_eq!((woken.fence.job, worker.claim(1).await.len()), (claimed.fence.job, 0), "round {round}");
        worker.finish(&woken, State::Completed).await;
        if round % 10 == 9 {
            worker.renew().await.expect("renewed");
        }
        store.advance_secs(1).await;
    }
}
