//! Waits for a time that stays as it was first recorded. Upstream: the macros. Downstream: `pend`.

use super::{
    open::Opened,
    run::{Journal, Run, Stopped},
    spec::StepSpec,
};
use crate::{
    clock,
    ctx::Ctx,
    driver::{StepKind, StepStatus},
    duration,
};
use chrono::{DateTime, Utc};
use std::time::Duration;

/// Sleeps for so long, from the time of the first call.
pub async fn sleep(ctx: &Ctx, spec: &'static StepSpec, key: Option<String>, time: Duration) {
    let run = ctx.steps();
    let due = |now| clock::after(now, time.min(duration::MAX));
    run.sleep(spec, key, due).await;
}

/// Sleeps until a time.
pub async fn sleep_until(ctx: &Ctx, spec: &'static StepSpec, key: Option<String>, time: DateTime<Utc>) {
    ctx.steps().sleep(spec, key, |now| time.min(clock::after(now, duration::MAX))).await;
}

impl Run {
    async fn sleep(&self, spec: &StepSpec, key: Option<String>, due: impl FnOnce(DateTime<Utc>) -> DateTime<Utc>) {
        let opened = match self.open(StepKind::Sleep, spec, key).await {
            Ok(opened) => opened,
            // In the second phase of an unwinding it is over: what comes after it may register compensations.
            Err(_) if !self.goes_forward() => return,
            // It answers no `Result`, so that the failure is the run's.
            Err(error) => {
                self.stop(Stopped::Fail(crate::failure::Failure::from_error(error)));
                return std::future::pending().await;
            }
        };
        self.sleep_opened(opened, due).await;
    }

    async fn sleep_opened(&self, mut opened: Opened, due: impl FnOnce(DateTime<Utc>) -> DateTime<Utc>) {
        let is_recorded = opened.record.is_some();
        let due = match &opened.record {
            Some(record) if record.status == StepStatus::Done => return self.state().replayed += 1,
            Some(record) => record.due_at.unwrap_or_else(|| self.now()),
            None => due(self.now()),
        };
        if due <= self.now() || !matches!(self.journal(), Journal::Store(..)) && self.goes_forward() {
            let mut state = self.state();
            if is_recorded {
                state.replayed += 1
            } else {
                state.run += 1
            }
            return;
        }
        let mut waiting = opened.write(StepStatus::Waiting);
        waiting.due_at = Some(due);
        opened.busy = None;
        if !self.goes_forward() {
            let _ = self.stay_unless_forward(&opened.label()).await;
            return;
        }
        self.until(due, (!is_recorded).then(|| waiting.clone())).await;
        // It ended without the run being parked. What is not recorded would begin anew in a replay.
        opened.busy = Some(self.busy());
        waiting.status = StepStatus::Done;
        let _ = self.write(waiting).await;
        self.state().run += 1;
    }
}
