//! Tells a reporter such as Sentry's of what went wrong for good. Upstream: `settle`, `worker`.

use crate::{error::code::Code, execute::Outcome, failure::Stop, id::JobId, logged};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// How much a report matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something was lost or is at risk that no retry mends: a failed hook, an unwritten follow-up.
    Warning,
    /// A job failed for good, or a background loop of the worker failed.
    Error,
    /// A job took its process down until it was quarantined.
    Critical,
}

/// Something that went wrong for good.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// How much it matters.
    pub severity: Severity,
    /// The code: one of this library's or of the job's own.
    pub code: String,
    /// The operator's text: one line.
    pub text: String,
    /// The job that it is about, if it is about one.
    pub job: Option<ReportedJob>,
}

/// The job that a report is about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportedJob {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: JobId,
    /// The queue.
    pub queue: String,
    /// The tenant.
    pub tenant: Option<String>,
    /// The attempt, from 1.
    pub attempt: u32,
    /// How the run ended.
    pub outcome: Outcome,
    /// Why no further attempt follows.
    pub stop: Option<Stop>,
}

type Callback = dyn Fn(&Report) + Send + Sync;

/// The worker's reporter. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Reporter(Option<Arc<Callback>>);

impl Reporter {
    pub(crate) fn new(report: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(report)))
    }

    /// Hands the report over. A reporter that panics is logged, and harms nothing.
    pub(crate) fn report(&self, report: &Report) {
        let Some(reporter) = &self.0 else { return };
        if catch_unwind(AssertUnwindSafe(|| reporter(report))).is_err() {
            tracing::error!(event = logged::REPORTER_FAILED, code = report.code, "the reporter panicked");
        }
    }

    /// Reports what is about no job.
    pub(crate) fn worker(&self, code: Code, text: String) {
        self.report(&Report { severity: Severity::Error, code: code.name.to_owned(), text, job: None });
    }
}
