//! What a store of jobs should do, as plainly as it can be said. No code of the drivers is used here.

use crate::history::{Cancelled, Change, New, Outcome};
use jobs::{State, spec::Hold};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Model {
    /// Seconds.
    pub(crate) now: u64,
    /// Counts the calls, to order what became ready.
    pub(crate) step: u64,
    pub(crate) jobs: Vec<Job>,
    pub(crate) workers: Vec<Worker>,
    keys: BTreeMap<u8, usize>,
    claims: u64,
}

pub(crate) struct Job {
    pub(crate) new: New,
    /// `None` once it has left the store.
    pub(crate) state: Option<State>,
    pub(crate) attempt: u32,
    pub(crate) crashes: u16,
    pub(crate) cancel: bool,
    due: u64,
    ready: u64,
    /// The worker and the number of the claim.
    held: Option<(usize, u64)>,
}

pub(crate) struct Worker {
    /// `None` once the lease was ended or rescued from.
    until: Option<u64>,
}

/// The claim of a job, as the worker knows it.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) job: usize,
    pub(crate) attempt: u32,
    pub(crate) number: u64,
}

pub(crate) const LEASE: u64 = 30;

impl Model {
    /// Stores a job, or says which one holds its key.
    pub(crate) fn enqueue(&mut self, new: New) -> Result<usize, usize> {
        if let Some(holder) = new.key.and_then(|(key, _)| self.keys.get(&key)) {
            return Err(*holder);
        }
        let id = self.jobs.len();
        self.jobs.push(Job { new, state: None, attempt: 1, crashes: 0, cancel: false, due: 0, ready: 0, held: None });
        new.key.map(|(key, _)| self.keys.insert(key, id));
        self.wait(id, new.delay);
        Ok(id)
    }

    pub(crate) fn start_worker(&mut self) -> usize {
        self.workers.push(Worker { until: Some(self.now + LEASE) });
        self.workers.len() - 1
    }

    pub(crate) fn is_current(&self, worker: usize) -> bool {
        self.workers[worker].until.is_some_and(|until| until > self.now)
    }

    pub(crate) fn renew(&mut self, worker: usize) -> bool {
        let current = self.is_current(worker);
        if current {
            self.workers[worker].until = Some(self.now + LEASE);
        }
        current
    }

    pub(crate) fn stop(&mut self, worker: usize) {
        self.workers[worker].until = None;
        for id in self.held_by(worker) {
            self.hand_back(id);
        }
    }

    /// What can be claimed, with the order that claims keep; of one order any may go first.
    pub(crate) fn claimable(&self) -> BTreeMap<usize, (i16, u64)> {
        let ready = self.jobs.iter().enumerate().filter(|(_, job)| job.state == Some(State::Ready));
        ready.map(|(id, job)| (id, (job.new.priority, job.ready))).collect()
    }

    pub(crate) fn claim(&mut self, worker: usize, id: usize) -> Claim {
        self.claims += 1;
        let job = &mut self.jobs[id];
        (job.state, job.held) = (Some(State::Running), Some((worker, self.claims)));
        let claim = Claim { job: id, attempt: job.attempt, number: self.claims };
        self.free_key(id, &[Hold::Queued]);
        claim
    }

    pub(crate) fn write(&mut self, worker: usize, claim: Claim, change: Change) -> Outcome {
        let job = &self.jobs[claim.job];
        let holds = job.held == Some((worker, claim.number)) && job.attempt == claim.attempt;
        if !self.is_current(worker) || !holds {
            return Outcome::Stale;
        }
        match change {
            Change::Progress => {}
            Change::Again { .. } if job.cancel => {
                self.end(claim.job, State::Cancelled, true);
                return Outcome::Cancelled;
            }
            Change::Again { counted, delay } => {
                self.jobs[claim.job].attempt += u32::from(counted);
                self.wait(claim.job, delay);
            }
            Change::Finish { state, keep, follow_up } => {
                self.end(claim.job, state, keep);
                follow_up.map(|new| self.enqueue(new));
            }
        }
        Outcome::Landed
    }

    pub(crate) fn promote(&mut self) {
        for id in 0..self.jobs.len() {
            if self.jobs[id].state == Some(State::Delayed) && self.jobs[id].due <= self.now {
                self.wait(id, 0);
            }
        }
    }

    pub(crate) fn rescue(&mut self) {
        for worker in 0..self.workers.len() {
            if self.workers[worker].until.take_if(|until| *until <= self.now).is_some() {
                for id in self.held_by(worker) {
                    self.jobs[id].crashes += 1;
                    self.hand_back(id);
                }
            }
        }
    }

    pub(crate) fn cancel(&mut self, id: usize) -> Cancelled {
        match self.jobs[id].state {
            None => Cancelled::NotFound,
            Some(state) if state.is_final() => Cancelled::Already(state),
            Some(State::Running) => {
                self.jobs[id].cancel = true;
                Cancelled::Asked
            }
            Some(_) => {
                self.end(id, State::Cancelled, true);
                Cancelled::AtOnce
            }
        }
    }

    pub(crate) fn requeue(&mut self, id: usize) -> bool {
        let key = self.jobs[id].new.key.map(|(key, _)| key);
        if self.jobs[id].state != Some(State::Dead) || key.is_some_and(|key| self.keys.contains_key(&key)) {
            return false;
        }
        key.map(|key| self.keys.insert(key, id));
        (self.jobs[id].attempt, self.jobs[id].crashes) = (1, 0);
        self.wait(id, 0);
        true
    }

    fn held_by(&self, worker: usize) -> Vec<usize> {
        let held = |id: &usize| self.jobs[*id].held.is_some_and(|(holder, _)| holder == worker);
        (0..self.jobs.len()).filter(held).collect()
    }

    fn hand_back(&mut self, id: usize) {
        if self.jobs[id].cancel { self.end(id, State::Cancelled, true) } else { self.wait(id, 0) }
    }

    fn wait(&mut self, id: usize, delay: u64) {
        let job = &mut self.jobs[id];
        (job.held, job.cancel, job.due, job.ready) = (None, false, self.now + delay, self.step);
        job.state = Some(if delay == 0 { State::Ready } else { State::Delayed });
    }

    fn end(&mut self, id: usize, state: State, keep: bool) {
        let job = &mut self.jobs[id];
        (job.held, job.cancel) = (None, false);
        job.state = (keep || state == State::Dead).then_some(state);
        self.free_key(id, &[Hold::Queued, Hold::Live]);
    }

    fn free_key(&mut self, id: usize, holds: &[Hold]) {
        if let Some((key, hold)) = self.jobs[id].new.key
            && holds.contains(&hold)
            && self.keys.get(&key) == Some(&id)
        {
            self.keys.remove(&key);
        }
    }
}
