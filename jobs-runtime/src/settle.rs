//! Decides what follows a run and writes it. Upstream: `execute`. Downstream: `commit`, `settled`.

mod decide;
mod land;

pub(crate) use decide::{Decision, Ended, Subject, decide, settled};
pub(crate) use land::land;
