//! What an operator says about a run that cannot go on by itself, or that is to be undone.

use super::{Cancelled, Jobs, refuse_or};
use crate::{
    driver::{Operation, Resolution, StepRecord, StepRef},
    error::Error,
    id::JobId,
};

impl Jobs {
    /// Cancels a job and has it undo its steps, the last one first; its children before it. It ends as `cancelled` once
    /// they are undone.
    ///
    /// - A waiting job becomes ready and unwinds, a running one is told within a second: no further step begins.
    /// - A waiting job that has recorded nothing is cancelled at once.
    /// - A job that unwinds already goes on with it.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND` if no job of that id is stored; `X_JOB_STATE_REFUSED` if it has ended already, or is past its
    /// `pivot!`.
    pub async fn roll_back(&self, job: JobId) -> Result<Cancelled, Error> {
        refuse_or(job, self.driver().roll_back(job).await?, "rolled back")
    }

    /// Answers for a `once` step whose outcome is unknown, or that failed. Name the step by its name, or by name and key:
    /// `("charge", key)`.
    ///
    /// - A suspended job becomes ready and goes on with the answer.
    /// - A dead one stays dead until it is [resumed](Self::resume) or [requeued](Self::requeue).
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND`; `X_JOB_STATE_REFUSED` for a job that runs, is ready, or has ended other than dead;
    /// `X_STEP_NOT_FOUND` if it has no such step, or its outcome is known and fits the code.
    pub async fn resolve_step(
        &self,
        job: JobId,
        step: impl Into<StepRef>,
        resolution: Resolution,
    ) -> Result<(), Error> {
        self.driver().operate(job, Operation::Resolve(step.into(), resolution)).await
    }

    /// Has a dead job that undid some of its steps go on with it, every compensation with all of its tries. Or makes a
    /// suspended job ready now, to look again whether it can go on.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND`; `X_JOB_STATE_REFUSED` for a job in any other state, also for a dead one that did not unwind.
    pub async fn resume(&self, job: JobId) -> Result<(), Error> {
        self.driver().operate(job, Operation::Resume).await
    }

    /// Says that a step of a dead job is not to be undone. [Resume](Self::resume) it afterwards.
    ///
    /// # Errors
    /// As [`mark_undone`](Self::mark_undone).
    pub async fn skip_undo(&self, job: JobId, step: impl Into<StepRef>) -> Result<(), Error> {
        self.driver().operate(job, Operation::SkipUndo(step.into())).await
    }

    /// Says that a step of a dead job was undone by hand. [Resume](Self::resume) it afterwards.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND`; `X_JOB_STATE_REFUSED` for a job that is not dead, or did not unwind; `X_STEP_NOT_FOUND` if it has
    /// no such step, or it is undone already.
    pub async fn mark_undone(&self, job: JobId, step: impl Into<StepRef>) -> Result<(), Error> {
        self.driver().operate(job, Operation::MarkUndone(step.into())).await
    }

    /// Lists what a run has recorded, by the order of starts: of a live or dead job, and of one in the history.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn steps(&self, job: JobId) -> Result<Vec<StepRecord>, Error> {
        self.driver().steps(job).await
    }
}
