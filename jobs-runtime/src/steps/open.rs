//! Opens the record of a durable line of a body: its checks, and what is recorded of it. Upstream: all steps.

use super::{busy::Busy, error::StepError, identity, run::Run, spec::StepSpec};
use crate::{
    driver::{StepKind, StepRecord, StepRef, StepStatus, StepWrite},
    error::code,
    failure::{Failure, Verdict},
};
use tokio::time::Instant;

/// A durable line of the body that has begun.
pub(super) struct Opened {
    /// Its identity, by the name in its record.
    pub(super) id: StepRef,
    pub(super) kind: StepKind,
    /// Its place in the order of starts.
    pub(super) position: u32,
    /// What is recorded of it.
    pub(super) record: Option<StepRecord>,
    /// Keeps the body from being let go of.
    pub(super) busy: Option<Busy>,
    pub(super) began: Instant,
}

impl Opened {
    /// The step as messages call it.
    pub(super) fn label(&self) -> String {
        identity::label(&self.id)
    }

    /// A record of it.
    pub(super) fn write(&self, status: StepStatus) -> StepWrite {
        let mut write = StepWrite::new(self.id.clone(), self.kind, status, self.position);
        write.age = self.began.elapsed();
        write.due_at = self.record.as_ref().and_then(|record| record.due_at);
        write
    }
}

impl Run {
    /// Opens a durable line, before it has any effect.
    ///
    /// A line that is not recorded does not open in a run that is cancelled or only replays: it stays pending.
    ///
    /// # Errors
    /// - `X_STEP_NESTED`, `X_STEP_NAME_INVALID`, `X_STEP_DUPLICATE`, `X_STEP_OUTSIDE_RUN`: all terminal.
    /// - In the second phase of an unwinding, that the step is not complete.
    pub(super) async fn open(&self, kind: StepKind, spec: &StepSpec, key: Option<String>) -> Result<Opened, StepError> {
        let own = StepRef { name: spec.name.to_owned(), key: key.unwrap_or_default() };
        identity::check(&own)?;
        let label = identity::label(&own);
        self.refuse_nested(&label)?;
        let began = Instant::now();
        let (busy, found) = {
            let busy = self.enter(&label)?;
            let id = self.record_of(&own, spec);
            self.begin_once(&own, &id, &label)?;
            (busy, id)
        };
        self.record_failures().await;
        let record = self.state().records.get(&found).cloned();
        let position = match &record {
            Some(record) if record.kind != kind => {
                let what = format!("it is recorded as {}, and is now {}", noun(record.kind), noun(kind));
                return self.mismatch(&label, &what).await;
            }
            Some(record) => record.position,
            None => {
                drop(busy);
                // Of a race that is not decided a replay comes to what its branches have recorded.
                if kind != StepKind::Race || self.goes_forward() {
                    self.stay_unless_forward(&label).await?;
                }
                let busy = self.busy();
                let position = self.state().next_position();
                return Ok(Opened { id: found, kind, position, record: None, busy: Some(busy), began });
            }
        };
        Ok(Opened { id: found, kind, position, record, busy: Some(busy), began })
    }

    /// Stays pending where a step that is not complete may not go on.
    ///
    /// # Errors
    /// In the second phase of an unwinding.
    pub(super) async fn stay_unless_forward(&self, label: &str) -> Result<(), StepError> {
        let is_stopped = self.state().stop.is_some();
        if !is_stopped && self.goes_forward() && self.cancel().reason().is_none() {
            return Ok(());
        }
        self.state().frontier.push(label.to_owned());
        self.halt().await;
        let text = "the run undoes its steps, and this one was not complete";
        Err(StepError::new(label, Failure::of(code::JOB_CANCELLED, Verdict::Cancel, text)))
    }

    fn enter(&self, label: &str) -> Result<Busy, StepError> {
        if self.state().ended {
            let text = format!("step `{label}` was begun after its run had ended");
            return Err(StepError::new(label, Failure::of(code::STEP_OUTSIDE_RUN, Verdict::Terminal, text)));
        }
        Ok(self.busy())
    }

    /// The identity of the record: by the step's own name, or by an older one.
    fn record_of(&self, own: &StepRef, spec: &StepSpec) -> StepRef {
        let state = self.state();
        if state.records.contains_key(own) {
            return own.clone();
        }
        let older = spec.aliases.iter().map(|name| StepRef { name: (*name).to_owned(), key: own.key.clone() });
        older.into_iter().find(|id| state.records.contains_key(id)).unwrap_or_else(|| own.clone())
    }

    fn begin_once(&self, own: &StepRef, found: &StepRef, label: &str) -> Result<(), StepError> {
        let mut state = self.state();
        let mut is_first = state.begun.insert(own.clone());
        if found != own {
            is_first &= state.begun.insert(found.clone());
            state.renamed.insert(own.clone(), found.clone());
        }
        drop(state);
        if is_first {
            return Ok(());
        }
        let text = "the run has begun a step of this name and key already: in a loop or a fn that is called twice, tell \
                    them apart with `key = …`";
        Err(StepError::new(label, Failure::of(code::STEP_DUPLICATE, Verdict::Terminal, text)))
    }

    /// Records the failures that the body was given: it goes on after them, so that each replay of this attempt must
    /// give them again.
    async fn record_failures(&self) {
        if !self.goes_forward() {
            return;
        }
        if let Ok(_turn) = self.settling().try_lock()
            && self.state().failures.is_empty()
        {
            return;
        }
        let run = self.clone();
        self.by_itself(Box::pin(async move { run.settle_failures().await })).await;
    }

    async fn settle_failures(&self) {
        let _turn = self.settling().lock().await;
        loop {
            let Some(write) = self.state().failures.first().cloned() else { return };
            let bare = StepWrite { failure: None, ..write.clone() };
            let id = write.id.clone();
            if self.write(write).await.is_err() {
                let _ = self.write(bare).await;
            }
            // Only now: whoever waits for this may be dropped half-way.
            self.state().failures.retain(|failure| failure.id != id);
        }
    }
}

/// What a kind of record is called.
fn noun(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Step => "a step",
        StepKind::StepTx => "a transactional step",
        StepKind::Sleep => "a sleep",
        StepKind::Wait => "a wait",
        StepKind::Spawn => "a child",
        StepKind::Race => "a race",
        StepKind::Value => "a value",
        StepKind::Patch => "a patch",
        StepKind::Pivot => "a pivot",
        StepKind::Undo => "a compensation",
        StepKind::Unwind => "the decision to unwind",
        StepKind::Requeue => "a requeue",
    }
}
