//! One run's steps: what is recorded, what has begun, what it waits for. One for each execution; cheap to clone.
//! Upstream: `execute`. Downstream: `journal`.

pub(crate) use super::journal::Journal;
use super::{error::StepError, state::State};
use crate::{
    cancel::Cancel,
    client::Jobs,
    clock::{self, Clock},
    ctx::States,
    driver::{Claimed, Driver, StepRecord, StepRef, StepWrite},
    error::code,
    failure::{Failure, RecordedFailure, Verdict},
    id::JobId,
    json::JsonText,
};
use chrono::{DateTime, Utc};
use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// The steps of one run.
#[derive(Clone)]
pub(crate) struct Run(Arc<Inner>);

/// Whether a run goes forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// Steps that are not recorded run.
    #[default]
    Forward,
    /// They stay pending: the body is replayed to be checked.
    Replay,
    /// They stay pending: the body is replayed for what it registers. So do those whose records do not fit the code, for
    /// they must not keep from being undone what stands before them.
    Unwind,
}

/// Why a body is not to be polled any more, although it returned nothing.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The attempt fails.
    Fail(Failure),
    /// The run is parked for this reason, until it is due after so long or somebody answers.
    Park(RecordedFailure, Option<Duration>),
    /// The run goes back uncounted.
    HandBack(Duration),
}

/// What a run is made of.
pub(crate) struct NewRun<'a> {
    pub(crate) jobs: Jobs,
    pub(crate) claimed: &'a Claimed,
    pub(crate) journal: Journal,
    pub(crate) cancel: Cancel,
    pub(crate) mode: Mode,
    pub(crate) mocks: Mocks,
}

/// The outputs that a test gives to steps in place of their bodies, by name.
pub(crate) type Mocks = Arc<HashMap<String, JsonText>>;

struct Inner {
    jobs: Jobs,
    job: JobId,
    attempt: u32,
    tenant: Option<String>,
    clock: Option<Clock>,
    claimed_at: DateTime<Utc>,
    began: Instant,
    journal: Journal,
    cancel: Cancel,
    mode: Mode,
    mocks: Mocks,
    looking: Arc<tokio::sync::Mutex<()>>,
    settling: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

impl Run {
    pub(crate) fn new(new: NewRun<'_>) -> Self {
        let NewRun { jobs, claimed, journal, cancel, mode, mocks } = new;
        Self(Arc::new(Inner {
            clock: jobs.driver().own_clock(),
            jobs,
            job: claimed.fence.job,
            attempt: claimed.fence.attempt,
            tenant: claimed.tenant.clone(),
            claimed_at: claimed.claimed_at,
            began: Instant::now(),
            journal,
            cancel,
            mode,
            mocks,
            looking: Arc::default(),
            settling: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }))
    }

    /// Takes over what is recorded, before the body begins.
    pub(crate) fn load(&self, records: Vec<StepRecord>) {
        self.state().load(records);
    }

    /// Every record, as far as this run knows, by the order of starts.
    pub(crate) fn records(&self) -> Vec<StepRecord> {
        let state = self.state();
        let mut records: Vec<StepRecord> = state.records.values().chain(&state.others).cloned().collect();
        drop(state);
        records.sort_by_key(|record| record.position);
        records
    }

    /// The name that a step's record has, where the code has a newer one.
    pub(crate) fn recorded_as(&self, step: &StepRef) -> StepRef {
        self.state().renamed.get(step).unwrap_or(step).clone()
    }

    /// Takes the failures that were returned to the body and are not recorded.
    pub(crate) fn take_failures(&self) -> Vec<StepWrite> {
        std::mem::take(&mut self.state().failures)
    }

    /// Lets those incomplete steps of a replay resolve to an error that it has come to. Says whether there are any.
    pub(crate) fn release(&self) -> bool {
        let wakers = self.state().pending.wake(|pend| matches!(pend.on, super::pend::On::Halt));
        let has_some = !wakers.is_empty();
        wakers.into_iter().for_each(std::task::Waker::wake);
        has_some
    }

    /// Whether anything may be recorded of the run.
    pub(crate) fn has_recorded(&self) -> bool {
        let state = self.state();
        state.recording || !state.records.is_empty()
    }

    /// Whether the body has come to a line of this name.
    pub(crate) fn has_begun(&self, name: &str) -> bool {
        self.state().begun.iter().any(|id| id.name == name)
    }

    /// The name that the code has for a step, where its record has an older one.
    pub(crate) fn called(&self, recorded: &StepRef) -> StepRef {
        let state = self.state();
        let renamed = state.renamed.iter().find(|(_, record)| *record == recorded);
        renamed.map_or(recorded, |(own, _)| own).clone()
    }

