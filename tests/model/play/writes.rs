//! Writes by workers, on the driver and on the model. Upstream: `play`.

use super::{Differs, EVENT, Play, failure, record, same};
use crate::{
    history::{Await, Change, Name, Outcome, Step},
    reference::Claim,
};
use chrono::{DateTime, TimeDelta, Utc};
use jobs::{
    driver::{
        self, Fence, Finish, NewJob, Park, Progress, Reschedule, StepRef, StepWrite, Unwind, Wait, WaitEvent, Write,
        Written,
    },
    error::code,
    spec::Keep,
};
use std::{collections::BTreeSet, time::Duration};

impl Play<'_> {
    pub(super) async fn write(
        &mut self,
        worker: usize,
        claim: Claim,
        fence: Fence,
        change: &Change,
    ) -> Result<(), Differs> {
        let mut born = None;
        let written = match change {
            Change::Step(step) => {
                let write = self.step(claim.job, *step);
                born = write.child.as_ref().map(|child| child.id);
                self.record_step(worker, fence, write, step.within).await
            }
            _ => {
                let now = self.driver.now().await.expect("the clock answers");
                let real = self.change(claim, change, now);
                if let driver::Change::Finish(finish) = &real {
                    born = finish.follow_up.as_ref().map(|job| job.id);
                }
                self.workers[worker].commit(&[Write { fence, change: real }]).await.remove(0)
            }
        };
        let outcome = match written {
            Written::Landed => Outcome::Landed,
            Written::Cancelled => Outcome::Cancelled,
            Written::Stale => Outcome::Stale,
            Written::Refused(error) if [code::JOB_DUPLICATE, code::JOB_STATE_REFUSED].contains(&error.code()) => {
                Outcome::Refused
            }
            Written::Refused(error) => return Err(format!("refused: {error}")),
        };
        let mut awaits_resolved = change.clone();
        if let Change::Park { awaits, .. } = &mut awaits_resolved {
            for wait in awaits {
                if let Await::Event(_, taken) = wait {
                    *taken = self.taken(taken).0;
                }
            }
        }
        let known = self.model.jobs.len();
        let modelled = self.model.write(worker, claim, &awaits_resolved);
        let job = &self.model.jobs[claim.job];
        let became = format!("{} {modelled:?}", change.name());
        self.reached.insert(format!("{became} {:?} {:?}", job.state, job.run.stage));
        self.reached.insert(became);
        same!("written", outcome, modelled);
        if self.model.jobs.len() > known {
            self.ids.extend(born);
        }
        Ok(())
    }

    /// Records a step by a commit, or by a transaction of its own that also publishes an event nobody waits for.
    async fn record_step(&self, worker: usize, fence: Fence, write: StepWrite, within: bool) -> Written {
        let worker = &self.workers[worker];
        if !within {
            let change = driver::Change::Step(Box::new(write));
            return worker.commit(&[Write { fence, change }]).await.remove(0);
        }
        let begun = self.driver.begin_step(worker.id, fence, None).await.expect("a step begins");
        begun.commit(write).await.expect("a step commits")
    }

    fn change(&self, claim: Claim, change: &Change, now: DateTime<Utc>) -> driver::Change {
        match change {
            Change::Step(step) => driver::Change::Step(Box::new(self.step(claim.job, *step))),
            Change::Progress => driver::Change::Progress(Progress { done: 1, total: None, message: "half".to_owned() }),
            Change::Again { counted, delay } => driver::Change::Reschedule(Reschedule {
                delay: Duration::from_secs(*delay),
                attempt: claim.attempt + u32::from(*counted),
                failure: None,
                keep: Keep::DEFAULT,
            }),
            Change::Finish { state, keep, follow_up } => driver::Change::Finish(Finish {
                state: *state,
                output: None,
                failure: None,
                keep: if *keep { Keep::DEFAULT } else { Keep::None },
                follow_up: follow_up.map(|new| Box::new(record(&new))),
            }),
            Change::Unwind { records } => {
                driver::Change::Unwind(Box::new(Unwind { failure: failure(), records: self.steps(claim.job, records) }))
            }
            Change::Park { due, awaits, records, reason } => driver::Change::Park(Box::new(Park {
                due_at: due.map(|due| now + TimeDelta::seconds(due as i64)),
                waits: awaits.iter().filter_map(|wait| self.wait(claim.job, wait)).collect(),
                records: self.steps(claim.job, records),
                reason: reason.then(failure),
                keep: Keep::DEFAULT,
            })),
        }
    }

    fn wait(&self, job: usize, wait: &Await) -> Option<Wait> {
        match wait {
            Await::Event(key, taken) => Some(Wait::Event(WaitEvent {
                name: EVENT.to_owned(),
                key: key.to_string(),
                taken: self.taken(taken).1,
            })),
            Await::Child => self.model.jobs[job].run.spawned().map(|child| Wait::Child(self.ids[child])),
        }
    }

    /// Records in the order of the places that they take.
    fn steps(&self, job: usize, records: &[Step]) -> Vec<StepWrite> {
        let known = &self.model.jobs[job].run.records;
        let mut new = BTreeSet::new();
        let write = |record: &Step| {
            let mut write = self.step(job, *record);
            write.position += new.len() as u32;
            let key = (Some(record.name), record.name.kind(record.undo));
            if !known.contains_key(&key) {
                new.insert(key);
            }
            write
        };
        records.iter().map(write).collect()
    }

    fn step(&self, job: usize, step: Step) -> StepWrite {
        let position = self.model.jobs[job].run.next_position();
        let id = StepRef { name: format!("{:?}", step.name), key: String::new() };
        StepWrite {
            tries: step.tries,
            once: step.name == Name::Charge && !step.undo,
            child: (step.name == Name::Child).then(|| {
                let child = NewJob { parent: Some(self.ids[job]), ..record(&step.child) };
                // A spawn is written again only as it was.
                let again = self.model.jobs[job].run.spawned().map(|child| self.ids[child]);
                Box::new(NewJob { id: again.unwrap_or(child.id), ..child })
            }),
            ..StepWrite::new(id, step.name.kind(step.undo), step.status, position)
        }
    }
}
