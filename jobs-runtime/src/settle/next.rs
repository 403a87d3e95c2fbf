//! Says what a failed attempt leads to: another one, or the end, and whether a saga unwinds from it. Pure but for the
//! jitter.

use super::decide::{Ended, Subject};
use crate::{
    cancel::CancelReason,
    duration,
    error::code,
    execute::panic,
    failure::{self, Failure, RecordedFailure, Stop, Verdict},
};
use std::time::Duration;

/// What follows a failed attempt.
pub(super) enum Next {
    /// The job failed for good.
    Dead(Stop),
    Dropped,
    Cancelled,
    Snoozed(Duration),
    Retried(Duration),
}

/// What follows an attempt that failed so.
pub(super) fn next(subject: Subject<'_>, failure: &Failure) -> Next {
    let Subject { spec, claimed, .. } = subject;
    let attempt = claimed.fence.attempt;
    let wait = match failure.asks() {
        Verdict::Terminal => return Next::Dead(Stop::Terminal),
        Verdict::Discard => return Next::Dropped,
        Verdict::Cancel => return Next::Cancelled,
        Verdict::Snooze(wait) => return Next::Snoozed(wait),
        Verdict::After(wait) => wait,
        Verdict::Backoff => claimed.overrides.backoff.unwrap_or(spec.retry.backoff).jittered(attempt, fastrand::f64()),
    };
    if attempt >= claimed.overrides.max_attempts.unwrap_or(spec.retry.max_attempts) {
        return Next::Dead(Stop::AttemptsExhausted);
    }
    Next::Retried(wait)
}

/// What a saga unwinds from, if this end is one that it unwinds from: a failure for good, or a request to roll back. One
/// that was not started in time, belongs to another tenant, or discards or cancels itself is no such end.
pub(crate) fn unwinds_from(subject: Subject<'_>, ended: &Ended) -> Option<RecordedFailure> {
    let for_good = |failure: &Failure| match next(subject, failure) {
        Next::Dead(stop) => Some(record(failure, stop)),
        Next::Dropped | Next::Cancelled | Next::Snoozed(_) | Next::Retried(_) => None,
    };
    match ended {
        Ended::Failed(failure) => for_good(failure),
        Ended::Cancelled(CancelReason::Timeout) => for_good(&timed_out(subject)),
        Ended::Cancelled(CancelReason::RollBack) => Some(RecordedFailure::rolled_back()),
        Ended::Quarantined => Some(quarantined(subject)),
        _ => None,
    }
}

/// The failure of a job whose crash budget is spent.
pub(super) fn quarantined(subject: Subject<'_>) -> RecordedFailure {
    let text = format!(
        "the process that ran it ended {} times without leaving a failure: abort, stack overflow, out of memory or a \
         kill",
        subject.claimed.crashes
    );
    record(&Failure::of(code::JOB_QUARANTINED, Verdict::Terminal, text), Stop::Quarantined)
}

/// The failure of an attempt whose time was up.
pub(crate) fn timed_out(subject: Subject<'_>) -> Failure {
    let Subject { spec, claimed, .. } = subject;
    let timeout = claimed.overrides.timeout.or(spec.timeout).unwrap_or_default();
    let text = format!("the attempt ran longer than its timeout of {}", duration::format(timeout));
    Failure::of(code::JOB_TIMEOUT, Verdict::Backoff, text)
}

/// The failure as it stands on the row. A cause whose own text panics is named so.
pub(crate) fn record(failure: &Failure, stop: impl Into<Option<Stop>>) -> RecordedFailure {
    let stop = stop.into();
    panic::guard(|| failure::record(failure, stop)).unwrap_or_else(|text| {
        let text = format!("the error's own text could not be had, it panicked: {text}");
        failure::record(&Failure::retry(text), stop)
    })
}
