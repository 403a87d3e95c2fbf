//! Turns a step's failure into its record and back.

use crate::{
    clock,
    driver::StepRecord,
    error::code,
    execute::panic,
    failure::{self, Failure, RecordedFailure, Stop, Verdict},
};
use chrono::{DateTime, Utc};

/// The failure of a step as it is passed on: one without a code of its own gets the steps'.
pub(super) fn of_step(failure: Failure) -> Failure {
    if failure.code_name() == code::JOB_FAILED.name { failure.code(code::STEP_FAILED.name) } else { failure }
}

/// The failure as it stands in a record. What it asks for stands in `stop`; of the waits, that until a try again is kept by
/// [`due`], and that of a snooze is not: it becomes a plain retry.
pub(super) fn recorded(failure: &Failure) -> RecordedFailure {
    let stop = match failure.asks() {
        Verdict::Terminal => Some(Stop::Terminal),
        Verdict::Cancel => Some(Stop::Cancelled),
        Verdict::Discard => Some(Stop::Discarded),
        Verdict::Backoff | Verdict::After(_) | Verdict::Snooze(_) => None,
    };
    panic::guard(|| failure::record(failure, stop)).unwrap_or_else(|text| {
        let text = format!("the error's own text could not be had, it panicked: {text}");
        failure::record(&Failure::retry(text), stop)
    })
}

/// When a failure that says so wants to be tried again: the time stands in its record.
pub(super) fn due(failure: &Failure, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    match failure.asks() {
        Verdict::After(wait) => Some(clock::after(now, wait)),
        _ => None,
    }
}

/// The failure that the record of a failed step stands for. A time that it named stays the same: what has passed of it is
/// not waited for again.
pub(super) fn of_record(record: &StepRecord, now: DateTime<Utc>) -> Failure {
    let failure = replayed(record.failure.as_ref());
    match (record.due_at, failure.asks()) {
        (Some(due), Verdict::Backoff) => failure.verdict(Verdict::After((due - now).to_std().unwrap_or_default())),
        _ => failure,
    }
}

/// The failure that was recorded.
pub(super) fn replayed(record: Option<&RecordedFailure>) -> Failure {
    let Some(record) = record else {
        return Failure::of(code::STEP_FAILED, Verdict::Backoff, "it failed, and its record does not say how");
    };
    let verdict = match record.stop {
        Some(Stop::Cancelled) => Verdict::Cancel,
        Some(Stop::Discarded) => Verdict::Discard,
        Some(_) => Verdict::Terminal,
        None => Verdict::Backoff,
    };
    let failure = Failure::retry(record.operator.clone()).verdict(verdict).code(record.code.clone());
    match &record.caller_fix {
        Some(fix) => failure.caller_fix(fix.clone()),
        None => failure,
    }
}
