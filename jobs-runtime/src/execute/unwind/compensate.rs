//! Runs the compensations of a run that unwinds, one after the other.

use super::{super::deadline, Run, Unwinding, rebuild::Rebuilt, stuck};
use crate::{
    cancel::CancelReason,
    driver::{StepRef, StepStatus},
    duration,
    error::code,
    execute::{deadline::Body, panicked},
    failure::{Failure, Verdict},
    json::JsonText,
    saga::{Compensation, Effect, Standing, label},
    settle::{self, Ended},
};
use std::time::Duration;
use tracing::Instrument;

impl Run {
    /// Undoes what is to be undone, the step that started last first. The first that fails ends this claim.
    pub(super) async fn compensate(&self, unwinding: &Unwinding, rebuilt: Rebuilt) -> Result<(), Ended> {
        let Rebuilt { ctx, mut compensations, mut entries } = rebuilt;
        for at in 0..entries.len() {
            let step = entries[at].step.clone();
            let (output, tries) = match &entries[at].standing {
                // What is unknown stopped the run before it came here; of what is lost it is told at the end.
                Standing::Undone | Standing::Skipped | Standing::Unknown | Standing::Lost => continue,
                Standing::Due { effect: Effect::Done(output), tries } => (output.clone(), *tries),
                Standing::Due { effect: Effect::Possible, tries } => (None, *tries),
            };
            let Some(compensation) = compensations.remove(&step) else { continue };
            let spec = compensation.spec;
            let Err(failure) = self.try_one(unwinding, &ctx, compensation, output).await? else {
                self.record(unwinding.undo(&step, at, StepStatus::Done, tries)).await?;
                entries[at].standing = Standing::Undone;
                self.check_time(unwinding)?;
                continue;
            };
            let write = unwinding.undo(&step, at, StepStatus::Tried, tries.saturating_add(1));
            let retry = spec.retry.unwrap_or_else(|| self.own_retry());
            let ended = self.failed_try(write, &failure, retry, |tries, last| {
                let times = if tries == 1 { "once".to_owned() } else { format!("{tries} times, at last") };
                let why = format!("the compensation of {} failed {times}: {}", label(&step), last.operator);
                stuck(unwinding, why, &entries)
            });
            return Err(ended.await);
        }
        // Last, so that what it came to is undone.
        let lost = entries.iter().filter(|entry| entry.standing == Standing::Lost);
        let lost: Vec<String> = lost.map(|entry| label(&entry.step)).collect();
        if lost.is_empty() {
            return Ok(());
        }
        let why = format!("the body did not come to the compensation of {}", lost.join(", "));
        Err(stuck(unwinding, why, &entries))
    }

    /// Runs one compensation. Its failure stands in the inner result.
    async fn try_one(
        &self,
        unwinding: &Unwinding,
        ctx: &crate::Ctx,
        compensation: Compensation,
        output: Option<JsonText>,
    ) -> Result<Result<(), Failure>, Ended> {
        let Compensation { step, spec, run } = compensation;
        let mut bounds = self.bounds(unwinding.began);
        let own = spec.timeout.filter(|own| bounds.timeout.is_none_or(|left| *own < left));
        bounds.timeout = own.or(bounds.timeout);
        let inner = ctx.clone();
        let body = async move { run(inner, output).await };
        let body = ctx.scope(ctx.steps().inside(format!("undo {}", label(&step)), body)).in_current_span();
        let body = deadline::run(body, &unwinding.cancel, &self.host.lost, &bounds).await;
        ctx.progresses().flush().await;
        if matches!(body, Body::Abandoned) {
            self.abandon(&unwinding.cancel);
        }
        match (body, unwinding.cancel.reason()) {
            (_, Some(CancelReason::LeaseLost)) => Err(Ended::Cancelled(CancelReason::LeaseLost)),
            (Body::Ended(Ok(())), _) => Ok(Ok(())),
            (_, Some(CancelReason::Timeout)) => Ok(Err(match own {
                Some(own) => timed_out(&step, own),
                None => settle::timed_out(self.subject()),
            })),
            (_, Some(reason)) => Err(Ended::Cancelled(reason)),
            (Body::Ended(Err(failure)), None) => Ok(Err(failure)),
            (Body::Panicked(text), None) => Ok(Err(panicked(&text))),
            (Body::Dropped | Body::Abandoned, None) => Err(Ended::Cancelled(CancelReason::Drain)),
        }
    }

    /// Whether this claim may go on: a run that is to stop does so between two compensations.
    fn check_time(&self, unwinding: &Unwinding) -> Result<(), Ended> {
        match unwinding.cancel.reason() {
            Some(CancelReason::Timeout) => Err(Ended::HandedBack(Duration::ZERO)),
            Some(reason) => Err(Ended::Cancelled(reason)),
            None if self.bounds(unwinding.began).timeout == Some(Duration::ZERO) => {
                Err(Ended::HandedBack(Duration::ZERO))
            }
            None => Ok(()),
        }
    }
}

fn timed_out(step: &StepRef, timeout: Duration) -> Failure {
    let text = format!("it ran longer than its timeout of {} ({})", duration::format(timeout), label(step));
    Failure::of(code::STEP_TIMEOUT, Verdict::Backoff, text)
}
