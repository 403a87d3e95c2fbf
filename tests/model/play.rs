//! Plays a history on a driver and on the model, and compares every answer and every stored job after each call.

use crate::{
    history::{Call, Cancelled, Change, New, Outcome},
    reference::{Claim, Model},
};
use jobs::{
    JobId,
    driver::{
        self, CancelAnswer, Driver, Enqueued, Fence, Finish, NewJob, Progress, Reschedule, Start, Write, Written,
    },
    spec::Keep,
    testing::conformance::{Fixture, HandWorker, job, keyed},
};
use std::{sync::Arc, time::Duration};

struct Play<'a> {
    store: &'a dyn Fixture,
    driver: Arc<dyn Driver>,
    model: Model,
    ids: Vec<JobId>,
    workers: Vec<HandWorker>,
    claims: Vec<(Claim, Fence)>,
}

/// What differs, in words.
type Differs = String;

macro_rules! same {
    ($what:expr, $real:expr, $model:expr) => {{
        let (real, model) = ($real, $model);
        if real != model {
            return Err(format!("{}: the driver says {real:?}, the model {model:?}", $what));
        }
    }};
}

pub(crate) async fn play(store: &dyn Fixture, history: &[Call]) -> Result<(), Differs> {
    let driver = store.driver();
    let model = Model::default();
    let mut play = Play { store, driver, model, ids: Vec::new(), workers: Vec::new(), claims: Vec::new() };
    for (step, call) in history.iter().enumerate() {
        play.model.step = step as u64;
        let at = |differs| format!("at call {step}, {call:?}: {differs}");
        play.call(call).await.map_err(at)?;
        play.compare().await.map_err(at)?;
    }
    Ok(())
}

