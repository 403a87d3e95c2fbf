//! Keeps the compensations that a body registers on its way. Upstream: `compensate!`. Downstream: `execute`.

use crate::{ctx::Ctx, driver::StepRef, failure::Failure, json::JsonText, steps::UndoSpec};
use futures_util::future::BoxFuture;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Undoes one step, given its output: `None` where it began and left none.
pub(crate) type Undo = Box<dyn FnOnce(Ctx, Option<JsonText>) -> BoxFuture<'static, Result<(), Failure>> + Send>;

/// One registered compensation.
pub(crate) struct Compensation {
    /// The step that it undoes, by the name that the code has for it.
    pub(crate) step: StepRef,
    pub(crate) spec: &'static UndoSpec,
    pub(crate) run: Undo,
}

/// All that one run of a body has registered. One step has one compensation; a later one takes the place of an earlier.
#[derive(Default)]
pub(crate) struct Compensations(Mutex<Vec<Compensation>>);

impl Compensations {
    pub(crate) fn register(&self, compensation: Compensation) {
        let mut all = self.lock();
        // What is replaced holds values of the user's own, whose drop may panic: not under the lock.
        let replaced = match all.iter_mut().find(|other| other.step == compensation.step) {
            Some(other) => Some(std::mem::replace(other, compensation)),
            None => {
                all.push(compensation);
                None
            }
        };
        drop(all);
        drop(replaced);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The steps that have one, and whether it runs also if the step left no result.
    pub(crate) fn registered(&self) -> Vec<(StepRef, bool)> {
        self.lock().iter().map(|compensation| (compensation.step.clone(), compensation.spec.always)).collect()
    }

    /// Whether a step of this name has one.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.lock().iter().any(|compensation| compensation.step.name == name)
    }

    /// Whether a step has one that runs also if the step left no result.
    pub(crate) fn has_always(&self, step: &StepRef) -> bool {
        self.lock().iter().any(|compensation| compensation.spec.always && compensation.step == *step)
    }

    /// Takes them all, in the order of their registration.
    pub(crate) fn take(&self) -> Vec<Compensation> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Compensation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
