//! Decides what follows a run and writes it. Upstream: `execute`. Downstream: `commit`, `settled`.

mod decide;
mod land;
mod next;

pub(crate) use decide::{Decision, Ended, Subject, decide, settled};
pub(crate) use land::land;
#[allow(unused_imports, reason = "until a run unwinds")]
pub(crate) use next::unwinds_from;
