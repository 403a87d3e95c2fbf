//! The outline of a job's body: the literal names of its steps, waits, sleeps and compensations in source order.
//! Upstream: the macros, which read it from the tokens of the body. Downstream: `spec`, and `timeline`, which lays what a
//! run has recorded over it.

use serde::{Deserialize, Serialize};

/// One durable construct of a job's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OutlineItem {
    /// Which construct it is.
    pub kind: OutlineKind,
    /// Its name, as written; empty where the construct has none, or one that is no literal.
    pub name: &'static str,
    /// Whether it carries a `key = …`, so that it may run more than once.
    pub keyed: bool,
    /// The line in the job's file, counted from 1; 0 where the compiler does not tell.
    pub line: u32,
}

impl OutlineItem {
    /// One construct.
    #[must_use]
    pub const fn new(kind: OutlineKind, name: &'static str, keyed: bool, line: u32) -> Self {
        Self { kind, name, keyed, line }
    }
}

/// One durable construct of an outline that a store keeps, beside the jobs of a program that may not know their code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredItem {
    /// Which construct it is.
    pub kind: OutlineKind,
    /// Its name, as written; empty where the construct has none, or one that is no literal.
    pub name: String,
    /// Whether it carries a `key = …`, so that it may run more than once.
    pub keyed: bool,
    /// The line in the job's file, counted from 1; 0 where the compiler did not tell.
    pub line: u32,
}

impl From<&OutlineItem> for StoredItem {
    fn from(item: &OutlineItem) -> Self {
        Self { kind: item.kind, name: item.name.to_owned(), keyed: item.keyed, line: item.line }
    }
}

/// The constructs that an outline lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
