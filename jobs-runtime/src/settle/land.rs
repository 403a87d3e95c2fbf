//! Writes a decision; what the store refuses is written in a form that it can take, so that no end is ever lost.

use super::decide::{Decision, Subject, dead};
use crate::{
    commit::Committer,
    driver::{Change, Claimed, Finish, Reschedule, Written},
    error::{Error, code},
    execute::Outcome,
    failure::{RecordedFailure, Stop},
    logged,
    state::State,
};
use std::time::Duration;

/// Writes the decision, and answers what became of it: the decision that landed.
///
/// A change that the store refuses is tried without its follow-up, then with a bare failure; a completion whose output
/// is refused becomes a death that says so, since running the body again would repeat its effects. An end that is refused
/// in all these forms is tried as a bare death, and at last the job is handed back, uncounted, to run again later. What
/// is refused even then stays held, until the worker finds that no run of its own knows of the job and hands it back.
pub(crate) async fn land(committer: &Committer, subject: Subject<'_>, decision: Decision) -> Decision {
    let Some(change) = decision.change.clone() else { return decision };
    let mut refusal = match attempt(committer, subject.claimed, change, decision).await {
        Ok(landed) => return landed,
        Err(refusal) => refusal,
    };
    loop {
        let next = match easier(subject, refusal) {
            Ok(next) => next,
            Err(error) => {
                let job = subject.claimed.fence.job;
                tracing::error!(event = logged::COMMIT_REFUSED, %job, %error, "no form of the job's end was accepted");
                return Decision { refused: Some(error), ..Decision::nothing() };
            }
        };
        let Some(change) = next.change.clone() else { return next };
        refusal = match attempt(committer, subject.claimed, change, next).await {
            Ok(landed) => return landed,
            Err(refusal) => refusal,
        };
    }
}

struct Refusal {
    decision: Decision,
    error: Error,
}

async fn attempt(
    committer: &Committer,
    claimed: &Claimed,
    change: Change,
    mut decision: Decision,
) -> Result<Decision, Refusal> {
    match committer.write(claimed.fence, change).await {
        Written::Landed => Ok(decision),
        Written::Cancelled => {
            decision.outcome = Outcome::Cancelled;
            decision.stop = Some(Stop::Cancelled);
            decision.resume_after = None;
            Ok(decision)
        }
        Written::Stale => {
            decision.outcome = Outcome::Stale;
            decision.resume_after = None;
            Ok(decision)
        }
        Written::Refused(error) => Err(Refusal { decision, error }),
    }
}

/// How long a job waits whose end was refused in every form.
const REFUSED: Duration = Duration::from_secs(60);

/// The next form to try, from the fullest to the barest.
///
/// # Errors
/// Why the last one was refused, where there is none left.
fn easier(subject: Subject<'_>, refusal: Refusal) -> Result<Decision, Error> {
    let Refusal { mut decision, error } = refusal;
    match decision.change.take() {
        Some(Change::Finish(finish @ Finish { follow_up: Some(_), .. })) => {
            let text = format!("the store refused it: {error}");
            decision.lost_follow_up = Some(Error::new(code::JOB_FOLLOW_UP_INVALID, text));
            decision.change = Some(Change::Finish(Finish { follow_up: None, ..finish }));
        }
        Some(Change::Finish(Finish { state: State::Completed, .. })) => {
            let failure = RecordedFailure {
                code: code::JOB_OUTPUT_INVALID.name.to_owned(),
                operator: "the body completed and the store refused its output".to_owned(),
                caller_fix: None,
                stop: Some(Stop::Terminal),
            };
            // A follow-up that was refused once is not built again: this form has to land.
            let lost = decision.lost_follow_up.take();
            decision = dead(subject, Outcome::Dead, failure);
            decision.lost_follow_up = lost.or(decision.lost_follow_up);
        }
        Some(Change::Finish(finish)) => {
            let Some(bare) = barer(finish.failure.as_ref()) else {
                return Ok(last_resort(subject, finish, decision, error));
            };
            decision.failure = Some(bare.clone());
            decision.change = Some(Change::Finish(Finish { failure: Some(bare), ..finish }));
        }
        Some(Change::Reschedule(reschedule)) => {
            let Some(failure) = reschedule.failure.as_ref().filter(|_| decision.refused.is_none()) else {
                return Err(error);
            };
            let bare = barer(Some(failure));
            decision.failure.clone_from(&bare);
            decision.change = Some(Change::Reschedule(Reschedule { failure: bare, ..reschedule }));
        }
        // What it waits for is found anew when the run begins again.
        Some(Change::Park(park)) => {
            decision.outcome = Outcome::Interrupted;
            decision.resume_after = Some(REFUSED);
            decision.change = Some(Change::Reschedule(Reschedule {
                delay: REFUSED,
                attempt: subject.claimed.fence.attempt,
                failure: None,
                keep: park.keep,
            }));
            decision.refused = Some(error);
        }
        Some(Change::Progress(_) | Change::Step(_) | Change::Unwind(_)) | None => return Err(error),
    }
    Ok(decision)
}

/// What follows an end that was refused with a bare failure too: a bare death, then no end at all.
fn last_resort(subject: Subject<'_>, finish: Finish, mut decision: Decision, error: Error) -> Decision {
    if finish.state == State::Dead {
        let Subject { spec, claimed, .. } = subject;
        decision.outcome = Outcome::Interrupted;
        decision.stop = None;
        decision.resume_after = Some(REFUSED);
        let attempt = claimed.fence.attempt;
        decision.change =
            Some(Change::Reschedule(Reschedule { delay: REFUSED, attempt, failure: None, keep: spec.keep }));
    } else {
        decision.outcome = Outcome::Dead;
        decision.change = Some(Change::Finish(Finish { state: State::Dead, output: None, ..finish }));
    }
    decision.refused = Some(error);
    decision
}

/// What stands in place of a text that the store refused.
const BARE: &str = "the store refused the failure's own text";

/// A failure that any store can take; `None` if this one already is.
fn barer(failure: Option<&RecordedFailure>) -> Option<RecordedFailure> {
    failure.filter(|failure| failure.operator != BARE).map(bare)
}

/// The failure without its texts.
pub(crate) fn bare(failure: &RecordedFailure) -> RecordedFailure {
    RecordedFailure {
        code: code::JOB_FAILED.name.to_owned(),
        operator: BARE.to_owned(),
        caller_fix: None,
        stop: failure.stop,
    }
}
