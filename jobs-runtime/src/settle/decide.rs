//! Turns how a run ended into the one change that is written about it. Pure but for the jitter.

use super::next::{Next, next, quarantined, record, timed_out};
use crate::{
    cancel::CancelReason,
    client::Jobs,
    driver::{Change, Claimed, Finish, Park, Reschedule},
    error::{Error, code},
    execute::{Outcome, panic},
    failure::{Failure, RecordedFailure, Stop, Verdict},
    json::JsonText,
    logged,
    settled::{Settled, follow_up},
    spec::JobSpec,
    state::State,
};
use std::time::Duration;

/// How long a run waits whose records could not be read.
const UNREAD: Duration = Duration::from_secs(5);

/// How a run ended, before anything is decided.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The body returned `Ok`.
    Returned(Option<JsonText>),
    /// The attempt failed, or the body used a control word.
    Failed(Failure),
    /// The body did not return before its cancellation.
    Cancelled(CancelReason),
    /// The payload belongs to another tenant.
    Refused(Failure),
    /// The job took its worker down as often as its budget allows.
    Quarantined,
    /// The job was not started in time.
    Expired,
    /// It unwound from this failure, and has undone all that it had to.
    Undone(RecordedFailure),
    /// It unwound and cannot go on by itself.
    NotUndone(RecordedFailure),
    /// Undoing a step failed so; it is tried again after the wait.
    UndoAgain(RecordedFailure, Duration),
    /// The body waits.
    Parked(Box<Park>, Option<Duration>),
    /// The run is to begin again after so long, uncounted.
    HandedBack(Duration),
    /// What is recorded of the run could not be read.
    Unread(Error),
}

/// What follows a run.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) outcome: Outcome,
    /// `None` where nothing may be written.
    pub(crate) change: Option<Change>,
    pub(crate) failure: Option<RecordedFailure>,
    pub(crate) stop: Option<Stop>,
    pub(crate) resume_after: Option<Duration>,
    /// Why the declared follow-up could not be built.
    pub(crate) lost_follow_up: Option<Error>,
    /// Why the store refused the end in the forms that were to be written first.
    pub(crate) refused: Option<Error>,
    /// Whether it follows a run that unwound.
    pub(crate) unwound: bool,
}

impl Decision {
    /// Nothing was and nothing may be written.
    pub(crate) fn nothing() -> Self {
        Self {
            outcome: Outcome::Stale,
            change: None,
            failure: None,
            stop: None,
            resume_after: None,
            lost_follow_up: None,
            refused: None,
            unwound: false,
        }
    }
}

/// The job that a decision is about.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) jobs: &'a Jobs,
    pub(crate) spec: &'a JobSpec,
    pub(crate) claimed: &'a Claimed,
}

/// Decides what follows a run of the job.
pub(crate) fn decide(subject: Subject<'_>, ended: Ended) -> Decision {
    match ended {
        Ended::Returned(output) => finish(subject, Outcome::Completed, State::Completed, output, None),
        Ended::Failed(failure) => failed(subject, &failure),
        Ended::Cancelled(reason) => cancelled(subject, reason),
        Ended::Refused(failure) => dead(subject, Outcome::Refused, record(&failure, Stop::Terminal)),
        Ended::Quarantined => dead(subject, Outcome::Dead, quarantined(subject)),
        Ended::Undone(from) if from.stop == Some(Stop::Cancelled) => {
            Decision { unwound: true, ..finish(subject, Outcome::Cancelled, State::Cancelled, None, Some(from)) }
        }
        Ended::Undone(from) => Decision { unwound: true, ..dead(subject, Outcome::Dead, from) },
        Ended::NotUndone(failure) => {
            Decision { unwound: true, ..finish(subject, Outcome::Dead, State::Dead, None, Some(failure)) }
        }
        Ended::UndoAgain(failure, wait) => {
            let decision = again(subject, subject.claimed.fence.attempt, wait, Outcome::Retried, None);
            Decision { unwound: true, failure: Some(failure), ..decision }
        }
        Ended::Parked(park, wait) => parked(park, wait),
        Ended::HandedBack(wait) => again(subject, subject.claimed.fence.attempt, wait, Outcome::Interrupted, None),
        Ended::Unread(error) => {
            tracing::warn!(event = logged::RUN_UNREADABLE, %error, "the run goes back: its steps could not be read");
            again(subject, subject.claimed.fence.attempt, UNREAD, Outcome::Interrupted, None)
        }
        Ended::Expired => {
            let text = "it was not started by the time that `expires_after` allows";
            let failure = record(&Failure::of(code::JOB_EXPIRED, Verdict::Terminal, text), None);
            finish(subject, Outcome::Expired, State::Expired, None, Some(failure))
        }
    }
}

