//! Validates the names of jobs and queues and the text of keys and tenants, once for compile time and for run time.

use std::fmt;

/// The longest name of a job or queue, in bytes.
pub const MAX_NAME: usize = 100;
/// The longest unique key, in bytes of the caller's own text.
pub const MAX_KEY: usize = 200;
/// The longest name of a step, in bytes.
pub const MAX_STEP: usize = 200;
/// The longest tenant, in bytes.
pub const MAX_TENANT: usize = 128;

/// Why a text is not a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameError {
    /// The text is empty.
    Empty,
    /// The text is longer than [`MAX_NAME`] bytes.
    TooLong,
    /// The text holds a character other than `a-z`, `0-9`, `_`, `.` and `-`.
    Character,
}

impl NameError {
    /// Says what is wrong and what would be right.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Empty => "a name is empty: use 1 to 100 of the characters a-z, 0-9, `_`, `.`, `-`",
            Self::TooLong => "a name is longer than 100 bytes, the limit",
            Self::Character => "a name holds a character other than a-z, 0-9, `_`, `.`, `-`",
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for NameError {}

/// Checks the name of a job or queue: 1 to 100 of the characters `a-z`, `0-9`, `_`, `.`, `-`.
///
/// # Errors
/// [`NameError`] says which rule the text breaks.
///
/// # Examples
/// ```
/// use jobs_runtime::name::{NameError, check};
/// assert_eq!(check("mail.send"), Ok(()));
/// assert_eq!(check("Mail"), Err(NameError::Character));
/// ```
pub const fn check(text: &str) -> Result<(), NameError> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(NameError::Empty);
    }
    if bytes.len() > MAX_NAME {
        return Err(NameError::TooLong);
    }
    let mut at = 0;
    while at < bytes.len() {
        if !matches!(bytes[at], b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-') {
            return Err(NameError::Character);
        }
        at += 1;
    }
    Ok(())
}

/// Passes a declared name through, where a bad one stops the build.
///
/// # Panics
/// In a `const` context, at compile time, with the text of the [`NameError`].
#[must_use]
#[track_caller]
pub const fn must(text: &'static str) -> &'static str {
    match check(text) {
        Ok(()) => text,
        Err(error) => panic!("{}", error.message()),
    }
}

/// Passes the declared name of a step, a wait or another durable construct through, where a bad one stops the build: 1
/// to 200 bytes of text that is not blank and holds no NUL.
///
/// # Panics
/// In a `const` context, at compile time, where the text is none.
#[must_use]
#[track_caller]
pub const fn step(text: &'static str) -> &'static str {
    assert!(!text.as_bytes().trim_ascii().is_empty(), "the name of a step is blank: use 1 to 200 bytes of text");
    assert!(text.len() <= MAX_STEP, "the name of a step is longer than 200 bytes, the limit");
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        assert!(bytes[at] != 0, "the name of a step holds a NUL: leave it out");
        at += 1;
    }
    text
}
