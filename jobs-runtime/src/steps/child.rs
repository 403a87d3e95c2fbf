//! Starts other jobs as parts of a run and waits for their ends. Upstream: the macros. Downstream: `driver`.

use super::{
    error::StepError,
    failing,
    output::{self, StepOutput},
    pend::On,
    run::{Journal, Run},
    spec::StepSpec,
};
use crate::{
    ctx::Ctx,
    driver::{ChildEnd, NewJob, StepKind, StepRecord, StepRef, StepStatus, Wait},
    enqueue,
    error::{Error, code},
    failure::{Failure, Verdict},
    id::JobId,
    job::Job,
    json::JsonText,
    payload,
    state::State,
};
use std::{fmt, marker::PhantomData};

/// A job that a run has spawned. To wait for its end, [`join`](Self::join) it; a child that nobody joins runs all the
/// same.
pub struct Child<J> {
    run: Run,
    step: StepRef,
    label: String,
    id: JobId,
    job: PhantomData<fn() -> J>,
}

/// Spawns a job, or finds the one that was spawned.
///
/// # Errors
/// As a step; as an enqueue, if the store refuses the job.
pub async fn spawn<J: Job>(
    ctx: &Ctx,
    spec: &'static StepSpec,
    key: Option<String>,
    input: J::Input,
) -> Result<Child<J>, StepError> {
    let run = ctx.steps().clone();
    let opened = run.open(StepKind::Spawn, spec, key).await?;
    let label = opened.label();
    let child = |id| Child { run: run.clone(), step: opened.id.clone(), label: label.clone(), id, job: PhantomData };
    let failed_before = |record: &&StepRecord| record.status == StepStatus::Failed && record.child.is_none();
    if let Some(record) = opened.record.as_ref().filter(failed_before) {
        if record.attempt == run.attempt() || !run.goes_forward() {
            return Err(StepError::new(label, failing::of_record(record, run.now())));
        }
        run.stay_unless_forward(&label).await?;
    } else if let Some(record) = &opened.record {
        run.state().replayed += 1;
        return match record.child {
            Some(id) => Ok(child(id)),
            None => run.mismatch(&label, "its record names no child").await,
        };
    }
    let new = record::<J>(ctx, &input).map_err(|error| run.failed(&opened, Failure::from(error)))?;
    let id = new.id;
    let mut started = opened.write(StepStatus::Started);
    if let Some(given) = run.mock(spec.name) {
        let end = ChildEnd { state: State::Completed, output: Some(given), failure: None };
        let text = serde_json::to_string(&end).map_err(|error| StepError::new(&*label, Failure::from(error)))?;
        started.status = StepStatus::Done;
        started.output = Some(JsonText::trusted(text));
    }
    started.child = Some(Box::new(new));
    run.write(started).await.map_err(|error| run.failed(&opened, Failure::from(error)))?;
    run.state().run += 1;
    Ok(child(id))
}

/// The child as it is written: it knows its parent.
fn record<J: Job>(ctx: &Ctx, input: &J::Input) -> Result<NewJob, Error> {
    let jobs = ctx.jobs();
    let mut new = enqueue::record::<J>(input)?;
    payload::check_size(&new.kind, &new.payload, jobs.payload_limit())?;
    new.parent = Some(ctx.id());
    new.trace = jobs.ambient_trace().or_else(|| ctx.trace().map(str::to_owned));
    new.enqueued_by = ctx.enqueued_by().map(str::to_owned);
    Ok(new)
}

impl<J: Job> Child<J> {
    /// The child's id.
    #[must_use]
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Waits until the child has ended and gives its output. The run may be parked meanwhile.
    ///
    /// # Errors
    /// A terminal `X_CHILD_FAILED` if it ended in another way than by completing, with the failure that it left.
    pub async fn join(self) -> Result<J::Output, StepError>
    where
        J::Output: StepOutput,
    {
        loop {
            let busy = self.run.busy();
            let record = self.run.state().records.get(&self.step).cloned();
            if let Some(record) = record.filter(|record| record.status == StepStatus::Done) {
                let end: ChildEnd = match output::decode(record.output.as_ref()) {
                    Ok(end) => end,
                    Err(what) => return self.run.mismatch(&self.label, &what).await,
                };
                return self.ended(end).await;
            }
            drop(busy);
            self.run.stay_unless_forward(&self.label).await?;
            if matches!(self.run.journal(), Journal::Memory) {
                let text = "nobody runs the child: give its output with `mock_step`";
                return Err(StepError::new(self.label, Failure::of(code::CHILD_FAILED, Verdict::Terminal, text)));
            }
            self.run.pause(On::Wake(Wait::Child(self.id)), None, None).await;
        }
    }

    async fn ended(self, end: ChildEnd) -> Result<J::Output, StepError>
    where
        J::Output: StepOutput,
    {
        if end.state == State::Completed {
            return match output::decode(end.output.as_ref()) {
                Ok(output) => Ok(output),
                Err(what) => self.run.mismatch(&self.label, &what).await,
            };
        }
        let why = end.failure.map_or_else(String::new, |failure| format!(": {}: {}", failure.code, failure.operator));
        let text = format!("child {} of `{}` ended as {}{why}", self.id, J::SPEC.name, end.state);
        Err(StepError::new(self.label, Failure::of(code::CHILD_FAILED, Verdict::Terminal, text)))
    }
}

impl<J> fmt::Debug for Child<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "child {} of step `{}`", self.id, self.label)
    }
}