impl Play<'_> {
    async fn call(&mut self, call: &Call) -> Result<(), Differs> {
        match call {
            Call::Enqueue(news) => self.enqueue(news).await?,
            Call::StartWorker => {
                self.workers.push(HandWorker::start(Arc::clone(&self.driver)).await);
                self.model.start_worker();
            }
            Call::StopWorker(worker) => {
                if let Some(worker) = pick(*worker, self.workers.len()) {
                    self.workers[worker].stop().await;
                    self.model.stop(worker);
                }
            }
            Call::Renew(worker) => {
                if let Some(worker) = pick(*worker, self.workers.len()) {
                    same!("renewed", self.workers[worker].renew().await.is_ok(), self.model.renew(worker));
                }
            }
            Call::Claim { worker, limit } => {
                if let Some(worker) = pick(*worker, self.workers.len()) {
                    self.claim(worker, *limit).await?;
                }
            }
            Call::Write { worker, claim, change } => {
                let claim = pick(*claim, self.claims.len());
                if let (Some(worker), Some(claim)) = (pick(*worker, self.workers.len()), claim) {
                    self.write(worker, claim, *change).await?;
                }
            }
            Call::Cancel(job) => {
                if let Some(job) = pick(*job, self.ids.len()) {
                    let answer = match self.driver.cancel(self.ids[job]).await.expect("a cancel answers") {
                        CancelAnswer::Cancelled => Cancelled::AtOnce,
                        CancelAnswer::Asked => Cancelled::Asked,
                        CancelAnswer::AlreadyFinal(state) => Cancelled::Already(state),
                        CancelAnswer::NotFound => Cancelled::NotFound,
                    };
                    same!("cancelled", answer, self.model.cancel(job));
                }
            }
            Call::Requeue(job) => {
                if let Some(job) = pick(*job, self.ids.len()) {
                    same!("requeued", self.driver.requeue(self.ids[job]).await.is_ok(), self.model.requeue(job));
                }
            }
            Call::Promote => {
                self.driver.promote(1_000).await.expect("a promotion answers");
                self.model.promote();
            }
            Call::Rescue => {
                self.driver.rescue().await.expect("a rescue answers");
                self.model.rescue();
            }
            Call::Advance(seconds) => {
                self.store.advance(Duration::from_secs(*seconds)).await;
                self.model.now += seconds;
            }
        }
        Ok(())
    }

    async fn enqueue(&mut self, news: &[New]) -> Result<(), Differs> {
        let batch: Vec<NewJob> = news.iter().map(record).collect();
        let answers = self.driver.enqueue(&batch, None).await.expect("an enqueue is accepted");
        for ((new, record), answer) in news.iter().zip(&batch).zip(answers) {
            let expected = self.enqueued(new, record.id);
            same!("enqueued", (answer.id(), answer.is_inserted()), (expected.0, expected.1));
            if let Enqueued::Existing { id, state } = answer {
                let holder = self.ids.iter().position(|known| *known == id).expect("the holder is known");
                same!("holder", state, self.model.jobs[holder].state);
            }
        }
        Ok(())
    }

    /// Enqueues in the model: the id that stands for it, and whether it is new.
    fn enqueued(&mut self, new: &New, id: JobId) -> (JobId, bool) {
        match self.model.enqueue(*new) {
            Ok(_) => {
                self.ids.push(id);
                (id, true)
            }
            Err(holder) => (self.ids[holder], false),
        }
    }

    async fn claim(&mut self, worker: usize, limit: u32) -> Result<(), Differs> {
        let answer = self.workers[worker].try_claim(&[("mail", limit)]).await;
        same!("may claim", answer.is_ok(), self.model.is_current(worker));
        let claimed = answer.unwrap_or_default();
        let mut claimable = self.model.claimable();
        let may = if self.model.is_current(worker) { claimable.len().min(limit as usize) } else { 0 };
        same!("claims", claimed.len(), may);
        let mut orders = Vec::new();
        for claimed in claimed {
            let job = self.ids.iter().position(|id| *id == claimed.fence.job).ok_or("an unknown job was claimed")?;
            orders.push(claimable.remove(&job).ok_or_else(|| format!("job {job} was not to be claimed"))?);
            let claim = self.model.claim(worker, job);
            same!("attempt", claimed.fence.attempt, claim.attempt);
            same!("crashes", claimed.crashes, self.model.jobs[job].crashes);
            self.claims.push((claim, claimed.fence));
        }
        if !orders.is_sorted() || claimable.values().any(|left| orders.last().is_some_and(|last| left < last)) {
            return Err(format!("claimed {orders:?}, left {claimable:?}: out of order"));
        }
        Ok(())
    }

    async fn write(&mut self, worker: usize, claim: usize, change: Change) -> Result<(), Differs> {
        let (claim, fence) = self.claims[claim];
        let mut follow_up = None;
        let real = match change {
            Change::Progress => driver::Change::Progress(Progress { done: 1, total: None, message: "half".to_owned() }),
            Change::Again { counted, delay } => driver::Change::Reschedule(Reschedule {
                delay: Duration::from_secs(delay),
                attempt: claim.attempt + u32::from(counted),
                failure: None,
                keep: Keep::DEFAULT,
            }),
            Change::Finish { state, keep, follow_up: new } => {
                follow_up = new.map(|new| record(&new));
                driver::Change::Finish(Finish {
                    state,
                    output: None,
                    failure: None,
                    keep: if keep { Keep::DEFAULT } else { Keep::None },
                    follow_up: follow_up.clone().map(Box::new),
                })
            }
        };
        let written = self.workers[worker].commit(&[Write { fence, change: real }]).await;
        let outcome = match written[..] {
            [Written::Landed] => Outcome::Landed,
            [Written::Cancelled] => Outcome::Cancelled,
            [Written::Stale] => Outcome::Stale,
            _ => return Err(format!("written: {written:?}")),
        };
        let known = self.model.jobs.len();
        same!("written", outcome, self.model.write(worker, claim, change));
        if self.model.jobs.len() > known {
            self.ids.extend(follow_up.map(|job| job.id));
        }
        Ok(())
    }

    async fn compare(&self) -> Result<(), Differs> {
        for (number, (id, expected)) in self.ids.iter().zip(&self.model.jobs).enumerate() {
            let record = self.driver.find(*id).await.expect("a find answers");
            same!(format!("job {number}'s state"), record.as_ref().map(|record| record.state), expected.state);
            if let Some(record) = record {
                let real = (record.attempt, record.crashes, record.cancel_requested);
                same!(format!("job {number}"), real, (expected.attempt, expected.crashes, expected.cancel));
            }
        }
        Ok(())
    }
}

fn pick(number: usize, of: usize) -> Option<usize> {
    (of > 0).then(|| number % of)
}

fn record(new: &New) -> NewJob {
    let base = match new.key {
        Some((key, hold)) => keyed(key.into(), hold),
        None => job(),
    };
    let start = if new.delay == 0 { Start::Now } else { Start::After(Duration::from_secs(new.delay)) };
    NewJob { priority: new.priority, start, ..base }
}
