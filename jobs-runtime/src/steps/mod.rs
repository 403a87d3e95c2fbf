//! Runs the steps of a body and replays what is recorded of them. Upstream: `execute`. Downstream: `commit`, `driver`.
//!
//! Each durable line of a body opens its record (`open`), and then is answered from it, runs, or waits. What waits
//! registers with the run and stays pending; when nothing but that is left, `quiesce` lets go of the body.

pub(crate) mod begin;
mod busy;
pub(crate) mod child;
mod error;
mod failing;
mod identity;
mod journal;
mod nest;
mod open;
pub(crate) mod output;
mod park;
mod pend;
pub(crate) mod quiesce;
pub(crate) mod race;
mod run;
pub(crate) mod sleep;
mod spec;
mod state;
mod tries;
pub(crate) mod tx;
pub(crate) mod value;
pub(crate) mod wait;

pub use child::Child;
pub use error::StepError;
pub(crate) use identity::label;
pub use output::StepOutput;
pub(crate) use quiesce::{Driven, Quiesce};
#[cfg(feature = "testing")]
pub(crate) use run::mock;
pub(crate) use run::{Journal, Mode, NewRun, Run, Stopped, mocks};
pub use spec::{StepSpec, UndoSpec};
pub use tx::StepTx;
