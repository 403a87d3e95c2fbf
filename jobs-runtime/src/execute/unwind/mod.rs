//! Undoes the steps of a job that failed for good, or is rolled back. Upstream: `execute`. Downstream: `saga`, `settle`.
//!
//! The decision is durable first. Then, in the same claim and in each that follows: the children; the replay, which
//! registers the compensations anew; the compensations, that of the step which started last first. Each is recorded, so
//! that whatever interrupts a claim, the next one goes on from there.

mod children;
mod compensate;
mod rebuild;

use super::{Run, load};
use crate::{
    cancel::{Cancel, CancelReason},
    driver::{Change, Stage, StepKind, StepRecord, StepRef, StepStatus, StepWrite, Unwind, Written},
    failure::{Failure, RecordedFailure},
    logged,
    outline::OutlineKind,
    saga::{self, Account, After, Entry, Standing, label},
    settle::{self, Ended},
    spec::Retry,
};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// How long a run waits for which the store refused a record.
const REFUSED: Duration = Duration::from_secs(60);

/// One claim's part of an unwinding, as its stages pass it on.
struct Unwinding {
    cancel: Cancel,
    records: Vec<StepRecord>,
    /// What it unwinds from.
    from: RecordedFailure,
    began: Instant,
}

impl Run {
    /// Has a run that ended undo its steps, if that is how it ended.
    pub(super) async fn undo(&mut self, ended: Ended) -> Ended {
        let Some(from) = settle::unwinds_from(self.subject(), &ended) else { return ended };
        let rolls_back = matches!(ended, Ended::Cancelled(CancelReason::RollBack));
        if !self.has_to_undo(rolls_back) {
            return ended;
        }
        if self.is_past_pivot() {
            // Past its pivot a run goes forward, whoever wants it back.
            return if rolls_back { Ended::HandedBack(Duration::ZERO) } else { ended };
        }
        if let Err(ended) = self.decide_to_unwind(&from).await {
            return ended;
        }
        let (code, text) = (&*from.code, &*from.operator);
        tracing::warn!(event = logged::UNWIND_STARTED, code, text, "the job undoes its steps");
        self.unwind().await
    }

    /// Whether there is anything to undo, and the job knows how. One that is rolled back undoes at least its children.
    fn has_to_undo(&self, rolls_back: bool) -> bool {
        let has_recorded = self.claimed.stage != Stage::Fresh || self.ctx.steps().has_recorded();
        let is_saga = || !self.ctx.compensations().is_empty() || self.compensated().next().is_some();
        has_recorded && (rolls_back || is_saga())
    }

