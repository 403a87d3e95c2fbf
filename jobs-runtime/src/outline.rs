//! The outline of a job's body: the literal names of its steps, waits, sleeps and compensations in source order.

use serde::Serialize;

/// One durable construct of a job's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OutlineItem {
    /// Which construct it is.
    pub kind: OutlineKind,
    /// Its name, as written.
    pub name: &'static str,
    /// Whether it carries a `key = …`, so that it may run more than once.
    pub keyed: bool,
    /// The line in the job's file.
    pub line: u32,
}

/// The constructs that an outline lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutlineKind {
    /// `step!`
    Step,
    /// `step_tx!`
    StepTx,
    /// `compensate!`
    Compensate,
    /// `wait_for!`
    WaitFor,
    /// `sleep!` and `sleep_until!`
    Sleep,
    /// `race!`
    Race,
    /// `spawn!`
    Spawn,
    /// `pivot!`
    Pivot,
}
