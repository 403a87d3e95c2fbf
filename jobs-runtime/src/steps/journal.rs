//! Writes a run's records and makes sure that they landed. Upstream: all steps. Downstream: `commit`.

use super::run::{Run, Stopped};
use crate::{
    cancel::CancelReason,
    commit::Committer,
    driver::{Change, Fence, StepRecord, StepStatus, StepWrite, Written},
    error::Error,
};
use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

/// Where a run's records go.
#[derive(Clone)]
pub(crate) enum Journal {
    /// To the store, under the claim.
    Store(Committer, Fence),
    /// Nowhere: they are known to this run alone.
    #[cfg_attr(not(feature = "testing"), allow(dead_code, reason = "made by contexts for unit tests alone"))]
    Memory,
    /// Nowhere, and none is made: what is not recorded stays pending.
    Replay,
}

impl Run {
    /// Writes a record. It is durable when this returns.
    ///
    /// A run whose claim is gone never gets here again: it is cancelled, and the future stays pending.
    ///
    /// # Errors
    /// Why the store refused the record.
    pub(super) async fn write(&self, write: StepWrite) -> Result<(), Error> {
        // A body that was left behind has its claim still, which may undo steps by now.
        if self.state().ended {
            return std::future::pending().await;
        }
        self.state().recording = true;
        let written = match self.journal() {
            Journal::Store(committer, fence) => committer.write(*fence, Change::Step(Box::new(write.clone()))).await,
            Journal::Memory | Journal::Replay => Written::Landed,
        };
        self.landed(write, written).await
    }

    /// Does something that the body waits for, and that others of its futures may wait for as well: it goes on where a body
    /// holds the future and does not poll it.
    pub(super) async fn by_itself<T: Send + 'static>(&self, work: BoxFuture<'static, T>) -> T {
        if !matches!(self.journal(), Journal::Store(..)) {
            return work.await;
        }
        let task = AbortOnDropHandle::new(tokio::spawn(work.in_current_span()));
        match task.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(done) => done,
            Err(Ok(payload)) => std::panic::resume_unwind(payload),
            // The runtime ends.
            Err(Err(_)) => std::future::pending().await,
        }
    }

    /// Takes over what became of a record.
    pub(super) async fn landed(&self, write: StepWrite, written: Written) -> Result<(), Error> {
        match written {
            Written::Landed => {
                self.remember(write);
                return Ok(());
            }
            Written::Refused(error) => return Err(error),
            Written::Stale => {
                self.cancel().cancel(CancelReason::LeaseLost);
            }
            // Whether it ends or unwinds is for the store to say, which knows what it was asked for.
            Written::Cancelled => {}
        }
        self.stop_here(Stopped::HandBack(Duration::ZERO)).await
    }

    /// Takes a record over into what the run knows.
    pub(super) fn remember(&self, write: StepWrite) {
        let now = self.now();
        let age = TimeDelta::from_std(write.age).unwrap_or_default();
        let mut state = self.state();
        let former = state.records.remove(&write.id);
        let is_over = !matches!(write.status, StepStatus::Started | StepStatus::Waiting | StepStatus::Tried);
        let record = StepRecord {
            id: write.id.clone(),
            kind: write.kind,
            status: write.status,
            position: former.as_ref().map_or(write.position, |former| former.position),
            attempt: self.attempt(),
            tries: write.tries,
            once: write.once,
            output: write.output,
            failure: write.failure,
            due_at: write.due_at,
            event: write.event,
            child: write.child.map(|child| child.id).or(former.as_ref().and_then(|former| former.child)),
            started_at: former.map_or(now - age, |former| former.started_at),
            finished_at: is_over.then_some(now),
        };
        state.taken.extend(record.event);
        state.records.insert(write.id, record);
    }
}
