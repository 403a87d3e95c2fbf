//! Has a run's children undo their steps before it undoes its own.

use super::{Run, Unwinding};
use crate::{
    driver::{CancelAnswer, Park, Wait},
    error::code,
    id::JobId,
    saga::{self, label},
    settle::Ended,
    state::State,
};
use chrono::{DateTime, Utc};
use std::time::Duration;

/// How long a run waits before it looks again for a child that an operator has resumed.
const LOOK: Duration = Duration::from_secs(30);

impl Run {
    /// Rolls the children back that live, and waits for their ends. One that could not undo its own steps stops its
    /// parent.
    pub(super) async fn undo_children(&self, unwinding: &Unwinding) -> Result<(), Ended> {
        let mut live = Vec::new();
        for child in saga::live_children(&unwinding.records) {
            match self.host.jobs.driver().roll_back(child).await {
                // Its end is recorded, or there was none to record: it is gone.
                Ok(CancelAnswer::NotFound) => {}
                Ok(CancelAnswer::Cancelled | CancelAnswer::Asked | CancelAnswer::AlreadyFinal(_)) => live.push(child),
                // Past its pivot it goes forward, to its end.
                Err(error) if error.code() == code::JOB_STATE_REFUSED => live.push(child),
                Err(error) => return Err(Ended::Unread(error)),
            }
        }
        if !live.is_empty() {
            return Err(self.wait_for(live, None));
        }
        for (step, child) in saga::failed_children(&unwinding.records) {
            match self.host.jobs.driver().find(child).await {
                Ok(Some(found)) if found.state == State::Dead && found.failure.as_ref().is_some_and(is_stuck) => {
                    let why = format!("its child {child} of {} could not undo all of its own steps", label(step));
                    return Err(self.stuck(unwinding, why));
                }
                Ok(Some(found)) if !found.state.is_final() => {
                    let again = crate::clock::after(self.ctx.steps().now(), LOOK);
                    return Err(self.wait_for(Vec::new(), Some(again)));
                }
                Ok(_) => {}
                Err(error) => return Err(Ended::Unread(error)),
            }
        }
        Ok(())
    }

    fn wait_for(&self, children: Vec<JobId>, due_at: Option<DateTime<Utc>>) -> Ended {
        let waits = children.into_iter().map(Wait::Child).collect();
        let park = Park { due_at, waits, records: Vec::new(), reason: None, keep: self.def.spec.keep };
        Ended::Parked(Box::new(park), due_at.map(|_| LOOK))
    }
}

fn is_stuck(failure: &crate::failure::RecordedFailure) -> bool {
    failure.code == code::JOB_COMPENSATION_FAILED.name
}
