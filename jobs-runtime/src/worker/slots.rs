//! Counts what each queue runs and holds what was claimed ahead. Upstream: `poller`. Downstream: `life`.

use super::rate::Rate;
use crate::{driver::Claimed, id::JobId};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::Notify, time::Instant};

/// How many jobs one claim asks for at most, over all queues.
const CLAIM: u32 = 2_000;
/// How many claims a worker holds at most beyond its slots: what has ended and is not written yet stands for most of
/// them, and grows while the store takes claims and no ends.
pub(super) const UNSETTLED: usize = 4_096;
/// How often a woken queue is looked at: the second look finds what became visible only after the first.
const LOOKS: u8 = 2;

/// The slots and buffers of a worker's queues.
pub(super) struct Slots {
    inner: Mutex<Inner>,
    /// Told when a buffered job may be started.
    pub(super) startable: Notify,
    /// Told when a claim may be worth it.
    pub(super) claimable: Notify,
}

struct Inner {
    closed: bool,
    queues: Vec<Queue>,
    by_name: HashMap<String, usize>,
    /// The job on its last life, and since when it is here.
    last_life: Option<(JobId, Instant)>,
    /// How many jobs the next claim may ask for: fewer after a claim that failed, since it may have been too much.
    most: u32,
    /// The queue that the next claim serves first.
    first: usize,
}

struct Queue {
    name: String,
    limit: u32,
    running: u32,
    buffer: VecDeque<Claimed>,
    looks: u8,
    hinted: bool,
    wakes: u64,
    rate: Rate,
}

/// What a claim shall ask for, and what is needed to judge its answer.
pub(super) struct Demand {
    asked: Vec<(usize, u32, u64)>,
    pub(super) queues: Vec<(String, u32)>,
}

/// What became of a claimed job that was offered.
pub(super) enum Admitted {
    /// It stands in the buffer.
    Yes,
    /// It is the one on its last life here: to be [taken in](Slots::take_in) once no other is held.
    Alone(Box<Claimed>),
    /// The worker drains, or does not serve the queue.
    Closed(Box<Claimed>),
    /// Another job on its last life is here, for so long.
    Isolated(Box<Claimed>, Duration),
}

impl Slots {
    /// The slots of the given queues, each with its concurrency. `prefetch` fixes how many jobs a queue holds ahead;
    /// without it the queue's own pace says.
    pub(super) fn new(queues: &[(String, u32)], prefetch: Option<u32>) -> Self {
        let queues: Vec<Queue> = queues
            .iter()
            .map(|(name, limit)| Queue {
                name: name.clone(),
                limit: *limit,
                running: 0,
                buffer: VecDeque::new(),
                looks: LOOKS,
                hinted: false,
                wakes: 0,
                rate: Rate::new(prefetch),
            })
            .collect();
        let by_name = queues.iter().enumerate().map(|(index, queue)| (queue.name.clone(), index)).collect();
        Self {
            inner: Mutex::new(Inner { closed: false, queues, by_name, last_life: None, most: CLAIM, first: 0 }),
            startable: Notify::new(),
            claimable: Notify::new(),
        }
    }

    /// Notes that a look found work in a queue.
    pub(super) fn found(&self, queue: &str) {
        let mut inner = self.lock();
        if let Some(index) = inner.by_name.get(queue).copied() {
            let queue = &mut inner.queues[index];
            queue.looks = queue.looks.max(1);
            queue.wakes += 1;
        }
        drop(inner);
        self.claimable.notify_one();
    }

    /// Notes that a hint said that a queue may have work.
    pub(super) fn wake(&self, queue: &str) {
        let mut inner = self.lock();
        if let Some(index) = inner.by_name.get(queue).copied() {
            inner.queues[index].wake();
        }
        drop(inner);
        self.claimable.notify_one();
    }

    /// Notes that every queue may have work.
    pub(super) fn wake_all(&self) {
        self.lock().queues.iter_mut().for_each(Queue::wake);
        self.claimable.notify_one();
    }

    /// What to claim now, while so many claims are held; `None` if there is nothing to ask for.
    pub(super) fn demand(&self, held: usize) -> Option<Demand> {
        let mut inner = self.lock();
        if inner.closed {
            return None;
        }
        let slots = inner.queues.iter().fold(0, |sum: usize, queue| sum.saturating_add(queue.limit as usize));
        let bearable = slots.saturating_add(UNSETTLED).saturating_sub(held);
        let mut left = inner.most.min(u32::try_from(bearable).unwrap_or(u32::MAX));
        let mut demand = Demand { asked: Vec::new(), queues: Vec::new() };
        let (first, count) = (inner.first, inner.queues.len());
        inner.first = (first + 1) % count.max(1);
        for index in (first..count).chain(0..first) {
            let queue = &mut inner.queues[index];
            let room = queue.room().min(left);
            if queue.looks > 0 && room > 0 {
                left -= room;
                demand.asked.push((index, room, queue.wakes));
                demand.queues.push((queue.name.clone(), room));
            }
        }
        (!demand.asked.is_empty()).then_some(demand)
    }