    /// The names of the steps for which the job's own body has a compensation.
    fn compensated(&self) -> impl Iterator<Item = &'static str> {
        let is_compensation = |item: &&crate::outline::OutlineItem| item.kind == OutlineKind::Compensate;
        self.def.spec.outline.iter().filter(is_compensation).map(|item| item.name)
    }

    fn is_past_pivot(&self) -> bool {
        self.claimed.stage == Stage::PastPivot || self.ctx.steps().records().iter().any(is_pivot)
    }

    /// Makes the decision durable: from here on no step runs forward, whatever becomes of this process.
    async fn decide_to_unwind(&self, from: &RecordedFailure) -> Result<(), Ended> {
        let mut unwind = Unwind { failure: from.clone(), records: self.ctx.steps().take_failures() };
        let mut written = self.write(Change::Unwind(Box::new(unwind.clone()))).await;
        if let Written::Refused(error) = &written {
            tracing::error!(event = logged::COMMIT_REFUSED, %error, "the decision to unwind is written without its texts");
            unwind.records.iter_mut().for_each(|record| record.failure = None);
            unwind.failure = settle::bare(from);
            written = self.write(Change::Unwind(Box::new(unwind))).await;
        }
        landed(written)
    }

    /// Goes on with the undoing in this claim.
    pub(super) async fn unwind(&mut self) -> Ended {
        let began = Instant::now();
        let cancel = match self.cancel.unwinding() {
            Ok(cancel) => cancel,
            Err(reason) => return Ended::Cancelled(reason),
        };
        let records = match load::steps(&self.host.jobs, self.claimed.fence.job).await {
            Ok(records) => records,
            Err(error) => return Ended::Unread(error),
        };
        let decided = records.iter().find(|record| record.kind == StepKind::Unwind);
        let from = decided.and_then(|record| record.failure.clone()).or_else(|| self.claimed.failure.clone());
        let from = from.unwrap_or_else(RecordedFailure::rolled_back);
        let mut unwinding = Unwinding { cancel, records, from, began };
        let ended = match self.stages_of_unwinding(&mut unwinding).await {
            Ok(()) => Ended::Undone(unwinding.from),
            Err(ended) => ended,
        };
        self.duration += began.elapsed();
        ended
    }

    async fn stages_of_unwinding(&mut self, unwinding: &mut Unwinding) -> Result<(), Ended> {
        // A pivot whose record landed after its future was dropped: nothing is undone behind it.
        if unwinding.records.iter().any(is_pivot) {
            return Ok(());
        }
        self.check_crashes(unwinding)?;
        self.check_unknown(unwinding)?;
        self.undo_children(unwinding).await?;
        let rebuilt = self.rebuild(unwinding).await?;
        self.compensate(unwinding, rebuilt).await
    }

    /// A job that takes its process down while it undoes its steps does not do so for ever.
    fn check_crashes(&self, unwinding: &Unwinding) -> Result<(), Ended> {
        let crashes = self.claimed.crashes;
        if self.claimed.stage != Stage::Unwinding || crashes < self.def.spec.crash_budget {
            return Ok(());
        }
        Err(self.stuck(unwinding, format!("the process that ran it ended {crashes} times while it undid its steps")))
    }

    /// Whether an unknown step is to be undone, only a person can say.
    fn check_unknown(&self, unwinding: &Unwinding) -> Result<(), Ended> {
        let unknown = saga::unknown(&unwinding.records);
        if unknown.is_empty() {
            return Ok(());
        }
        let why = format!("nobody knows whether {} took effect: resolve it, then resume", unknown.join(", "));
        Err(self.stuck(unwinding, why))
    }

    /// The end of a run that cannot go on by itself, before its compensations are known: those of its outline are taken
    /// for granted.
    fn stuck(&self, unwinding: &Unwinding, why: String) -> Ended {
        let names: Vec<&str> = self.compensated().collect();
        let is_compensated = |step: &StepRef| names.is_empty() || names.contains(&&*step.name);
        let entries = saga::plan(&unwinding.records, &HashMap::new(), is_compensated);
        stuck(unwinding, why, &entries)
    }

    /// What follows a try that failed: it is counted in its record, and the run goes back, or it has come to its end.
    async fn failed_try(
        &self,
        mut write: StepWrite,
        failure: &Failure,
        retry: Retry,
        give_up: impl FnOnce(u32, &RecordedFailure) -> Ended,
    ) -> Ended {
        let after = saga::after(failure.asks(), write.tries, retry, fastrand::f64());
        let recorded = settle::record(failure, None);
        if let After::Uncounted(wait) = after {
            return Ended::UndoAgain(recorded, wait);
        }
        if write.kind == StepKind::Undo {
            write.failure = Some(recorded.clone());
        }
        let tries = write.tries;
        if let Err(ended) = self.record(write).await {
            return ended;
        }
        match after {
            After::Again(wait) | After::Uncounted(wait) => Ended::UndoAgain(recorded, wait),
            After::Spent => give_up(tries, &recorded),
        }
    }

    /// The tries and waits of what declares none of its own: the job's.
    fn own_retry(&self) -> Retry {
        let (overrides, retry) = (&self.claimed.overrides, self.def.spec.retry);
        Retry {
            max_attempts: overrides.max_attempts.unwrap_or(retry.max_attempts),
            backoff: overrides.backoff.unwrap_or(retry.backoff),
        }
    }

    /// Writes a record. One whose text the store refuses is written without it.
    async fn record(&self, write: StepWrite) -> Result<(), Ended> {
        let mut written = self.write(Change::Step(Box::new(write.clone()))).await;
        if matches!(written, Written::Refused(_)) && write.kind == StepKind::Undo && write.failure.is_some() {
            let bare = StepWrite { failure: None, ..write };
            written = self.write(Change::Step(Box::new(bare))).await;
        }
        landed(written)
    }

    async fn write(&self, change: Change) -> Written {
        self.host.committer.write(self.claimed.fence, change).await
    }
}

impl Unwinding {
    /// A record of the compensation of a step, which is the `at`-th of this claim and of which so many tries failed.
    fn undo(&self, step: &StepRef, at: usize, status: StepStatus, tries: u32) -> StepWrite {
        let last = self.records.iter().map(|record| record.position).max().unwrap_or(0);
        let position = last.saturating_add(1).saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        StepWrite { tries, ..StepWrite::new(step.clone(), StepKind::Undo, status, position) }
    }
}

/// The end of a run that cannot go on by itself.
fn stuck(unwinding: &Unwinding, why: String, entries: &[Entry]) -> Ended {
    let of = |wanted: fn(&Standing) -> bool| {
        entries.iter().filter(|entry| wanted(&entry.standing)).map(|entry| label(&entry.step)).collect()
    };
    let account = Account {
        why,
        original: &unwinding.from,
        undone: of(|standing| matches!(standing, Standing::Undone)),
        skipped: of(|standing| matches!(standing, Standing::Skipped)),
        not_undone: of(|standing| matches!(standing, Standing::Due { .. } | Standing::Unknown | Standing::Lost)),
    };
    Ended::NotUndone(account.record())
}

fn is_pivot(record: &StepRecord) -> bool {
    record.kind == StepKind::Pivot
}

fn landed(written: Written) -> Result<(), Ended> {
    match written {
        Written::Landed => Ok(()),
        Written::Stale => Err(Ended::Cancelled(CancelReason::LeaseLost)),
        Written::Cancelled | Written::Refused(_) => Err(Ended::HandedBack(REFUSED)),
    }
}
