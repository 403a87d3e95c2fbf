//! How an error type says what its values ask for: `#[derive(JobError)]` and the classification of a chain of causes.
//! Upstream: the macros. Downstream: `failure`.

use crate::{error::code::Code, failure::Verdict, steps::StepError};
use std::{borrow::Cow, error::Error as StdError};

/// What an error says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// What shall follow the failed attempt.
    pub verdict: Verdict,
    /// The code and its fix, if the error has one.
    pub code: Option<Code>,
}

/// An error that says whether another attempt can mend it, and what a remote caller may learn. `#[derive(JobError)]`
/// writes the implementation.
pub trait JobError: StdError + Send + Sync + 'static {
    /// Every code that a value of this type may have.
    const CODES: &'static [Code];

    /// What this value says of itself; `None` leaves it to its source.
    fn classify(&self) -> Option<Class>;
}

/// An error type that registers itself at link time.
#[doc(hidden)]
#[derive(Debug)]
pub struct DeclaredError {
    codes: &'static [Code],
    classify: fn(&(dyn StdError + 'static)) -> Option<Class>,
}

impl DeclaredError {
    /// The registration of a type.
    #[must_use]
    pub const fn of<E: JobError>() -> Self {
        Self { codes: E::CODES, classify: |error| error.downcast_ref::<E>().and_then(E::classify) }
    }
}

#[cfg(feature = "inventory")]
inventory::collect!(DeclaredError);

fn declared() -> impl Iterator<Item = &'static DeclaredError> {
    #[cfg(feature = "inventory")]
    let found = inventory::iter::<DeclaredError>.into_iter();
    #[cfg(not(feature = "inventory"))]
    let found = std::iter::empty();
    found
}

/// Every code that a linked `#[derive(JobError)]` declares, sorted by name.
pub(crate) fn declared_codes() -> Vec<Code> {
    let mut codes: Vec<Code> = declared().flat_map(|error| error.codes).copied().collect();
    codes.sort_by_key(|code| code.name);
    codes
}

/// How many causes are followed: a chain may be endless.
pub(crate) const MAX_CAUSES: usize = 32;

/// An error and its causes.
pub(crate) fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source()).take(MAX_CAUSES)
}

/// What a failure takes over from one of its causes.
pub(crate) struct Said {
    pub(crate) verdict: Verdict,
    /// The code and its fix, if the error has one.
    pub(crate) code: Option<(Cow<'static, str>, Option<Cow<'static, str>>)>,
}

impl From<Class> for Said {
    fn from(Class { verdict, code }: Class) -> Self {
        let fix = |code: Code| (!code.fix.is_empty()).then_some(Cow::Borrowed(code.fix));
        Self { verdict, code: code.map(|code| (Cow::Borrowed(code.name), fix(code))) }
    }
}

impl From<&StepError> for Said {
    fn from(error: &StepError) -> Self {
        let failure = error.failure();
        let owned = |text: &str| Cow::Owned(text.to_owned());
        Self { verdict: failure.asks(), code: Some((owned(failure.code_name()), failure.fix_for_caller().map(owned))) }
    }
}

/// What the first error of the chain of causes that says anything says: one that derives `JobError`, or the failure of a
/// step.
pub(crate) fn classify(error: &(dyn StdError + 'static)) -> Option<Said> {
    causes(error).find_map(|error| match error.downcast_ref::<StepError>() {
        Some(step) => Some(step.into()),
        None => declared().find_map(|declared| (declared.classify)(error)).map(Said::from),
    })
}
