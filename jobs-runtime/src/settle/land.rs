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

/// Writes the decision, and answers what became of it: the decision that landed.
///
/// A change that the store refuses is tried without its follow-up, then with a bare failure; a completion whose output
/// is refused becomes a death that says so, since running the body again would repeat its effects.
pub(crate) async fn land(committer: &Committer, subject: Subject<'_>, decision: Decision) -> Decision {
    let Some(change) = decision.change.clone() else { return decision };
    let mut refusal = match attempt(committer, subject.claimed, change, decision).await {
        Ok(landed) => return landed,
        Err(refusal) => refusal,
    };
    while let Some(next) = easier(subject, refusal) {
        let Some(change) = next.change.clone() else { return next };
        refusal = match attempt(committer, subject.claimed, change, next).await {
            Ok(landed) => return landed,
            Err(refusal) => refusal,
        };
    }
    tracing::error!(event = logged::COMMIT_REFUSED, job = %subject.claimed.fence.job, "no form of the job's end was accepted");
    Decision::nothing()
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

/// The next form to try, from the fullest to the barest; `None` when there is none left.
fn easier(subject: Subject<'_>, refusal: Refusal) -> Option<Decision> {
    let Refusal { mut decision, error } = refusal;
    match decision.change.take()? {
        Change::Finish(finish @ Finish { follow_up: Some(_), .. }) => {
            let text = format!("the store refused it: {error}");
            decision.lost_follow_up = Some(Error::new(code::JOB_FOLLOW_UP_INVALID, text));
            decision.change = Some(Change::Finish(Finish { follow_up: None, ..finish }));
        }
        Change::Finish(Finish { state: State::Completed, .. }) => {
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
        Change::Finish(finish) => {
            let bare = bare(finish.failure.as_ref())?;
            decision.failure = Some(bare.clone());
            decision.change = Some(Change::Finish(Finish { failure: Some(bare), ..finish }));
        }
        Change::Reschedule(reschedule) => {
            let bare = bare(reschedule.failure.as_ref())?;
            decision.failure = Some(bare.clone());
            decision.change = Some(Change::Reschedule(Reschedule { failure: Some(bare), ..reschedule }));
        }
        Change::Progress(_) => return None,
    }
    Some(decision)
}

/// A failure that any store can take; `None` if this one already is.
fn bare(failure: Option<&RecordedFailure>) -> Option<RecordedFailure> {
    const TEXT: &str = "the store refused the failure's own text";
    let failure = failure.filter(|failure| failure.operator != TEXT)?;
    Some(RecordedFailure {
        code: code::JOB_FAILED.name.to_owned(),
        operator: TEXT.to_owned(),
        caller_fix: None,
        stop: failure.stop,
    })
}
