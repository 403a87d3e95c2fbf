//! Runs the steps of a body and replays what is recorded of them. Upstream: `execute`. Downstream: `commit`, `driver`.

mod error;
mod spec;

pub use error::StepError;
pub use spec::{StepSpec, UndoSpec};
