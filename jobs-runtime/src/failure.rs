//! Why an attempt failed and what shall follow: the control words for job authors, and the two-audience record.

mod line;
mod record;
mod secret;

pub use record::{CallerFailure, MAX_OPERATOR, RecordedFailure, Stop, record};

use crate::{
    error::Error,
    error::code::{self, Code},
    failure_class::{Said, causes, classify},
};
use std::{borrow::Cow, error::Error as StdError, fmt, time::Duration};

/// What an attempt's failure asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// Try again after the job's backoff, while attempts remain. Errors without a class do this.
    #[default]
    Backoff,
    /// Try again after this long, while attempts remain.
    After(Duration),
    /// Never try again: the job is dead at once.
    Terminal,
    /// Run again after this long without counting an attempt.
    Snooze(Duration),
    /// End as `cancelled`: not a failure.
    Cancel,
    /// End as `dropped`, whatever `dead_letter` says.
    Discard,
}

/// A failed attempt: a cause for the operator, a code and a fix for the caller, and what shall follow.
///
/// Any error type that implements `std::error::Error` becomes one with `?`. It does not implement `Error` itself.
///
/// # Examples
/// ```
/// use jobs_runtime::Failure;
/// fn parse(text: &str) -> Result<u64, Failure> {
///     Ok(text.parse::<u64>()?)
/// }
/// assert!(parse("x").is_err());
/// let refused = Failure::terminal("the card was declined").code("X_CARD_DECLINED").caller_fix("use another card");
/// # let _ = refused;
/// ```
pub struct Failure(Box<Inner>);

struct Inner {
    verdict: Verdict,
    code: Cow<'static, str>,
    caller_fix: Option<Cow<'static, str>>,
    cause: Cause,
}

enum Cause {
    Text(String),
    Error(Box<dyn StdError + Send + Sync>),
}

impl Failure {
    /// A failure that is retried with the job's backoff.
    #[must_use]
    pub fn retry(cause: impl Into<String>) -> Self {
        Self::text(Verdict::Backoff, cause)
    }

    /// A failure that is retried after the given wait.
    #[must_use]
    pub fn retry_after(wait: Duration, cause: impl Into<String>) -> Self {
        Self::text(Verdict::After(wait), cause)
    }

    /// A failure that no attempt can mend: the job is dead at once.
    #[must_use]
    pub fn terminal(cause: impl Into<String>) -> Self {
        Self::text(Verdict::Terminal, cause)
    }

    /// Not a failure: run again after the given wait, without counting an attempt.
    #[must_use]
    pub fn snooze(wait: Duration) -> Self {
        Self::text(Verdict::Snooze(wait), "snoozed")
    }

    /// Not a failure: the job ends as cancelled.
    #[must_use]
    pub fn cancel(reason: impl Into<String>) -> Self {
        Self::text(Verdict::Cancel, reason).code(code::JOB_CANCELLED.name)
    }

    /// A failure that ends the job as dropped, without a dead letter.
    #[must_use]
    pub fn discard(reason: impl Into<String>) -> Self {
        Self::text(Verdict::Discard, reason)
    }

    /// A failure with the given cause. The first error of its chain that derives `JobError`, or is a
    /// [`StepError`](crate::StepError), says what shall follow; without one the job is retried with its backoff, under
    /// the code of the first [`Error`] of the chain.
    #[must_use]
    pub fn from_error(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let cause = cause.into();
        let said = classify(&*cause);
        let failure = Self(Box::new(Inner {
            verdict: Verdict::Backoff,
            code: Cow::Borrowed(code::JOB_FAILED.name),
            caller_fix: None,
            cause: Cause::Error(cause),
        }));
        match said {
            Some(said) => failure.said(said),
            None => failure.code_of_ours(),
        }
    }

    /// Takes over the code of the first error of this library in the chain of causes.
    fn code_of_ours(mut self) -> Self {
        let ours = self.cause().and_then(|error| causes(error).find_map(|error| error.downcast_ref::<Error>()));
        if let Some(code) = ours.map(Error::code) {
            self.0.code = Cow::Borrowed(code.name);
        }
        self
    }

    /// Takes over what an error says of itself.
    pub(crate) fn said(mut self, said: impl Into<Said>) -> Self {
        let Said { verdict, code } = said.into();
        self.0.verdict = verdict;
        if let Some((code, fix)) = code {
            self.0.code = code;
            self.0.caller_fix = fix;
        }
        self
    }

    /// Sets the code that a remote caller may learn. It must be registered to be shown to one.
    #[must_use]
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.0.code = code.into();
        self
    }

    /// Sets what a remote caller can do about it.
    #[must_use]
    pub fn caller_fix(mut self, fix: impl Into<Cow<'static, str>>) -> Self {
        self.0.caller_fix = Some(fix.into());
        self
    }

    /// Sets what shall follow.
    #[must_use]
    pub fn verdict(mut self, verdict: Verdict) -> Self {
        self.0.verdict = verdict;
        self
    }

    /// What shall follow.
    #[must_use]
    pub fn asks(&self) -> Verdict {
        self.0.verdict
    }

    /// The code.
    #[must_use]
    pub fn code_name(&self) -> &str {
        &self.0.code
    }

    /// The fix for a remote caller.
    #[must_use]
    pub fn fix_for_caller(&self) -> Option<&str> {
        self.0.caller_fix.as_deref()
    }

    /// The cause, if it is an error.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        match &self.0.cause {
            Cause::Error(error) => Some(&**error),
            Cause::Text(_) => None,
        }
    }

    pub(crate) fn of(code: Code, verdict: Verdict, cause: impl Into<String>) -> Self {
        Self::text(verdict, cause).code(code.name)
    }

    fn text(verdict: Verdict, cause: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            verdict,
            code: Cow::Borrowed(code::JOB_FAILED.name),
            caller_fix: None,
            cause: Cause::Text(cause.into()),
        }))
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::from_error(error)
    }
}

/// The chain of causes, joined by `: `.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.cause {
            Cause::Text(text) => f.write_str(text),
            Cause::Error(error) => {
                write!(f, "{error}")?;
                causes(&**error).skip(1).try_for_each(|cause| write!(f, ": {cause}"))
            }
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({}, {:?})", self.0.code, self.0.verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, Verdict};
    use crate::{failure_class::classify, steps::StepError};
    use std::{error::Error as StdError, fmt};

    #[derive(Debug)]
    struct Outer(Box<dyn StdError + Send + Sync>);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the order could not be placed")
        }
    }

    impl StdError for Outer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&*self.0)
        }
    }

    fn declined() -> StepError {
        let failure = Failure::terminal("the card was declined").code("X_CARD_DECLINED").caller_fix("use another card");
        StepError::new("charge", failure)
    }

    #[test]
    fn the_failure_of_a_step_keeps_its_verdict_code_and_fix_in_whatever_error_it_is_passed_on() {
        for failure in [Failure::from(declined()), Failure::from(Outer(Box::new(Outer(Box::new(declined())))))] {
            assert_eq!(failure.asks(), Verdict::Terminal);
            assert_eq!(failure.code_name(), "X_CARD_DECLINED");
            assert_eq!(failure.fix_for_caller(), Some("use another card"));
            assert!(failure.to_string().ends_with("step `charge`: the card was declined"), "{failure}");
        }
    }

    #[test]
    fn an_error_that_says_nothing_of_itself_is_not_classified() {
        assert!(classify(&fmt::Error).is_none());
    }
}