    /// Judges a claim's answer: a queue that gave all it was asked for is looked at again, one that gave less has one
    /// look less, unless it was woken meanwhile. Answers whether one gave less that a hint had woken: what the hint was
    /// about may not be ready yet.
    pub(super) fn answered(&self, demand: &Demand, claimed: &[Claimed]) -> bool {
        let mut inner = self.lock();
        inner.most = inner.most.saturating_mul(2).min(CLAIM);
        let mut short = false;
        for (index, room, wakes) in &demand.asked {
            let queue = &mut inner.queues[*index];
            let got = claimed.iter().filter(|job| job.queue == queue.name).count() as u32;
            if got < *room && queue.wakes == *wakes {
                short |= std::mem::take(&mut queue.hinted);
                queue.looks = queue.looks.saturating_sub(1);
            }
        }
        short
    }

    /// Notes that a claim failed: the next one asks for half as much.
    pub(super) fn failed(&self, demand: &Demand) {
        let asked = demand.asked.iter().fold(0, |sum: u32, (_, room, _)| sum.saturating_add(*room));
        self.lock().most = (asked / 2).max(1);
    }

    /// Takes a claimed job into its queue's buffer. `last_life` says that its next crash quarantines it: a worker keeps
    /// one such job at a time.
    pub(super) fn admit(&self, claimed: Claimed, last_life: bool) -> Admitted {
        if !last_life {
            return self.take_in(claimed).map_or(Admitted::Yes, Admitted::Closed);
        }
        let mut inner = self.lock();
        if inner.closed {
            return Admitted::Closed(Box::new(claimed));
        }
        if let Some((_, since)) = inner.last_life {
            return Admitted::Isolated(Box::new(claimed), since.elapsed());
        }
        inner.last_life = Some((claimed.fence.job, Instant::now()));
        Admitted::Alone(Box::new(claimed))
    }

    /// Takes a claimed job into its queue's buffer, or gives it back: the worker drains, or does not serve the queue.
    pub(super) fn take_in(&self, claimed: Claimed) -> Option<Box<Claimed>> {
        let mut inner = self.lock();
        let index = inner.by_name.get(&claimed.queue).copied();
        let Some(index) = index.filter(|_| !inner.closed) else {
            inner.last_life.take_if(|(job, _)| *job == claimed.fence.job);
            return Some(Box::new(claimed));
        };
        inner.queues[index].buffer.push_back(claimed);
        drop(inner);
        self.startable.notify_one();
        None
    }

    /// Takes the buffered jobs that a slot is free for, each with its queue's number.
    pub(super) fn start(&self) -> Vec<(usize, Claimed)> {
        let mut inner = self.lock();
        let mut started = Vec::new();
        for (index, queue) in inner.queues.iter_mut().enumerate() {
            while queue.running < queue.limit
                && let Some(claimed) = queue.buffer.pop_front()
            {
                queue.running += 1;
                queue.rate.started();
                started.push((index, claimed));
            }
        }
        started
    }

    /// Frees the slot of a job whose body has ended.
    pub(super) fn release(&self, index: usize, job: JobId) {
        let mut inner = self.lock();
        inner.queues[index].running -= 1;
        inner.last_life.take_if(|(last, _)| *last == job);
        drop(inner);
        self.startable.notify_one();
        self.claimable.notify_one();
    }

    /// Takes a job that has not begun out of its buffer.
    pub(super) fn withdraw(&self, job: JobId) -> Option<Claimed> {
        let mut inner = self.lock();
        let withdrawn = inner.queues.iter_mut().find_map(|queue| {
            let at = queue.buffer.iter().position(|claimed| claimed.fence.job == job)?;
            queue.buffer.remove(at)
        });
        if withdrawn.is_some() {
            inner.last_life.take_if(|(last, _)| *last == job);
        }
        withdrawn
    }

    /// Starts nothing any more, and gives out what has not begun.
    pub(super) fn close(&self) -> Vec<Claimed> {
        let mut inner = self.lock();
        inner.closed = true;
        let unstarted = inner.queues.iter_mut().flat_map(|queue| queue.buffer.drain(..)).collect();
        drop(inner);
        self.claimable.notify_one();
        unstarted
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn wake(&mut self) {
        self.looks = LOOKS;
        self.hinted = true;
        self.wakes += 1;
    }

    /// How many jobs there is room for: the free slots and what is held ahead, once half of that is gone.
    fn room(&mut self) -> u32 {
        let ahead = self.rate.ahead();
        let buffered = self.buffer.len() as u32;
        let free = self.limit - self.running;
        if free <= buffered && buffered > ahead / 2 {
            return 0;
        }
        free.saturating_add(ahead).saturating_sub(buffered)
    }
}
