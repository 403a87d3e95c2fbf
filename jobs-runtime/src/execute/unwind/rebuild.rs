//! Replays the body of a run that unwinds, for the compensations that it registers. No step runs.

use super::{super::deadline, Run, Unwinding};
use crate::{
    cancel::CancelReason,
    ctx::Ctx,
    driver::{StepKind, StepRecord, StepRef, StepStatus, StepWrite},
    execute::{context, deadline::Body, panicked},
    failure::Failure,
    outline::{OutlineItem, OutlineKind},
    saga::{self, Compensation, Entry, Standing},
    settle::{self, Ended},
    steps::{Driven, Journal, Mode, Quiesce, Stopped},
};
use std::collections::HashMap;
use tracing::Instrument;

/// How often a replay that is stuck behind incomplete steps is helped on.
const ROUNDS: usize = 100;

/// What a replay gave.
pub(super) struct Rebuilt {
    pub(super) ctx: Ctx,
    /// The compensations, by the names in the records of their steps.
    pub(super) compensations: HashMap<StepRef, Compensation>,
    /// What was to be undone from the start, in order.
    pub(super) entries: Vec<Entry>,
}

/// Why a replay gave nothing.
enum Broken {
    /// The claim ends so.
    Ended(Ended),
    /// It failed, and is tried again.
    Failed(Failure),
}

impl Run {
    /// Replays the body up to its first incomplete step. It may return or panic there: it is unwinding all the same.
    pub(super) async fn rebuild(&self, unwinding: &Unwinding) -> Result<Rebuilt, Ended> {
        let failure = match self.replay(unwinding).await {
            Ok(rebuilt) => return Ok(rebuilt),
            Err(Broken::Ended(ended)) => return Err(ended),
            Err(Broken::Failed(failure)) => failure,
        };
        let decided = unwinding.records.iter().find(|record| record.kind == StepKind::Unwind);
        let (position, tries) = decided.map_or((0, 0), |record| (record.position, record.tries));
        let id = StepRef { name: String::new(), key: String::new() };
        let mut write = StepWrite::new(id, StepKind::Unwind, StepStatus::Done, position);
        (write.tries, write.failure) = (tries.saturating_add(1), Some(unwinding.from.clone()));
        let ended = self.failed_try(write, &failure, self.own_retry(), |tries, last| {
            let why = format!("the body could not be replayed, {tries} times, at last: {}", last.operator);
            self.stuck(unwinding, why)
        });
        Err(ended.await)
    }

    async fn replay(&self, unwinding: &Unwinding) -> Result<Rebuilt, Broken> {
        let prepared = self.prepare().and_then(|prepared| self.check_tenant(&prepared).map(|()| prepared));
        let prepared = prepared.map_err(|ended| match ended {
            Ended::Failed(failure) | Ended::Refused(failure) => Broken::Failed(failure),
            ended => Broken::Ended(ended),
        })?;
        let ctx = context(&self.host, self.def, &self.claimed, &unwinding.cancel, Mode::Unwind, Journal::Replay);
        ctx.steps().load(unwinding.records.clone());
        let outline = self.def.spec.outline;
        let records = unwinding.records.clone();
        let body = ctx.clone().scope((prepared.body)(ctx.clone()));
        let replay = {
            let ctx = ctx.clone();
            async move {
                let steps = ctx.steps().clone();
                let mut body = Quiesce::new(Box::pin(body), steps.clone());
                let mut driven = body.settle().await;
                for _ in 0..ROUNDS {
                    let plan = || saga::plan(&records, &registered(&ctx), |step| is_lost(outline, &ctx, step));
                    let is_stuck = matches!(driven, Driven::Halted | Driven::Waits(_));
                    let is_lost = is_stuck && plan().iter().any(|entry| entry.standing == Standing::Lost);
                    if !is_lost || !steps.release() {
                        break;
                    }
                    driven = body.settle().await;
                }
                body.let_go();
                match driven {
                    Driven::Stopped(stopped) => Some(stopped),
                    Driven::Returned(_) | Driven::Halted | Driven::Waits(_) => None,
                }
            }
        };
        let bounds = self.bounds(unwinding.began);
        let body = deadline::run(replay.in_current_span(), &unwinding.cancel, &self.host.lost, &bounds).await;
        ctx.steps().end();
        ctx.progresses().flush().await;
        if matches!(body, Body::Abandoned) {
            self.abandon(&unwinding.cancel);
        }
        match (body, unwinding.cancel.reason()) {
            (_, Some(CancelReason::Timeout)) => return Err(Broken::Failed(settle::timed_out(self.subject()))),
            (_, Some(reason)) => return Err(Broken::Ended(Ended::Cancelled(reason))),
            (Body::Dropped | Body::Abandoned, None) => {
                return Err(Broken::Ended(Ended::Cancelled(CancelReason::Drain)));
            }
            (Body::Ended(Some(Stopped::Park(reason, again))), None) => {
                return Err(Broken::Ended(self.park(ctx.steps().park_for(reason, again))));
            }
            (Body::Ended(Some(Stopped::HandBack(wait))), None) => {
                return Err(Broken::Ended(Ended::HandedBack(wait)));
            }
            // Without an outline nobody knows what it did not come to: a compensation could be passed over in silence.
            (Body::Panicked(text), None) if self.compensated().next().is_none() && has_unreached(unwinding, &ctx) => {
                return Err(Broken::Failed(panicked(&text)));
            }
            (Body::Ended(Some(Stopped::Fail(_)) | None) | Body::Panicked(_), None) => {}
        }
        let entries = saga::plan(&unwinding.records, &registered(&ctx), |step| is_lost(outline, &ctx, step));
        let named = |compensation: Compensation| (ctx.steps().recorded_as(&compensation.step), compensation);
        let compensations = ctx.compensations().take().into_iter().map(named).collect();
        Ok(Rebuilt { ctx, compensations, entries })
    }
}

/// Whether there are steps that are done and that the replay did not come to.
fn has_unreached(unwinding: &Unwinding, ctx: &Ctx) -> bool {
    let unreached = ctx.steps().unreached();
    let is_done = |record: &&StepRecord| {
        matches!(record.kind, StepKind::Step | StepKind::StepTx) && record.status == StepStatus::Done
    };
    unwinding.records.iter().filter(is_done).any(|record| unreached.contains(&record.id))
}

/// The steps whose compensations are registered, by the names in their records, and whether each is `always`.
fn registered(ctx: &Ctx) -> HashMap<StepRef, bool> {
    let all = ctx.compensations().registered();
    all.into_iter().map(|(step, always)| (ctx.steps().recorded_as(&step), always)).collect()
}

/// Whether the body has a compensation for a step that is done, but the replay did not come so far as to say whether the
/// step has one: it came neither past it, nor to anything that stands behind.
fn is_lost(outline: &[OutlineItem], ctx: &Ctx, step: &StepRef) -> bool {
    let step = ctx.steps().called(step);
    let compensates = |item: &OutlineItem| item.kind == OutlineKind::Compensate && item.name == step.name;
    let Some(at) = outline.iter().position(compensates) else {
        // Without an outline nobody knows whether the line has one.
        let is_told = outline.iter().any(|item| item.kind == OutlineKind::Compensate);
        return !is_told && ctx.steps().is_unfit(&step);
    };
    let is_behind = |item: &OutlineItem| match item.kind {
        OutlineKind::Compensate => ctx.compensations().has_name(item.name),
        _ => ctx.steps().has_begun(item.name),
    };
    !ctx.steps().has_begun(&step.name) || !outline[at + 1..].iter().any(is_behind)
}
