//! Gathers everything that is wrong with the jobs of a process, so that it is reported at once.

use crate::{
    enqueue::check,
    error::{Error, code},
    job::JobDef,
    name,
    spec::{Hold, Keep},
};
use std::{fmt::Display, time::Duration};

/// What is wrong.
#[derive(Default)]
pub(super) struct Findings {
    taken: Vec<String>,
    pub(super) broken: Vec<String>,
}

impl Findings {
    /// Two jobs share a name.
    pub(super) fn taken(&mut self, name: &str, one: &JobDef, other: &JobDef) {
        let (one, other) = (one.spec.place, other.spec.place);
        self.taken.push(format!("the name `{name}` is taken by two jobs, at {one} and at {other}"));
    }

    /// A job has a name twice.
    pub(super) fn repeated(&mut self, job: &JobDef, name: &str) {
        self.breaks(job, format_args!("its alias `{name}` is a name that it has already"));
    }

    /// Checks one declaration: what was built by hand may break any rule.
    pub(super) fn check(&mut self, job: &JobDef) {
        let spec = &job.spec;
        for text in [spec.name, spec.queue].iter().chain(spec.aliases) {
            if let Err(error) = name::check(text) {
                self.breaks(job, format_args!("`{}`: {error}", text.escape_debug()));
            }
        }
        if spec.version == 0 || spec.version > i16::MAX as u16 {
            self.breaks(job, "its version must be 1 to 32767");
        }
        if spec.crash_budget == 0 {
            self.breaks(job, "its crash budget must be at least 1");
        }
        for checked in [check::attempts(spec.retry.max_attempts), check::backoff(&spec.retry.backoff)] {
            if let Err(error) = checked {
                self.breaks(job, error.detail());
            }
        }
        let hold = match spec.unique.map(|unique| unique.hold) {
            Some(Hold::For(period)) => Some(period),
            _ => None,
        };
        let keep = match spec.keep {
            Keep::For(age) => Some(age),
            Keep::None => None,
        };
        let spans: [(&str, Option<Duration>); 4] =
            [("timeout", spec.timeout), ("expires_after", spec.expires_after), ("unique", hold), ("keep", keep)];
        for (option, span) in spans {
            if let Some(Err(error)) = span.map(|span| check::span(option, span)) {
                self.breaks(job, error.detail());
            }
        }
    }

    fn breaks(&mut self, job: &JobDef, what: impl Display) {
        self.broken.push(format!("job `{}` at {}: {what}", job.spec.name, job.spec.place));
    }

    pub(super) fn into_result(self) -> Result<(), Error> {
        let code = match (self.taken.is_empty(), self.broken.is_empty()) {
            (true, true) => return Ok(()),
            (false, _) => code::JOB_NAME_TAKEN,
            (true, false) => code::DECLARATION_INVALID,
        };
        let mut all = self.taken;
        all.extend(self.broken);
        all.dedup();
        Err(Error::new(code, all.join("; ")))
    }
}
