//! Decides what follows a run and writes it. Upstream: `execute`. Downstream: `commit`, `settled`.

mod decide;
mod land;
mod next;

pub(crate) use decide::{Decision, Ended, Subject, decide, settled};
pub(crate) use land::{bare, land};
pub(crate) use next::{record, timed_out, unwinds_from};
