//! Every code that a remote caller may learn: ours, and those that `#[derive(JobError)]` declares.

use super::code::{self, Code};
use crate::{
    error::Error,
    failure_class::{JobError, declared_codes},
};
use std::collections::BTreeMap;

/// Registered codes, by name.
#[derive(Debug, Clone)]
pub struct Codes(BTreeMap<&'static str, Code>);

impl Codes {
    /// The codes of this library.
    #[must_use]
    pub fn own() -> Self {
        Self(code::ALL.iter().map(|code| (code.name, *code)).collect())
    }

    /// The codes of this library and of every error type that registered itself at link time. Where two types declare
    /// one code differently, the first stands; building a [`Registry`](crate::Registry) refuses it.
    #[must_use]
    pub fn linked() -> Self {
        let mut codes = Self::own();
        codes.add_all(&declared_codes(), &mut Vec::new());
        codes
    }

    /// Adds the codes of an error type.
    ///
    /// # Errors
    /// `X_DECLARATION_INVALID` if a code is one of this library's, or is declared with another title or fix.
    pub fn with<E: JobError>(mut self) -> Result<Self, Error> {
        let mut findings = Vec::new();
        self.add_all(E::CODES, &mut findings);
        match findings.is_empty() {
            true => Ok(self),
            false => Err(Error::new(code::DECLARATION_INVALID, findings.join("; "))),
        }
    }

    /// Finds a code.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Code> {
        self.0.get(name).copied()
    }

    /// The codes, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = Code> + '_ {
        self.0.values().copied()
    }

    pub(crate) fn add_all(&mut self, declared: &[Code], findings: &mut Vec<String>) {
        for code in declared {
            match self.0.get(code.name) {
                None => {
                    self.0.insert(code.name, *code);
                }
                Some(_) if code::ALL.contains(code) => {
                    findings.push(format!("the code `{}` is one of this library's own", code.name));
                }
                Some(other) if other.title != code.title || other.fix != code.fix => {
                    findings.push(format!("the code `{}` is declared twice, with another title or fix", code.name));
                }
                Some(_) => {}
            }
        }
    }
}

impl Default for Codes {
    fn default() -> Self {
        Self::own()
    }
}
