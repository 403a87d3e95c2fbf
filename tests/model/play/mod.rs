//! Plays a history on a driver and on the model, and compares every answer, and every stored job after each few calls and at
//! the end.

mod writes;

use crate::{
    history::{Answer, Call, Cancelled, Event, Name, New, Say, Which},
    reference::{Claim, Model},
    run::Said,
};
use jobs::{
    Error, JobId, JsonText,
    driver::{
        CancelAnswer, Driver, Enqueued, EventId, Fence, FindEvent, NewEvent, NewJob, Operation, Resolution, Start,
        StepKind, StepRef, StepStatus,
    },
    error::code,
    failure::RecordedFailure,
    testing::conformance::{Fixture, HandWorker, job, keyed},
};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

struct Play<'a> {
    store: &'a dyn Fixture,
    driver: Arc<dyn Driver>,
    model: Model,
    ids: Vec<JobId>,
    workers: Vec<HandWorker>,
    claims: Vec<(usize, Claim, Fence)>,
    events: Vec<EventId>,
    /// What the history has led to, in words.
    reached: BTreeSet<String>,
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

use same;

/// Plays a history, compares all that is stored after each so many calls, and says what it has led to.
pub(crate) async fn play(store: &dyn Fixture, history: &[Call], each: usize) -> Result<BTreeSet<String>, Differs> {
    let driver = store.driver();
    let model = Model::default();
    let (ids, workers, claims, events) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let reached = BTreeSet::new();
    let mut play = Play { store, driver, model, ids, workers, claims, events, reached };
    for (step, call) in history.iter().enumerate() {
        play.model.step = step as u64;
        let at = |differs| format!("at call {step}, {call:?}: {differs}");
        play.call(call).await.map_err(at)?;
        if step % each == 0 || step + 1 == history.len() {
            play.compare().await.map_err(at)?;
        }
    }
    Ok(play.reached)
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
                let claim = self.claim_of(*claim);
                let worker = pick(*worker, self.workers.len());
                if let (Some(any), Some((holder, claim, fence))) = (worker, claim) {
                    // A claim is mostly written by its holder.
                    let worker = if any == 0 { any } else { holder };
                    self.write(worker, claim, fence, change).await?;
                }
            }
            Call::Cancel(job) => {
                if let Some(job) = self.job_of(*job) {
                    let answer = self.driver.cancel(self.ids[job]).await.expect("a cancel answers");
                    let modelled = self.model.cancel(job);
                    self.reached.insert(format!("cancel {modelled:?}"));
                    same!("cancelled", cancelled(answer), modelled);
                }
            }
            Call::RollBack(job) => {
                if let Some(job) = self.job_of(*job) {
                    let answer = match self.driver.roll_back(self.ids[job]).await {
                        Ok(answer) => Some(cancelled(answer)),
                        Err(error) if error.code() == code::JOB_STATE_REFUSED => None,
                        Err(error) => return Err(error.to_string()),
                    };
                    let modelled = self.model.roll_back(job);
                    self.reached.insert(format!("roll back {modelled:?} {:?}", self.model.jobs[job].state));
                    same!("rolled back", answer, modelled);
                }
            }
            Call::Operate(job, say) => {
                if let Some(job) = self.job_of(*job) {
                    let answer = said(self.driver.operate(self.ids[job], operation(*say)).await)?;
                    let modelled = self.model.operate(job, *say);
                    let what = match say {
                        Say::Resolve(..) => "resolve",
                        Say::Resume => "resume",
                        Say::SkipUndo(_) | Say::MarkUndone(_) => "answer for an undo",
                    };
                    self.reached.insert(format!("{what} {modelled:?}"));
                    same!("operated", answer, modelled);
                }
            }
            Call::Publish(event) => self.publish(*event).await?,
            Call::Find { key, taken } => {
                let (taken, ids) = self.taken(taken);
                let find =
                    FindEvent { name: EVENT.to_owned(), key: key.to_string(), tenant: None, taken: ids, before: None };
                let found = self.driver.find_event(find).await.expect("a find answers").map(|event| event.id);
                let model = self.model.events.find(*key, &taken, self.model.now);
                same!("found", found, model.map(|event| self.events[event]));
            }
            Call::Wake => drop(self.driver.wake(1_000).await.expect("a wake answers")),
            Call::PurgeEvents => drop(self.driver.purge_events(1_000).await.expect("a purge answers")),
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

    fn job_of(&self, which: Which) -> Option<usize> {
        match which {
            Which::Any(number) => pick(number, self.ids.len()),
            Which::Open(number) => {
                let open = (0..self.ids.len()).filter(|job| self.model.jobs[*job].is_live_or_dead());
                let open: Vec<usize> = open.collect();
                pick(number, open.len()).map(|at| open[at])
            }
        }
    }

    /// A claim, with the worker that made it.
    fn claim_of(&self, which: Which) -> Option<(usize, Claim, Fence)> {
        match which {
            Which::Any(number) => pick(number, self.claims.len()).map(|at| self.claims[at]),
            Which::Open(number) => {
                let held = self.claims.iter().filter(|(worker, claim, _)| self.model.holds(*worker, *claim));
                let held: Vec<_> = held.copied().collect();
                pick(number, held.len()).map(|at| held[at])
            }
        }
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
        match self.model.enqueue(*new, None) {
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
            self.claims.push((worker, claim, claimed.fence));
            same!("stage", claimed.stage, self.model.jobs[job].run.stage);
        }
        if !orders.is_sorted() || claimable.values().any(|left| orders.last().is_some_and(|last| left < last)) {
            return Err(format!("claimed {orders:?}, left {claimable:?}: out of order"));
        }
        Ok(())
    }

    /// The events of these numbers, modulo how many there are.
    fn taken(&self, numbers: &[usize]) -> (Vec<usize>, Vec<EventId>) {
        let numbers: Vec<usize> = numbers.iter().filter_map(|number| pick(*number, self.events.len())).collect();
        let ids = numbers.iter().map(|number| self.events[*number]).collect();
        (numbers, ids)
    }

    async fn publish(&mut self, event: Event) -> Result<(), Differs> {
        let id = EventId::new();
        let new = NewEvent {
            id,
            name: EVENT.to_owned(),
            key: event.key.to_string(),
            tenant: None,
            payload: JsonText::parse("{}".to_owned()).expect("valid"),
            ttl: Duration::from_secs(event.ttl),
        };
        if let Some(commits) = event.within {
            let mut tx = self.store.begin().await;
            self.driver.publish(&[new], Some(tx.tx())).await.expect("a publication is accepted");
            self.compare().await?;
            if !commits {
                tx.rollback().await;
                return Ok(());
            }
            tx.commit().await;
        } else {
            self.driver.publish(&[new], None).await.expect("a publication is accepted");
        }
        self.events.push(id);
        let woken = self.model.publish(event.key, event.ttl);
        self.reached.insert(format!("publish woke {}", woken.min(2)));
        Ok(())
    }

    async fn compare(&self) -> Result<(), Differs> {
        for (number, (id, expected)) in self.ids.iter().zip(&self.model.jobs).enumerate() {
            let record = self.driver.find(*id).await.expect("a find answers");
            same!(format!("job {number}'s state"), record.as_ref().map(|record| record.state), expected.state);
            let Some(record) = record else { continue };
            let real = (record.attempt, record.crashes, record.cancel_requested, record.stage, record.parked.is_some());
            let parked = expected.run.parked.as_ref().is_some_and(|parked| parked.reason);
            let asked = expected.asked.is_some();
            same!(
                format!("job {number}"),
                real,
                (expected.attempt, expected.crashes, asked, expected.run.stage, parked)
            );
            self.compare_steps(number, *id).await?;
        }
        let mut listed: Vec<EventId> =
            self.driver.events(EVENT).await.expect("a list answers").iter().map(|event| event.id).collect();
        listed.reverse();
        let unexpired = self.model.events.unexpired(self.model.now);
        same!("events", listed, unexpired.into_iter().map(|event| self.events[event]).collect::<Vec<_>>());
        Ok(())
    }

    async fn compare_steps(&self, number: usize, id: JobId) -> Result<(), Differs> {
        let name = |name: Option<Name>| name.map(|name| format!("{name:?}")).unwrap_or_default();
        let child = |child: Option<usize>| child.map(|child| self.ids[child]);
        let over = !self.model.jobs[number].is_live_or_dead();
        // Whether a cancelled run still learns how its children ended, no one depends on.
        let status = |kind, status| if over && kind == StepKind::Spawn { StepStatus::Done } else { status };
        let mut expected: Vec<_> = self.model.jobs[number].run.records.iter().collect();
        expected.sort_by_key(|((_, kind), record)| (record.position, *kind));
        let expected: Vec<_> = expected
            .into_iter()
            .map(|((of, kind), it)| {
                (name(*of), *kind, status(*kind, it.status), it.position, it.attempt, it.tries, child(it.child))
            })
            .collect();
        let real = self.driver.steps(id).await.expect("the steps are listed");
        let real: Vec<_> = real
            .into_iter()
            .map(|it| (it.id.name, it.kind, status(it.kind, it.status), it.position, it.attempt, it.tries, it.child))
            .collect();
        same!(format!("job {number}'s steps"), real, expected);
        Ok(())
    }
}