fn failed(subject: Subject<'_>, failure: &Failure) -> Decision {
    let attempt = subject.claimed.fence.attempt;
    match next(subject, failure) {
        Next::Dead(stop) => dead(subject, Outcome::Dead, record(failure, stop)),
        Next::Dropped => {
            finish(subject, Outcome::Dropped, State::Dropped, None, Some(record(failure, Stop::Discarded)))
        }
        Next::Cancelled => {
            finish(subject, Outcome::Cancelled, State::Cancelled, None, Some(record(failure, Stop::Cancelled)))
        }
        Next::Snoozed(wait) => again(subject, attempt, wait, Outcome::Snoozed, None),
        Next::Retried(wait) => {
            again(subject, attempt.saturating_add(1), wait, Outcome::Retried, Some(record(failure, None)))
        }
    }
}

fn cancelled(subject: Subject<'_>, reason: CancelReason) -> Decision {
    match reason {
        CancelReason::Timeout => failed(subject, &timed_out(subject)),
        CancelReason::Drain => {
            again(subject, subject.claimed.fence.attempt, Duration::ZERO, Outcome::Interrupted, None)
        }
        CancelReason::Cancelled | CancelReason::RollBack => {
            let failure = record(&Failure::cancel("it was cancelled while it ran"), Stop::Cancelled);
            finish(subject, Outcome::Cancelled, State::Cancelled, None, Some(failure))
        }
        CancelReason::LeaseLost => Decision::nothing(),
    }
}

/// The end of a job that failed for good: `dead`, or `dropped` where it declares no dead letter.
pub(super) fn dead(subject: Subject<'_>, outcome: Outcome, failure: RecordedFailure) -> Decision {
    if subject.spec.dead_letter {
        return finish(subject, outcome, State::Dead, None, Some(failure));
    }
    let outcome = if outcome == Outcome::Dead { Outcome::Dropped } else { outcome };
    finish(subject, outcome, State::Dropped, None, Some(failure))
}

fn parked(park: Box<Park>, wait: Option<Duration>) -> Decision {
    Decision {
        outcome: Outcome::Parked,
        failure: park.reason.clone(),
        change: Some(Change::Park(park)),
        resume_after: wait,
        ..Decision::nothing()
    }
}

fn finish(
    subject: Subject<'_>,
    outcome: Outcome,
    state: State,
    output: Option<JsonText>,
    failure: Option<RecordedFailure>,
) -> Decision {
    let Subject { jobs, spec, claimed } = subject;
    let settled = settled(subject, state, output.clone(), failure.clone());
    let (follow_up, lost_follow_up) = match panic::guard(|| follow_up(jobs, spec, settled)) {
        Ok(Ok(job)) => (job, None),
        Ok(Err(error)) => (None, Some(error)),
        Err(text) => {
            let text = format!("building the follow-up of `{}` panicked: {text}", spec.name);
            (None, Some(Error::new(code::JOB_FOLLOW_UP_INVALID, text)))
        }
    };
    let follow_up = follow_up.map(|mut job| {
        job.trace = job.trace.or_else(|| claimed.trace.clone());
        Box::new(job)
    });
    let stop = failure.as_ref().and_then(|failure| failure.stop);
    let change = Finish { state, output, failure: failure.clone(), keep: spec.keep, follow_up };
    Decision {
        outcome,
        change: Some(Change::Finish(change)),
        failure,
        stop,
        resume_after: None,
        lost_follow_up,
        refused: None,
        unwound: false,
    }
}

fn again(
    subject: Subject<'_>,
    attempt: u32,
    delay: Duration,
    outcome: Outcome,
    failure: Option<RecordedFailure>,
) -> Decision {
    let change = Reschedule { delay, attempt, failure: failure.clone(), keep: subject.spec.keep };
    Decision {
        outcome,
        change: Some(Change::Reschedule(change)),
        failure,
        stop: None,
        resume_after: Some(delay),
        lost_follow_up: None,
        refused: None,
        unwound: false,
    }
}

/// What settled, as its follow-up and its hook see it.
pub(crate) fn settled(
    subject: Subject<'_>,
    state: State,
    output: Option<JsonText>,
    failure: Option<RecordedFailure>,
) -> Settled {
    Settled {
        id: subject.claimed.fence.job,
        job: subject.spec.name.to_owned(),
        tenant: subject.claimed.tenant.clone(),
        attempt: subject.claimed.fence.attempt,
        state,
        input: subject.claimed.payload.clone(),
        output,
        failure,
    }
}
