//! Tells of a run that has settled: the log event, the reporter, the `on_settled` hook.

use crate::{
    ctx::Ctx,
    driver::Change,
    error::code,
    execute::{Execution, Host, Outcome, panic},
    failure::{RecordedFailure, Stop},
    job::JobDef,
    logged,
    report::{Report, ReportedJob, Severity},
    settle::{self, Decision, Subject},
    settled::Settled,
    state::State,
    task::task,
};
use futures_util::FutureExt;
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

/// How long all tries of a hook may take together.
const HOOK_LIMIT: Duration = Duration::from_secs(10);
/// How often a hook is tried.
const HOOK_TRIES: u32 = 3;

/// Logs the end of a run, reports what failed for good or waits for help, and starts the hook, which holds neither slot nor job.
pub(crate) fn announce(
    host: &Arc<Host>,
    def: &'static JobDef,
    ctx: &Ctx,
    subject: Subject<'_>,
    decision: Decision,
    execution: &Execution,
) {
    log_end(execution, decision.unwound);
    let claimed = subject.claimed;
    let about = |outcome| ReportedJob {
        name: def.spec.name.to_owned(),
        id: claimed.fence.job,
        queue: claimed.queue.clone(),
        tenant: claimed.tenant.clone(),
        attempt: claimed.fence.attempt,
        outcome,
        stop: execution.stop,
    };
    if let Some(error) = &decision.lost_follow_up {
        tracing::error!(event = logged::FOLLOW_UP_FAILED, %error, "a follow-up job was not written");
        host.reporter.report(&Report {
            severity: Severity::Warning,
            code: error.code().name.to_owned(),
            text: error.to_string(),
            job: Some(about(execution.outcome)),
        });
    }
    if let Some(error) = &decision.refused {
        host.reporter.report(&Report {
            severity: Severity::Error,
            code: error.code().name.to_owned(),
            text: format!("the store refused the job's end: {error}"),
            job: Some(about(execution.outcome)),
        });
    }
    if let (Outcome::Dead | Outcome::Dropped | Outcome::Refused | Outcome::Expired, Some(failure)) =
        (execution.outcome, &execution.error)
    {
        host.reporter.report(&ended(failure, about(execution.outcome)));
    }
    match (execution.outcome, &execution.error) {
        (Outcome::Parked, Some(reason)) => host.reporter.parked(reason, about(execution.outcome)),
        _ => host.reporter.went_on(claimed.fence.job),
    }
    if let Some(settled) = seen_by_hook(subject, decision, execution) {
        hook(host, def, ctx, settled, about(execution.outcome));
    }
}

fn ended(failure: &RecordedFailure, job: ReportedJob) -> Report {
    let severity = if failure.stop == Some(Stop::Quarantined) { Severity::Critical } else { Severity::Error };
    Report { severity, code: failure.code.clone(), text: failure.operator.clone(), job: Some(job) }
}

/// A cancellation is no settlement, nor is what did not land.
fn seen_by_hook(subject: Subject<'_>, decision: Decision, execution: &Execution) -> Option<Settled> {
    let Some(Change::Finish(finish)) = decision.change else { return None };
    let told = matches!(finish.state, State::Completed | State::Dead | State::Dropped | State::Expired);
    let landed = !matches!(execution.outcome, Outcome::Stale | Outcome::Cancelled);
    (told && landed).then(|| settle::settled(subject, finish.state, finish.output, finish.failure))
}

