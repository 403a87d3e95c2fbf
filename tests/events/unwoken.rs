//! What nothing else woke is woken soon after a look found it, and asked for less and less while nothing moves.

use crate::support::eventually;
use futures_util::future::BoxFuture;
use jobs::{
    Error, Jobs, Registry,
    driver::{Driver, Memory, Outlook},
    testing::{Acts, Overlay},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::Instant;

/// A store that says that runs are to be woken, and notes when it was asked to.
#[derive(Clone, Default)]
struct Unwoken {
    memory: Memory,
    unwoken: Arc<AtomicBool>,
    /// So many wakes make a run ready, each one.
    to_wake: Arc<AtomicU32>,
    looks: Arc<AtomicU32>,
    wakes: Arc<Mutex<Vec<Instant>>>,
}

impl Unwoken {
    fn jobs(&self) -> Jobs {
        let registry = Registry::builder().job::<Acts>().build().expect("it fits");
        Jobs::new(Arc::new(self.clone()), registry)
    }

    fn wakes(&self) -> Vec<Instant> {
        self.wakes.lock().unwrap().clone()
    }
}

impl Overlay for Unwoken {
    fn under(&self) -> &dyn Driver {
        &self.memory
    }

    fn look<'a>(&'a self, queues: &'a [String]) -> BoxFuture<'a, Result<Outlook, Error>> {
        Box::pin(async move {
            self.looks.fetch_add(1, SeqCst);
            let outlook = self.memory.look(queues).await?;
            Ok(Outlook { unwoken: self.unwoken.load(SeqCst), ..outlook })
        })
    }

    fn wake(&self, _: u32) -> BoxFuture<'_, Result<u32, Error>> {
        Box::pin(async move {
            self.wakes.lock().unwrap().push(Instant::now());
            let wakes = self.to_wake.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
            Ok(u32::from(wakes))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn while_nothing_moves_the_waits_between_wakes_grow_to_the_poll() {
    let store = Unwoken::default();
    let jobs = store.jobs();
    store.unwoken.store(true, SeqCst);
    let began = Instant::now();
    let worker = jobs.worker().start().await.unwrap();
    tokio::time::sleep(Duration::from_secs(120)).await;
    let wakes = store.wakes();
    assert!(wakes[0] - began < Duration::from_millis(50), "{:?}", wakes[0] - began);
    let waits: Vec<_> = wakes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits[0] <= Duration::from_millis(11), "{waits:?}");
    assert!(waits.iter().take(5).sum::<Duration>() < Duration::from_millis(400), "{waits:?}");
    let longest = waits.iter().max().unwrap();
    assert!((Duration::from_secs(2)..=Duration::from_millis(5_100)).contains(longest), "{waits:?}");
    assert!(wakes.len() < 80, "{} wakes in two minutes", wakes.len());
    worker.drain().await;
}

#[tokio::test(start_paused = true)]
async fn while_runs_are_woken_the_next_wake_comes_at_once() {
    let store = Unwoken::default();
    let jobs = store.jobs();
    store.to_wake.store(50, SeqCst);
    store.unwoken.store(true, SeqCst);
    let worker = jobs.worker().start().await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(store.to_wake.load(SeqCst), 0);
    worker.drain().await;
}

#[tokio::test(start_paused = true)]
async fn once_a_look_finds_nothing_no_wake_follows() {
    let store = Unwoken::default();
    let jobs = store.jobs();
    store.unwoken.store(true, SeqCst);
    let worker = jobs.worker().start().await.unwrap();
    eventually("it wakes", || async { (!store.wakes().is_empty()).then_some(()) }).await;
    store.unwoken.store(false, SeqCst);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let (wakes, looks) = (store.wakes().len(), store.looks.load(SeqCst));
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(store.wakes().len(), wakes);
    // And the worker is as idle as before.
    let per_minute = f64::from(store.looks.load(SeqCst) - looks) / 10.0;
    assert!(per_minute <= 14.0, "{per_minute} looks a minute");
    worker.drain().await;
}
