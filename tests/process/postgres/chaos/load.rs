//! The load of the kill test: enqueues that go on whatever happens, and random numbers that can be had again.

use crate::worker::{Act, Task, work};
use futures_util::future::join_all;
use jobs::{Enqueued, JobId, Jobs};
use std::{
    sync::atomic::{AtomicI32, Ordering},
    time::Duration,
};

/// How many enqueue at once, and how long each takes its time for a job.
const CALLERS: usize = 4;
const PACE: Duration = Duration::from_millis(15);

/// What became of the enqueues.
#[derive(Default)]
pub(super) struct Load {
    pub(super) acknowledged: Vec<JobId>,
    /// Calls that failed. Each was made again, for other jobs of the same kind.
    pub(super) refused: u32,
}

/// Mostly short work, some that fails once, and some that is refused for good by its own words.
fn task(n: i32) -> Task {
    let act = match n % 50 {
        0 => Act::Refuse,
        1..=4 => Act::FailOnce,
        5..=9 => Act::Sleep(300),
        _ => Act::Sleep(n as u64 % 40),
    };
    Task { n, act }
}

/// Enqueues so many, singly and in batches, as the faults go on: `allowed` says how many by now.
pub(super) async fn enqueue(jobs: &Jobs, count: i32, allowed: &AtomicI32) -> Load {
    let next = AtomicI32::new(0);
    let loads = join_all((0..CALLERS).map(|_| call(jobs, count, &next, allowed))).await;
    loads.into_iter().fold(Load::default(), |mut all, load| {
        all.acknowledged.extend(load.acknowledged);
        all.refused += load.refused;
        all
    })
}

async fn call(jobs: &Jobs, count: i32, next: &AtomicI32, allowed: &AtomicI32) -> Load {
    let mut load = Load::default();
    for call in 0.. {
        let size = if call % 10 == 0 { 16 } else { 1 };
        let first = next.fetch_add(size, Ordering::Relaxed);
        let tasks = first..(first + size).min(count);
        if tasks.is_empty() {
            break;
        }
        while first >= allowed.load(Ordering::Relaxed) {
            tokio::time::sleep(PACE).await;
        }
        loop {
            let answers = match size {
                1 => jobs.enqueue::<work>(task(first)).await.map(|answer| vec![answer]),
                _ => jobs.enqueue_many::<work>(tasks.clone().map(task)).await,
            };
            tokio::time::sleep(PACE * size as u32).await;
            match answers {
                Ok(answers) => break load.acknowledged.extend(answers.iter().map(Enqueued::id)),
                Err(_) => load.refused += 1,
            }
        }
    }
    load
}

/// Random numbers from a seed (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}