fn hook(host: &Arc<Host>, def: &'static JobDef, ctx: &Ctx, settled: Settled, about: ReportedJob) {
    let declared = panic::guard(|| (def.on_settled)(ctx, settled.clone()).is_some());
    if matches!(declared, Ok(false)) {
        return;
    }
    let (reporter, ctx) = (host.reporter.clone(), ctx.clone());
    let hook = host.hooks.track_future(async move {
        let tries = async {
            let mut last = String::new();
            for _ in 0..HOOK_TRIES {
                match once(def, &ctx, settled.clone()).await {
                    Ok(()) => return Ok(()),
                    Err(text) => last = text,
                }
            }
            Err(format!("failed {HOOK_TRIES} times, at last: {last}"))
        };
        let limited = tokio::time::timeout(HOOK_LIMIT, tries).await;
        if let Err(text) = limited.unwrap_or_else(|_| Err("took longer than 10s, the limit".to_owned())) {
            let text = format!("the `on_settled` hook of job `{}` {text}", about.name);
            tracing::error!(event = logged::SETTLED_HOOK_FAILED, job = about.name, id = %about.id, text, "a hook failed");
            let code = code::JOB_SETTLED_HOOK_FAILED.name.to_owned();
            reporter.report(&Report { severity: Severity::Warning, code, text, job: Some(about) });
        }
    });
    tokio::spawn(task(hook));
}

async fn once(def: &'static JobDef, ctx: &Ctx, settled: Settled) -> Result<(), String> {
    let call = async {
        match (def.on_settled)(ctx, settled) {
            Some(hook) => hook.await.map_err(|failure| failure.to_string()),
            None => Ok(()),
        }
    };
    match AssertUnwindSafe(ctx.scope(call)).catch_unwind().await {
        Ok(result) => result,
        Err(payload) => Err(format!("panic: {}", panic::text(payload))),
    }
}

fn log_end(execution: &Execution, unwound: bool) {
    let error = execution.error.as_ref();
    let (code, text) = (error.map(|error| &*error.code), error.map(|error| &*error.operator));
    let millis = execution.duration.as_millis() as u64;
    let wait_millis = execution.resume_after.map(|wait| wait.as_millis() as u64);
    macro_rules! event {
        ($level:ident, $event:expr, $message:literal) => {
            tracing::$level!(event = $event, code, text, millis, wait_millis, $message)
        };
    }
    if unwound {
        match execution.outcome {
            Outcome::Dead if code == Some(code::JOB_COMPENSATION_FAILED.name) => {
                event!(error, logged::UNWIND_FAILED, "the job could not undo all of its steps");
            }
            Outcome::Dead | Outcome::Dropped | Outcome::Cancelled => {
                event!(warn, logged::UNWIND_COMPLETED, "the job has undone its steps");
            }
            Outcome::Retried => {
                return event!(warn, logged::UNWIND_RETRIED, "undoing a step failed; it is tried again");
            }
            _ => {}
        }
    }
    match execution.outcome {
        Outcome::Completed => event!(info, logged::ATTEMPT_COMPLETED, "the job completed"),
        Outcome::Retried => event!(warn, logged::ATTEMPT_FAILED, "the attempt failed; another follows"),
        Outcome::Dead if execution.stop == Some(Stop::Quarantined) => {
            event!(error, logged::JOB_QUARANTINED, "the job is quarantined");
        }
        Outcome::Dead | Outcome::Refused => event!(error, logged::JOB_DEAD, "the job failed for good"),
        Outcome::Dropped => event!(warn, logged::JOB_DROPPED, "the job failed for good and is not kept"),
        Outcome::Cancelled => event!(info, logged::JOB_CANCELLED, "the job was cancelled"),
        Outcome::Expired => event!(warn, logged::JOB_EXPIRED, "the job was not started in time"),
        Outcome::Snoozed => event!(info, logged::ATTEMPT_SNOOZED, "the body asked to run again later"),
        Outcome::Interrupted => event!(info, logged::ATTEMPT_INTERRUPTED, "the run was handed back uncounted"),
        Outcome::Parked if execution.error.is_some() => {
            event!(warn, logged::RUN_STUCK, "the run is parked: it cannot go on by itself");
        }
        Outcome::Parked => event!(debug, logged::RUN_PARKED, "the run is parked until something happens"),
        Outcome::Stale => event!(warn, logged::ATTEMPT_STALE, "the job belongs to another claim: nothing was written"),
    }
}
