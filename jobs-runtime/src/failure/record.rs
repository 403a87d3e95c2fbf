//! Writes a failure down for two audiences: one line of text for the operator, a registered code for a remote caller.
//! Upstream: `settle`. Downstream: `driver`, and whatever shows a failure to somebody.

use super::{Failure, line, secret};
use crate::{
    error::{Codes, code},
    failure_class::causes,
};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

/// The longest operator's text, in bytes.
pub const MAX_OPERATOR: usize = 4 * 1024;
/// The longest fix for a caller, in bytes.
const MAX_FIX: usize = 512;
/// The longest code, in bytes.
const MAX_CODE: usize = 100;
/// How much of one cause's own text is looked at.
const MAX_CAUSE: usize = 64 * 1024;

/// Why a job that failed gets no further attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The error said that no attempt can mend it.
    Terminal,
    /// The last attempt failed.
    AttemptsExhausted,
    /// The job took its process down as often as its crash budget allows.
    Quarantined,
    /// The body asked to be discarded.
    Discarded,
    /// Somebody cancelled it, or the body asked for it.
    Cancelled,
}

/// A failure as it stands on the job's row, in one column per audience.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFailure {
    /// The code. Shown to a remote caller only if it is registered.
    pub code: String,
    /// The operator's text: one line, control characters escaped, at most 4 KiB.
    pub operator: String,
    /// What a remote caller can do about it, as the error declared it.
    pub caller_fix: Option<String>,
    /// Why no further attempt follows, if none does.
    pub stop: Option<Stop>,
}

/// What a remote caller may learn of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallerFailure {
    /// A registered code, or `X_INTERNAL`.
    pub code: &'static str,
    /// What the caller can do about it, as the error declared it.
    pub caller_fix: Option<String>,
}

/// Writes a failure down.
///
/// - The operator's text is the chain of causes, none repeated, on one line: control characters and those that reorder
///   or hide text are escaped, passwords in connection strings are masked, and what is longer than 4 KiB is cut.
/// - A code that is not of the form `X_…` becomes `X_JOB_FAILED`.
///
/// # Examples
/// ```
/// use jobs_runtime::failure::{Failure, record};
/// let recorded = record(&Failure::retry("no answer from\npostgres://app:s3cret@db/shop"), None);
/// assert_eq!(recorded.operator, r"no answer from\npostgres://app:***@db/shop");
/// assert_eq!(recorded.code, "X_JOB_FAILED");
/// ```
#[must_use]
pub fn record(failure: &Failure, stop: Option<Stop>) -> RecordedFailure {
    let name = failure.code_name();
    RecordedFailure {
        code: if is_code(name) { name } else { code::JOB_FAILED.name }.to_owned(),
        operator: line::single(&chain(failure), MAX_OPERATOR),
        caller_fix: failure.fix_for_caller().map(|fix| line::single(&secret::masked(fix, false), MAX_FIX)),
        stop,
    }
}

impl RecordedFailure {
    /// The failure that a job unwinds from which was cancelled.
    #[must_use]
    pub fn rolled_back() -> Self {
        Self {
            code: code::JOB_CANCELLED.name.to_owned(),
            operator: "the job was cancelled and undoes its steps".to_owned(),
            caller_fix: None,
            stop: Some(Stop::Cancelled),
        }
    }

    /// The failure of a step of which somebody says that it did not take effect.
    #[must_use]
    pub(crate) fn resolved(text: &str) -> Self {
        Self {
            code: code::STEP_FAILED.name.to_owned(),
            operator: line::single(&secret::masked(text, false), MAX_OPERATOR),
            caller_fix: None,
            stop: Some(Stop::Terminal),
        }
    }

    /// What a remote caller may learn: the code and its fix where the code is registered, else `X_INTERNAL` and no
    /// fix. Nothing of the operator's text gets there.
    #[must_use]
    pub fn for_caller(&self, codes: &Codes) -> CallerFailure {
        match codes.get(&self.code) {
            Some(known) => CallerFailure { code: known.name, caller_fix: self.caller_fix.clone() },
            None => CallerFailure { code: code::INTERNAL.name, caller_fix: None },
        }
    }
}

/// The texts of the causes, joined by `: `. A text that an earlier one ends with or holds is left out: many errors
/// print their source themselves.
fn chain(failure: &Failure) -> String {
    let Some(error) = failure.cause() else { return text_of(failure) };
    let mut chain = String::new();
    for cause in causes(error).map(text_of) {
        if chain.len() > MAX_CAUSE {
            break;
        }
        if chain.is_empty() {
            chain = cause;
        } else if !chain.contains(&cause) {
            chain.push_str(": ");
            chain.push_str(&cause);
        }
    }
    chain
}

/// The text of one cause, masked, as far as it is looked at.
fn text_of<T: fmt::Display + ?Sized>(cause: &T) -> String {
    let mut text = Bounded { text: String::new(), is_full: false };
    // An error's text may fail to be written; what was written so far stands.
    let _ = write!(text, "{cause}");
    secret::masked(&text.text, text.is_full)
}

/// Takes text up to a limit and refuses the rest.
struct Bounded {
    text: String,
    is_full: bool,
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_CAUSE - self.text.len();
        let end = text.floor_char_boundary(room.min(text.len()));
        self.text.push_str(&text[..end]);
        self.is_full = end < text.len();
        if self.is_full { Err(fmt::Error) } else { Ok(()) }
    }
}

fn is_code(name: &str) -> bool {
    name.len() <= MAX_CODE
        && name.strip_prefix("X_").is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
        })
}
