//! What a store of jobs should do, as plainly as it can be said. No code of the drivers is used here.

use crate::{
    history::{Await, Cancelled, Change, New, Outcome},
    run::{Asked, Events, Parked, Run},
};
use jobs::{State, driver::Stage, spec::Hold};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Model {
    /// Seconds.
    pub(crate) now: u64,
    /// Counts the calls, to order what became ready.
    pub(crate) step: u64,
    pub(crate) jobs: Vec<Job>,
    pub(crate) events: Events,
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
    pub(crate) asked: Option<Asked>,
    /// Whether it was asked to cancel before it was asked to roll back.
    pub(crate) cancelled_before: bool,
    pub(crate) run: Run,
    pub(crate) parent: Option<usize>,
    due: Option<u64>,
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
    pub(crate) fn enqueue(&mut self, new: New, parent: Option<usize>) -> Result<usize, usize> {
        if let Some(holder) = new.key.and_then(|(key, _)| self.keys.get(&key)) {
            return Err(*holder);
        }
        let id = self.jobs.len();
        let run = Run::default();
        let (state, asked, cancelled_before, due, held) = (None, None, false, None, None);
        self.jobs.push(Job {
            new,
            state,
            attempt: 1,
            crashes: 0,
            asked,
            cancelled_before,
            run,
            parent,
            due,
            ready: 0,
            held,
        });
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

    pub(crate) fn write(&mut self, worker: usize, claim: Claim, change: &Change) -> Outcome {
        if !self.is_current(worker) || !self.holds(worker, claim) {
            return Outcome::Stale;
        }
        let id = claim.job;
        match change {
            Change::Progress => {}
            Change::Step(step) => return self.step(id, *step),
            Change::Unwind { records } => {
                records.iter().for_each(|record| self.jobs[id].record(*record, None));
                self.jobs[id].unwind();
            }
            Change::Again { counted, delay } => {
                return self.let_go(id, true, |model| {
                    model.jobs[id].attempt += u32::from(*counted);
                    model.wait(id, *delay);
                });
            }
            Change::Park { records, .. } if records.iter().any(|record| self.jobs[id].run.refuses(*record)) => {
                return Outcome::Refused;
            }
            Change::Park { due, awaits, records, reason } => {
                return self.let_go(id, true, |model| {
                    records.iter().for_each(|record| model.jobs[id].record(*record, None));
                    model.jobs[id].crashes = 0;
                    model.park(id, *due, awaits, *reason);
                });
            }
            Change::Finish { state, keep, follow_up } => {
                self.end(id, *state, *keep);
                follow_up.map(|new| self.enqueue(new, None));
            }
        }
        Outcome::Landed
    }

    /// Whether the claim is still the one that holds its job.
    pub(crate) fn holds(&self, worker: usize, claim: Claim) -> bool {
        let job = &self.jobs[claim.job];
        job.held == Some((worker, claim.number)) && job.attempt == claim.attempt
    }

    /// Lets a job go from its worker: as it was asked, or else as it would.
    fn let_go(&mut self, id: usize, keep: bool, go: impl FnOnce(&mut Self)) -> Outcome {
        match self.jobs[id].asked {
            Some(Asked::RollBack) if self.jobs[id].run.stage == Stage::Recorded => {
                self.jobs[id].unwind();
                self.wait(id, 0);
                Outcome::Landed
            }
            Some(_) => {
                self.end(id, State::Cancelled, keep);
                Outcome::Cancelled
            }
            None => {
                go(self);
                Outcome::Landed
            }
        }
    }

    pub(crate) fn promote(&mut self) {
        for id in 0..self.jobs.len() {
            let waits = matches!(self.jobs[id].state, Some(State::Delayed | State::Suspended));
            if waits && self.jobs[id].due.is_some_and(|due| due <= self.now) {
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

    /// Cancels a job, and what it has spawned.
    pub(crate) fn cancel(&mut self, id: usize) -> Cancelled {
        if let Some(answer) = self.jobs[id].is_beyond_cancel() {
            return answer;
        }
        let children = self.jobs[id].run.children();
        let answer = if self.jobs[id].state == Some(State::Running) {
            self.jobs[id].asked = Some(Asked::Cancel);
            Cancelled::Asked
        } else {
            self.end(id, State::Cancelled, true);
            Cancelled::AtOnce
        };
        for child in children {
            self.cancel(child);
        }
        answer
    }

    /// Rolls a job back, and what it has spawned; `None` if it is past its pivot.
    pub(crate) fn roll_back(&mut self, id: usize) -> Option<Cancelled> {
        if let Some(answer) = self.jobs[id].is_beyond_cancel() {
            return Some(answer);
        }
        let children = self.jobs[id].run.children();
        let answer = match (self.jobs[id].run.stage, self.jobs[id].state) {
            (Stage::PastPivot, _) => return None,
            (_, Some(State::Running)) => {
                self.jobs[id].cancelled_before |= self.jobs[id].asked == Some(Asked::Cancel);
                self.jobs[id].asked = Some(Asked::RollBack);
                Cancelled::Asked
            }
            (Stage::Fresh, _) => {
                self.end(id, State::Cancelled, true);
                Cancelled::AtOnce
            }
            (_, state) => {
                self.jobs[id].unwind();
                if state != Some(State::Ready) {
                    self.wait(id, 0);
                }
                Cancelled::Asked
            }
        };
        for child in children {
            self.roll_back(child);
        }
        Some(answer)
    }

    pub(crate) fn requeue(&mut self, id: usize) -> bool {
        let key = self.jobs[id].new.key.map(|(key, _)| key);
        if self.jobs[id].state != Some(State::Dead) || key.is_some_and(|key| self.keys.contains_key(&key)) {
            return false;
        }
        key.map(|key| self.keys.insert(key, id));
        (self.jobs[id].attempt, self.jobs[id].crashes) = (1, 0);
        self.jobs[id].run.start_over();
        self.wait(id, 0);
        true
    }

    fn held_by(&self, worker: usize) -> Vec<usize> {
        let held = |id: &usize| self.jobs[*id].held.is_some_and(|(holder, _)| holder == worker);
        (0..self.jobs.len()).filter(held).collect()
    }

    fn hand_back(&mut self, id: usize) {
        self.let_go(id, true, |model| model.wait(id, 0));
    }

    pub(crate) fn wait(&mut self, id: usize, delay: u64) {
        let job = &mut self.jobs[id];
        (job.held, job.asked, job.cancelled_before) = (None, None, false);
        (job.due, job.ready) = (Some(self.now + delay), self.step);
        job.run.parked = None;
        job.state = Some(if delay == 0 { State::Ready } else { State::Delayed });
    }

    /// Parks a run, unless what it waits for has happened.
    fn park(&mut self, id: usize, due: Option<u64>, awaits: &[Await], reason: bool) {
        let run = &self.jobs[id].run;
        let happened = awaits.iter().any(|wait| match wait {
            Await::Event(key, taken) => self.events.find(*key, taken, self.now).is_some(),
            Await::Child => run.child_has_ended(),
        });
        self.wait(id, 0);
        if due != Some(0) && !happened {
            let job = &mut self.jobs[id];
            job.due = due.map(|due| self.now + due);
            job.run.parked = Some(Parked { awaits: awaits.to_vec(), reason });
            job.state = Some(State::Suspended);
        }
    }

    /// Publishes an event and wakes what waits for it. Answers how many that were.
    pub(crate) fn publish(&mut self, key: u8, ttl: u64) -> usize {
        let mut woken = 0;
        let event = self.events.add(key, self.now + ttl);
        for id in 0..self.jobs.len() {
            let parked = self.jobs[id].run.parked.as_ref();
            let waits = |wait: &Await| matches!(wait, Await::Event(of, taken) if *of == key && !taken.contains(&event));
            if parked.is_some_and(|parked| parked.awaits.iter().any(waits)) {
                self.wait(id, 0);
                woken += 1;
            }
        }
        woken
    }

    fn end(&mut self, id: usize, state: State, keep: bool) {
        let job = &mut self.jobs[id];
        (job.held, job.asked, job.cancelled_before, job.run.parked) = (None, None, false, None);
        job.state = (keep || state == State::Dead).then_some(state);
        self.free_key(id, &[Hold::Queued, Hold::Live]);
        let parent = self.jobs[id].parent.filter(|parent| self.jobs[*parent].is_live_or_dead());
        if let Some(parent) = parent {
            self.jobs[parent].run.child_ended(id);
            let parked = self.jobs[parent].run.parked.as_ref();
            if parked.is_some_and(|parked| parked.awaits.iter().any(|wait| matches!(wait, Await::Child))) {
                self.wait(parent, 0);
            }
        }
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
