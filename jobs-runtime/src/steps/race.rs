//! Decides a race once and for all replays. Upstream: the macros.

use super::{error::StepError, open::Opened, output, run::Run, spec::StepSpec};
use crate::{
    ctx::Ctx,
    driver::{StepKind, StepStatus},
    failure::Failure,
    json::JsonText,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A race between the branches of `race!`.
pub struct Race {
    run: Run,
    opened: Opened,
    winner: Option<u32>,
}

/// What is recorded of a race.
#[derive(Serialize, Deserialize)]
struct Outcome {
    /// The winner's place, from 0.
    winner: u32,
    /// The largest position that anything had begun at by then: what lost lies before it.
    until: u32,
}

/// Begins a race, or finds out who won it.
///
/// # Errors
/// `X_STEP_DUPLICATE`, `X_STEP_NESTED`, `X_STEP_NAME_INVALID`, `X_STEP_OUTSIDE_RUN`.
pub async fn race(ctx: &Ctx, spec: &'static StepSpec, key: Option<String>) -> Result<Race, StepError> {
    let run = ctx.steps().clone();
    let mut opened = run.open(StepKind::Race, spec, key).await?;
    let mut winner = None;
    if let Some(record) = &opened.record {
        let label = opened.label();
        let outcome: Outcome = match output::decode(record.output.as_ref()) {
            Ok(outcome) => outcome,
            Err(what) => return run.mismatch(&label, &what).await,
        };
        winner = Some(outcome.winner);
        run.pass_over(opened.position, outcome.until);
    }
    // The branches keep the body by themselves.
    opened.busy = None;
    Ok(Race { run, opened, winner })
}

impl Race {
    /// Whether the branch of this place, from 0, may be polled: once there is a winner, no other is.
    #[must_use]
    pub fn may_poll(&self, branch: usize) -> bool {
        self.winner.is_none_or(|winner| winner as usize == branch)
    }

    /// Records the branch that came first. To be awaited before what it gave is used.
    ///
    /// # Errors
    /// The store refused the record.
    pub async fn won(mut self, branch: usize) -> Result<(), StepError> {
        if self.winner.is_some() {
            self.run.state().replayed += 1;
            return Ok(());
        }
        let label = self.opened.label();
        self.run.stay_unless_forward(&label).await?;
        self.opened.busy = Some(self.run.busy());
        let until = self.run.state().last_position;
        let outcome = Outcome { winner: u32::try_from(branch).unwrap_or(u32::MAX), until };
        let text = serde_json::to_string(&outcome).map_err(|error| StepError::new(&*label, Failure::from(error)))?;
        let mut done = self.opened.write(StepStatus::Done);
        done.output = Some(JsonText::trusted(text));
        self.run.write(done).await.map_err(|error| StepError::new(&*label, Failure::from(error)))?;
        self.run.state().run += 1;
        Ok(())
    }
}

impl fmt::Debug for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "race `{}`", self.opened.label())
    }
}

impl Run {
    /// Counts what a race's branches recorded as begun, whether or not this replay comes to it.
    fn pass_over(&self, after: u32, until: u32) {
        let mut state = self.state();
        let lost = state.records.values().filter(|record| record.position > after && record.position <= until);
        let lost: Vec<_> = lost.map(|record| record.id.clone()).collect();
        state.passed.extend(lost);
    }
}
