//! Undoes what a run has done once its job has failed for good. Upstream: `steps`, which replays the body so that it
//! registers its compensations anew. Downstream: `settle`.
//!
//! The files here are pure: which compensations are due and in which order (`plan`), whether one that failed is tried
//! again (`budget`), and what stands on the row when not all could be undone (`account`). `execute` acts on them.

mod account;
mod budget;
mod plan;
mod registered;

pub(crate) use account::{Account, label};
pub(crate) use budget::{After, after};
pub(crate) use plan::{Effect, Entry, Standing, failed_children, live_children, plan, unknown};
pub(crate) use registered::{Compensation, Compensations};
