//! The one error of the API: what was refused or failed, under which stable code, and how to fix it.
//! Control words for job authors (retry, snooze, cancel) are apart, in [`failure`](crate::failure).

pub mod code;
mod codes;

pub use codes::Codes;

use code::Code;
use std::{error::Error as StdError, fmt};

/// An opaque error with a stable [`code`](Error::code), a text that names the thing and the limit, and a fix.
///
/// # Examples
/// ```
/// use jobs_runtime::{Error, error::code};
/// let error = Error::new(code::QUEUE_NAME_INVALID, "queue `Mail Out` is not a name");
/// assert_eq!(error.code().name, "X_QUEUE_NAME_INVALID");
/// assert!(error.is_refused() && !error.is_unavailable());
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    code: Code,
    detail: String,
    fix: Option<String>,
    index: Option<usize>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// Makes an error of a code with what happened in this case: lower case, no final dot.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Inner { code, detail: detail.into(), fix: None, index: None, source: None }))
    }

    /// Replaces the code's general fix by one for this case.
    #[must_use]
    pub fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.0.fix = Some(fix.into());
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Names the item of a batch that was refused, counted from 0.
    #[must_use]
    pub fn at_index(mut self, index: usize) -> Self {
        self.0.index = Some(index);
        self
    }

    /// The same error without the item's number: of a call about one job.
    pub(crate) fn without_index(mut self) -> Self {
        self.0.index = None;
        self
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What happened, without fix and code.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// What to do about it.
    #[must_use]
    pub fn fix(&self) -> &str {
        self.0.fix.as_deref().unwrap_or(self.0.code.fix)
    }

    /// The item of a batch that was refused, counted from 0.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        self.0.index
    }

    /// Whether the store could not be reached or did not answer: trying again later may succeed.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.0.code == code::STORE_UNAVAILABLE
    }

    /// Whether the call was refused for what it asked, so that trying again unchanged is of no use.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.is_unavailable() && self.0.code != code::STORE_FAILED
    }

    /// Whether a job of the same unique key stands in the way (`on_conflict = reject`).
    #[must_use]
    pub fn is_duplicate(&self) -> bool {
        self.0.code == code::JOB_DUPLICATE
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(index) = self.0.index {
            write!(f, "item {index}: ")?;
        }
        write!(f, "{}; fix: {} ({})", self.0.detail, self.fix(), self.0.code.name)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        if let Some(source) = &self.0.source {
            write!(f, "; caused by: {source}")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
