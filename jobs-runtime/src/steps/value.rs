//! Values that stay the same in every replay: the time, ids, random numbers; the points of change and of no return.

use super::{error::StepError, identity, output, run::Run, spec::StepSpec, state::Counter};
use crate::{
    ctx::Ctx,
    driver::{StepKind, StepRef, StepStatus},
    failure::Failure,
    json::JsonText,
};
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The names of the records that have none of the user's own.
const NOW: StepSpec = StepSpec::new("ctx.now");
const PIVOT: StepSpec = StepSpec::new("pivot!");

impl Ctx {
    /// The time, recorded: every replay gives the same. Two calls are told apart by their order.
    ///
    /// # Errors
    /// As a step.
    pub async fn now(&self) -> Result<DateTime<Utc>, StepError> {
        let run = self.steps();
        let key = run.next(Counter::Times, String::new()).to_string();
        let opened = run.open(StepKind::Value, &NOW, Some(key)).await?;
        let label = opened.label();
        if let Some(record) = &opened.record {
            run.state().replayed += 1;
            return match output::decode(record.output.as_ref()) {
                Ok(time) => Ok(time),
                Err(what) => run.mismatch(&label, &what).await,
            };
        }
        let time = run.now();
        let text = serde_json::to_string(&time).map_err(|error| StepError::new(&*label, Failure::from(error)))?;
        let mut done = opened.write(StepStatus::Done);
        done.output = Some(JsonText::trusted(text));
        run.write(done).await.map_err(|error| StepError::new(&*label, Failure::from(error)))?;
        run.state().run += 1;
        Ok(time)
    }

    /// An id that is the same in every replay, and in no other run. Two calls are told apart by their order. Nothing is
    /// recorded: it is made of the job's id.
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        let bytes = self.steps().derived("uuid", Counter::Ids);
        let mut id = [0; 16];
        id.copy_from_slice(&bytes[..16]);
        uuid::Builder::from_custom_bytes(id).into_uuid()
    }

    /// A number that is the same in every replay, spread evenly over all of `u64`: good as the seed of a generator, no
    /// secret. Two calls are told apart by their order. Nothing is recorded: it is made of the job's id.
    #[must_use]
    pub fn random(&self) -> u64 {
        let bytes = self.steps().derived("random", Counter::Numbers);
        let mut number = [0; 8];
        number.copy_from_slice(&bytes[..8]);
        u64::from_le_bytes(number)
    }

    /// A text that names one effect of this run: the same in every attempt and replay, another in every other run. Hand
    /// it to what the step calls, so that a second call is known as such.
    #[must_use]
    pub fn idempotency_key(&self, name: &str) -> String {
        let run = self.steps();
        let requeues = run.state().requeues;
        format!("{}-{requeues}-{name}", run.job())
    }
}

impl Run {
    /// The number of the next value of its kind: in the body of a step they are counted apart, since a replay does not
    /// come there.
    fn next(&self, counter: Counter, step: String) -> u32 {
        let mut state = self.state();
        let next = state.ordinals.entry((counter, step)).or_default();
        *next += 1;
        *next
    }

    fn derived(&self, what: &str, counter: Counter) -> [u8; 32] {
        let step = self.outer().unwrap_or_default();
        let ordinal = self.next(counter, step.clone());
        let requeues = self.state().requeues;
        Sha256::digest(format!("{}/{requeues}/{what}/{ordinal}/{step}", self.job())).into()
    }
}

/// Whether the run is to take the way of the newer code: yes where it has recorded nothing beyond this point.
///
/// # Errors
/// As a step.
pub async fn patch(ctx: &Ctx, spec: &'static StepSpec) -> Result<bool, StepError> {
    let run = ctx.steps();
    let id = StepRef { name: spec.name.to_owned(), key: String::new() };
    let is_old = {
        let state = run.state();
        !state.records.contains_key(&id) && state.has_records_ahead()
    };
    if is_old && run.refuse_nested(&identity::label(&id)).is_ok() {
        return Ok(false);
    }
    let opened = run.open(StepKind::Patch, spec, None).await?;
    if opened.record.is_some() {
        run.state().replayed += 1;
        return Ok(true);
    }
    let done = opened.write(StepStatus::Done);
    run.write(done).await.map_err(|error| StepError::new(opened.label(), Failure::from(error)))?;
    Ok(true)
}

/// The point of no return: a later failure never unwinds the run. A second one changes nothing.
///
/// # Errors
/// As a step.
pub async fn pivot(ctx: &Ctx) -> Result<(), StepError> {
    let run = ctx.steps();
    let id = StepRef { name: PIVOT.name.to_owned(), key: String::new() };
    if run.state().begun.contains(&id) {
        return Ok(());
    }
    let opened = run.open(StepKind::Pivot, &PIVOT, None).await?;
    if opened.record.is_some() {
        run.state().replayed += 1;
        return Ok(());
    }
    let done = opened.write(StepStatus::Done);
    run.write(done).await.map_err(|error| StepError::new(opened.label(), Failure::from(error)))
}
