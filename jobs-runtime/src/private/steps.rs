//! What the macros of steps expand to.

pub use crate::steps::{
    Child, StepError, StepOutput, StepSpec, StepTx, UndoSpec,
    begin::{Begin, Running, begin},
    child::spawn,
    race::{Branch, NoBranch, Won, race},
    sleep::{sleep, sleep_until},
    tx::{RunningTx, begin_tx},
    value::{patch, pivot},
    wait::{wait_for, wait_for_within},
};
use crate::{Ctx, driver::JoinTx};
use std::fmt::Display;

const _: () = {
    const fn check<T: JoinTx>() {}
    check::<StepTx>();
};

/// The context, whether it is passed by reference or is one.
#[must_use]
pub fn ctx(ctx: &Ctx) -> &Ctx {
    ctx
}

/// The key of a step.
pub fn key(key: &(impl Display + ?Sized)) -> Option<String> {
    Some(key.to_string())
}