    /// What is recorded and the body has not come to.
    pub(crate) fn unreached(&self) -> Vec<StepRef> {
        self.state().unreached()
    }

    /// The lines that stayed pending because they are not complete.
    pub(crate) fn frontier(&self) -> Vec<String> {
        self.state().frontier.clone()
    }

    /// Whether the step's record does not fit the code that came to it.
    pub(crate) fn is_unfit(&self, step: &StepRef) -> bool {
        self.state().unfit.contains(&super::identity::label(step))
    }

    /// Ends the run: what is begun from now on is refused.
    pub(crate) fn end(&self) {
        self.state().ended = true;
    }

    /// How many steps ran, and how many were answered from their records.
    pub(crate) fn counts(&self) -> (u32, u32) {
        let state = self.state();
        (state.run, state.replayed)
    }

    /// Whether steps that are not recorded run.
    pub(crate) fn goes_forward(&self) -> bool {
        self.0.mode == Mode::Forward
    }

    /// Has the body not be polled any more. The first reason stands.
    pub(super) fn stop(&self, stop: Stopped) {
        self.state().stop.get_or_insert(stop);
    }

    /// Has the body not be polled any more, once what else is under way has ended. The operation that asks counts as
    /// [busy](Self::busy), and stays pending.
    pub(super) async fn stop_here<T>(&self, stop: Stopped) -> T {
        self.stop(stop);
        let _stuck = self.stuck();
        std::future::pending().await
    }

    /// Parks the run because what is recorded of a step does not fit the code. It is tried again: another release may fit.
    ///
    /// The operation that asks counts as [busy](Self::busy), and stays pending.
    ///
    /// # Errors
    /// In the second phase of an unwinding.
    pub(super) async fn mismatch<T>(&self, step: &str, what: &str) -> Result<T, StepError> {
        const AGAIN: Duration = Duration::from_secs(60);
        let failure = Failure::of(code::STEP_MISMATCH, Verdict::Backoff, format!("step `{step}`: {what}"));
        if self.0.mode == Mode::Unwind {
            let _idle = self.idle();
            {
                let mut state = self.state();
                state.frontier.push(step.to_owned());
                state.unfit.insert(step.to_owned());
            }
            self.halt().await;
            return Err(StepError::new(step, failure));
        }
        let reason = super::failing::recorded(&failure);
        self.stop_here(Stopped::Park(reason, Some(AGAIN))).await
    }

    /// The store's time, as far as this run can tell: never later than it is.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        match &self.0.clock {
            Some(clock) => clock.now(),
            None => clock::after(self.0.claimed_at, self.0.began.elapsed()),
        }
    }

    pub(super) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(super) fn driver(&self) -> &Arc<dyn Driver> {
        self.0.jobs.driver()
    }

    pub(super) fn job(&self) -> JobId {
        self.0.job
    }

    pub(super) fn attempt(&self) -> u32 {
        self.0.attempt
    }

    pub(super) fn tenant(&self) -> Option<&str> {
        self.0.tenant.as_deref()
    }

    pub(super) fn journal(&self) -> &Journal {
        &self.0.journal
    }

    pub(super) fn cancel(&self) -> &Cancel {
        &self.0.cancel
    }

    /// Held while an event is looked for: two waits of a run do not take one event.
    pub(super) fn looking(&self) -> &Arc<tokio::sync::Mutex<()>> {
        &self.0.looking
    }

    /// Held while failures are recorded.
    pub(super) fn settling(&self) -> &tokio::sync::Mutex<()> {
        &self.0.settling
    }

    /// What a test gives in place of a step.
    pub(super) fn mock(&self, name: &str) -> Option<JsonText> {
        self.0.mocks.get(name).cloned()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a test gives to steps, which stands among the states.
pub(crate) fn mocks(states: &States) -> Mocks {
    let mocks = states.get(&TypeId::of::<Mocks>()).and_then(|state| state.downcast_ref::<Mocks>());
    mocks.cloned().unwrap_or_default()
}

/// Gives a step an output in place of its body.
///
/// # Panics
/// If the output cannot be encoded.
#[cfg(feature = "testing")]
pub(crate) fn mock(states: &mut States, name: String, output: &impl serde::Serialize) {
    let text =
        crate::payload::writer::write(output).unwrap_or_else(|fault| panic!("the output of a step holds {fault}"));
    let mut all = HashMap::clone(&mocks(states));
    all.insert(name, JsonText::trusted(text));
    states.insert(TypeId::of::<Mocks>(), Arc::new(Mocks::new(all)));
}
