//! Random concurrent calls: whatever their order, each job has one end, and a cancel that was answered is the last
//! word.

use super::{Fixture, HandWorker, hand::again, hand::finish, job};
use crate::{
    JobId,
    driver::{CancelAnswer, Change, Driver, NewJob, Write, Written},
    state::State,
};
use futures_util::future::join_all;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// What the callers saw, in one order of events.
#[derive(Default)]
struct Seen {
    clock: AtomicU64,
    cancelled: Mutex<HashMap<JobId, u64>>,
    ends: Mutex<HashMap<JobId, State>>,
}

impl Seen {
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    /// A write that ended a job. No job ends twice.
    fn ended(&self, job: JobId, state: State) {
        let before = self.ends.lock().expect("no caller panics").insert(job, state);
        assert_eq!(before, None, "job {job} ended twice, now as {state}");
    }

    /// A cancel was answered: no claim that begins from now on may give the job.
    fn cancelled(&self, job: JobId, answer: CancelAnswer) {
        match answer {
            CancelAnswer::Cancelled => self.ended(job, State::Cancelled),
            CancelAnswer::Asked => {}
            CancelAnswer::AlreadyFinal(_) | CancelAnswer::NotFound => return,
        }
        let now = self.now();
        self.cancelled.lock().expect("no caller panics").entry(job).or_insert(now);
    }

    fn claimed(&self, job: JobId, begun: u64) {
        let cancelled = self.cancelled.lock().expect("no caller panics").get(&job).copied();
        assert!(cancelled.is_none_or(|at| at > begun), "job {job} was claimed after its cancel was answered");
    }
}

/// Workers that complete, fail, release and die at random, cancels and rescues at random.
pub async fn whatever_the_order_each_job_ends_once(store: &dyn Fixture) {
    let jobs: Arc<[NewJob]> = (0..150).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    let seen = Arc::new(Seen::default());
    let handles = [store.driver(), store.second_handle().await];
    let seed = fastrand::u64(..);
    let mut callers = Vec::new();
    for number in 0..4 {
        let (driver, seen) = (handles[number % 2].clone(), Arc::clone(&seen));
        callers.push(tokio::spawn(work(driver, seen, seed.wrapping_add(number as u64))));
    }
    for (number, driver) in handles.into_iter().enumerate() {
        let (seen, jobs) = (Arc::clone(&seen), Arc::clone(&jobs));
        callers.push(tokio::spawn(cancel(driver, seen, jobs, seed.wrapping_sub(number as u64 + 1))));
    }
    for caller in join_all(callers).await {
        assert!(caller.is_ok(), "a caller saw what must not be, seed {seed}: {caller:?}");
    }
    store.advance_secs(31).await;
    store.driver().rescue().await.expect("a rescue answers");
    let worker = HandWorker::start(store.driver()).await;
    for claimed in worker.claim(1_000).await {
        seen.claimed(claimed.fence.job, u64::MAX - 1);
        worker.finish(&claimed, State::Completed).await;
        seen.ended(claimed.fence.job, State::Completed);
    }
    let ends = seen.ends.lock().expect("no caller panics").clone();
    for job in jobs.iter() {
        // A job whose cancel met a dead worker was ended by a rescue, which names no jobs.
        let expected = ends.get(&job.id).copied().unwrap_or(State::Cancelled);
        assert_eq!(store.state(job.id).await, expected, "seed {seed}");
    }
}

async fn work(driver: Arc<dyn Driver>, seen: Arc<Seen>, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut worker = HandWorker::start(Arc::clone(&driver)).await;
    for _ in 0..40 {
        let begun = seen.now();
        for claimed in worker.claim(random.u32(1..6)).await {
            let (job, attempt) = (claimed.fence.job, claimed.fence.attempt);
            seen.claimed(job, begun);
            let change = match random.u32(..10) {
                0..4 => Change::Finish(finish(State::Completed)),
                4..6 => Change::Finish(finish(State::Dropped)),
                6..8 => Change::Reschedule(again(attempt + 1, Duration::ZERO)),
                8 => Change::Reschedule(again(attempt, Duration::ZERO)),
                _ => continue,
            };
            let end = match &change {
                Change::Finish(finish) => finish.state,
                _ => State::Cancelled,
            };
            let is_finish = matches!(change, Change::Finish(_));
            let written = worker.commit(&[Write { fence: claimed.fence, change }]).await;
            match written[0] {
                Written::Landed if is_finish => seen.ended(job, end),
                Written::Cancelled => seen.ended(job, end),
                Written::Landed => {}
                ref other => panic!("a claim that is held is not {other:?}"),
            }
        }
        if random.u32(..10) == 0 {
            worker.stop().await;
            worker = HandWorker::start(Arc::clone(&driver)).await;
        }
    }
}

async fn cancel(driver: Arc<dyn Driver>, seen: Arc<Seen>, jobs: Arc<[NewJob]>, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..30 {
        let job = jobs[random.usize(..jobs.len())].id;
        seen.cancelled(job, driver.cancel(job).await.expect("a cancel answers"));
        driver.rescue().await.expect("a rescue answers");
    }
}
