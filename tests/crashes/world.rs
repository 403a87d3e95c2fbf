//! What the sagas act on: a ledger outside the store, of every effect that they had, and what must hold at each.
//! Upstream: `saga`. Downstream: `oracle`.

use jobs::{
    JobId,
    driver::{Driver, Stage, StepKind, StepStatus},
    prelude::*,
    testing::Incarnation,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

/// An effect outside the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) run: JobId,
    pub(crate) step: &'static str,
    pub(crate) undo: bool,
    /// What a bank or a hotel would know a repetition by.
    pub(crate) key: String,
}

/// The world as one process sees it.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) life: Incarnation,
    pub(crate) ledger: Ledger,
}

/// The world as all processes share it. Clones are one.
#[derive(Clone)]
pub(crate) struct Ledger(Arc<Shared>);

struct Shared {
    store: Arc<dyn Driver>,
    effects: Mutex<Vec<Effect>>,
    /// How often the compensation of a step is yet to fail.
    failing: Mutex<HashMap<&'static str, u32>>,
    broken: Mutex<Vec<String>>,
}

impl Ledger {
    /// An empty one beside a store. The compensation of the step fails so many times.
    pub(crate) fn new(store: Arc<dyn Driver>, failing: Option<(&'static str, u32)>) -> Self {
        let failing = Mutex::new(failing.into_iter().collect());
        Self(Arc::new(Shared { store, effects: Mutex::default(), failing, broken: Mutex::default() }))
    }

    pub(crate) fn effects(&self) -> Vec<Effect> {
        self.0.effects.lock().expect("no holder panics").clone()
    }

    /// How often a step of a run had its effect.
    pub(crate) fn count(&self, run: JobId, step: &str, undo: bool) -> usize {
        self.effects().iter().filter(|it| it.run == run && it.step == step && it.undo == undo).count()
    }

    /// What did not hold when an effect was had.
    pub(crate) fn broken(&self) -> Vec<String> {
        self.0.broken.lock().expect("no holder panics").clone()
    }

    /// Lets no compensation fail any more.
    pub(crate) fn mend(&self) {
        self.0.failing.lock().expect("no holder panics").clear();
    }

    fn fails(&self, step: &str) -> bool {
        let mut failing = self.0.failing.lock().expect("no holder panics");
        let Some(left) = failing.get_mut(step).filter(|left| **left > 0) else { return false };
        *left -= 1;
        true
    }

    /// Whatever the store holds at the moment of an effect must allow it.
    async fn check(&self, run: JobId, step: &str, undo: bool) {
        let record = self.0.store.find(run).await.expect("a find answers").expect("the run is stored");
        let steps = self.0.store.steps(run).await.expect("the steps are listed");
        let is_done = |of: bool| {
            let same = |it: &&jobs::driver::StepRecord| it.id.name == step && (it.kind == StepKind::Undo) == of;
            steps.iter().filter(same).any(|it| it.status == StepStatus::Done)
        };
        let broken = match (undo, record.stage) {
            (false, Stage::Unwinding) => "runs forward while the run unwinds",
            (false, _) if is_done(false) => "runs again although it is recorded",
            (true, Stage::Fresh | Stage::Recorded | Stage::PastPivot) => "is undone although the run goes forward",
            (true, Stage::Unwinding) if is_done(true) => "is undone again although that is recorded",
            (true, Stage::Unwinding) if !is_done(false) => "is undone although it was never done",
            _ => return,
        };
        self.0.broken.lock().expect("no holder panics").push(format!("step `{step}` of {run} {broken}"));
    }
}

/// Has the effect of a step, with a point before and one after it.
pub(crate) async fn act(ctx: &Ctx, step: &'static str) -> Result<u32, Failure> {
    effect(ctx, step, false).await.map(|()| 7)
}

/// Undoes the effect of a step, or fails to.
pub(crate) async fn undo(ctx: &Ctx, step: &'static str) -> Result<(), Failure> {
    effect(ctx, step, true).await
}

async fn effect(ctx: &Ctx, step: &'static str, undo: bool) -> Result<(), Failure> {
    let World { life, ledger } = ctx.state()?;
    let name = if undo { format!("undo of {step}") } else { format!("effect of {step}") };
    life.point(format!("before {name}")).await?;
    ledger.check(ctx.id(), step, undo).await;
    if undo && ledger.fails(step) {
        return Err(Failure::retry(format!("{step} cannot be undone")).code("X_TEST_UNDO"));
    }
    let key = ctx.idempotency_key(&name);
    ledger.0.effects.lock().expect("no holder panics").push(Effect { run: ctx.id(), step, undo, key });
    life.point(format!("after {name}")).await?;
    Ok(())
}