/// The name of every event.
const EVENT: &str = "order.shipped";

fn failure() -> RecordedFailure {
    let code = code::JOB_FAILED.name.to_owned();
    RecordedFailure { code, operator: "it broke".to_owned(), caller_fix: None, stop: None }
}

fn cancelled(answer: CancelAnswer) -> Cancelled {
    match answer {
        CancelAnswer::Cancelled => Cancelled::AtOnce,
        CancelAnswer::Asked => Cancelled::Asked,
        CancelAnswer::AlreadyFinal(state) => Cancelled::Already(state),
        CancelAnswer::NotFound => Cancelled::NotFound,
    }
}

fn operation(say: Say) -> Operation {
    let step = |name: Name| StepRef { name: format!("{name:?}"), key: String::new() };
    match say {
        Say::Resolve(name, Answer::Done) => {
            Operation::Resolve(step(name), Resolution::Done(JsonText::parse("1".to_owned()).expect("valid")))
        }
        Say::Resolve(name, Answer::Failed) => {
            Operation::Resolve(step(name), Resolution::Failed("it did not".to_owned()))
        }
        Say::Resolve(name, Answer::Again) => Operation::Resolve(step(name), Resolution::Again),
        Say::Resume => Operation::Resume,
        Say::SkipUndo(name) => Operation::SkipUndo(step(name)),
        Say::MarkUndone(name) => Operation::MarkUndone(step(name)),
    }
}

fn said(answer: Result<(), Error>) -> Result<Said, Differs> {
    let Err(error) = answer else { return Ok(Said::Done) };
    let known = [
        (code::JOB_NOT_FOUND, Said::NotFound),
        (code::JOB_STATE_REFUSED, Said::Refused),
        (code::STEP_NOT_FOUND, Said::NoStep),
    ];
    let said = known.into_iter().find(|(code, _)| *code == error.code());
    said.map(|(_, said)| said).ok_or_else(|| error.to_string())
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
