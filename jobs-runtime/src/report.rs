//! Tells a reporter such as Sentry's of what went wrong for good. Upstream: `settle`, `worker`.

use crate::{
    error::code::{self, Code},
    execute::Outcome,
    failure::{RecordedFailure, Stop},
    id::JobId,
    logged,
};
use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

/// How much a report matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something was lost or is at risk that no retry mends: a failed hook, an unwritten follow-up, a run that waits for a
    /// person or for another release.
    Warning,
    /// A job failed for good, or a background loop of the worker failed.
    Error,
    /// A job took its process down until it was quarantined.
    Critical,
}

/// Something that went wrong for good, or that waits for somebody.
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

/// Of how many jobs it is kept that their mismatch is told. Past it, some are told of again.
const KEPT: usize = 10_000;

/// The worker's reporter. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Reporter {
    callback: Option<Arc<Callback>>,
    /// The jobs that were told of as parked under `X_STEP_MISMATCH`, and park anew each minute.
    mismatched: Arc<Mutex<HashSet<JobId>>>,
}

impl Reporter {
    pub(crate) fn new(report: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        Self { callback: Some(Arc::new(report)), mismatched: Arc::default() }
    }

    /// Hands the report over. A reporter that panics is logged, and harms nothing.
    pub(crate) fn report(&self, report: &Report) {
        let Some(reporter) = &self.callback else { return };
        if catch_unwind(AssertUnwindSafe(|| reporter(report))).is_err() {
            tracing::error!(event = logged::REPORTER_FAILED, code = report.code, "the reporter panicked");
        }
    }

    /// Reports a run that is parked until somebody helps. A mismatch, which is tried each minute, is reported once until
    /// the run gets past it.
    pub(crate) fn parked(&self, reason: &RecordedFailure, job: ReportedJob) {
        if reason.code == code::STEP_MISMATCH.name {
            let mut told = self.mismatched.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() >= KEPT {
                told.clear();
            }
            if !told.insert(job.id) {
                return;
            }
        }
        let (code, text) = (reason.code.clone(), reason.operator.clone());
        self.report(&Report { severity: Severity::Warning, code, text, job: Some(job) });
    }

    /// A run came to something else than a park that needs help: a mismatch of later is told of.
    pub(crate) fn went_on(&self, job: JobId) {
        self.mismatched.lock().unwrap_or_else(PoisonError::into_inner).remove(&job);
    }

    /// Reports what is about no job.
    pub(crate) fn worker(&self, code: Code, text: String) {
        self.report(&Report { severity: Severity::Error, code: code.name.to_owned(), text, job: None });
    }
}
