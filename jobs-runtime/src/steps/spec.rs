//! What is declared at a step and at a compensation. Upstream: the macros.

use crate::{duration, name, spec::Retry};
use std::time::Duration;

/// The declaration of one durable construct of a body: a step, a wait, a sleep. Built in a `const` by the macros.
#[derive(Debug, Clone, Copy)]
pub struct StepSpec {
    /// The durable name.
    pub name: &'static str,
    /// Older names whose records this step still takes.
    pub aliases: &'static [&'static str],
    /// Whether it must not run twice by itself.
    pub once: bool,
    /// The longest that one try may take. Default: no limit.
    pub timeout: Option<Duration>,
    /// Tries of its own and the waits between them. Default: one try.
    pub retry: Option<Retry>,
}

impl StepSpec {
    /// A declaration with every default.
    ///
    /// # Panics
    /// In a `const` context, at compile time, if the name is not 1 to 200 bytes of text.
    #[must_use]
    #[track_caller]
    pub const fn new(name: &'static str) -> Self {
        Self { name: name::step(name), aliases: &[], once: false, timeout: None, retry: None }
    }

    /// Adds older names whose records this step still takes.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Says that it must not run twice by itself.
    #[must_use]
    pub const fn once(self) -> Self {
        Self { once: true, ..self }
    }

    /// Sets the longest that one try may take.
    ///
    /// # Panics
    /// In a `const` context, at compile time, if the text is no duration.
    #[must_use]
    #[track_caller]
    pub const fn timeout(self, timeout: &str) -> Self {
        Self { timeout: Some(duration::must(timeout)), ..self }
    }

    /// Sets tries of its own and the waits between them.
    #[must_use]
    pub const fn retry(self, retry: Retry) -> Self {
        Self { retry: Some(retry), ..self }
    }
}

/// The declaration of a compensation. Built in a `const` by `compensate!`.
#[derive(Debug, Clone, Copy)]
pub struct UndoSpec {
    /// The step that it undoes.
    pub step: &'static str,
    /// Whether it also runs, with `None`, for a step that began and left no result.
    pub always: bool,
    /// The longest that one try may take. Default: no limit.
    pub timeout: Option<Duration>,
    /// Tries and the waits between them. Default: the job's own.
    pub retry: Option<Retry>,
}

impl UndoSpec {
    /// A declaration with every default.
    ///
    /// # Panics
    /// In a `const` context, at compile time, if the name is not 1 to 200 bytes of text.
    #[must_use]
    #[track_caller]
    pub const fn new(step: &'static str) -> Self {
        Self { step: name::step(step), always: false, timeout: None, retry: None }
    }

    /// Says that it also runs for a step that began and left no result.
    #[must_use]
    pub const fn always(self) -> Self {
        Self { always: true, ..self }
    }

    /// Sets the longest that one try may take.
    ///
    /// # Panics
    /// In a `const` context, at compile time, if the text is no duration.
    #[must_use]
    #[track_caller]
    pub const fn timeout(self, timeout: &str) -> Self {
        Self { timeout: Some(duration::must(timeout)), ..self }
    }

    /// Sets tries and the waits between them.
    #[must_use]
    pub const fn retry(self, retry: Retry) -> Self {
        Self { retry: Some(retry), ..self }
    }
}
