//! Waits for an event of a type and key. Upstream: the macros. Downstream: `driver`.
//!
//! A run takes each event once: what its waits took, recorded or not, is left out when the next one looks.

use super::{
    error::StepError,
    open::Opened,
    output,
    pend::On,
    run::{Journal, Run},
    spec::StepSpec,
};
use crate::{
    clock,
    ctx::Ctx,
    driver::{EventRecord, FindEvent, StepKind, StepStatus, StepWrite, Wait, WaitEvent},
    duration,
    error::{Error, code},
    events::Event,
    failure::{Failure, Verdict},
    json::JsonText,
};
use chrono::{DateTime, Utc};
use std::{
    future::{Future, poll_fn},
    sync::Arc,
    task::Poll,
    time::Duration,
};

/// Waits for an event, however long that takes.
///
/// # Errors
/// `X_STEP_DUPLICATE`, `X_STEP_NESTED`, `X_STEP_NAME_INVALID`, `X_STEP_OUTSIDE_RUN`; `X_EVENT_INVALID` for a key that no
/// event can have.
pub async fn wait_for<T: Event>(ctx: &Ctx, spec: &'static StepSpec, key: Option<String>) -> Result<T, StepError> {
    let run = ctx.steps();
    match run.wait_for::<T>(spec, key, None).await? {
        Some(event) => Ok(event),
        None => {
            let _busy = run.busy();
            run.mismatch(spec.name, "it is recorded as timed out, and has no timeout any more").await
        }
    }
}

/// Waits for an event, but not longer than this, from the time of the first call. `None` if it did not come.
///
/// # Errors
/// As [`wait_for`].
pub async fn wait_for_within<T: Event>(
    ctx: &Ctx,
    spec: &'static StepSpec,
    key: Option<String>,
    timeout: Duration,
) -> Result<Option<T>, StepError> {
    ctx.steps().wait_for::<T>(spec, key, Some(timeout)).await
}

impl Run {
    async fn wait_for<T: Event>(
        &self,
        spec: &StepSpec,
        key: Option<String>,
        timeout: Option<Duration>,
    ) -> Result<Option<T>, StepError> {
        let key = key.unwrap_or_default();
        let mut opened = self.open(StepKind::Wait, spec, Some(key.clone())).await?;
        let label = opened.label();
        if let Some(record) = opened.record.as_ref().filter(|record| record.status == StepStatus::Done) {
            self.state().replayed += 1;
            if record.event.is_none() {
                return Ok(None);
            }
            return self.decoded(&label, record.output.as_ref()).await.map(Some);
        }
        check_key(T::NAME, &key).map_err(|error| StepError::new(&*label, terminal(&error)))?;
        if let Some(given) = self.mock(spec.name) {
            let done = self.take(&opened, Some(given.clone())).await;
            done.map_err(|error| StepError::new(&*label, Failure::from(error)))?;
            return self.decoded(&label, Some(&given)).await.map(Some);
        }
        let deadline = match &opened.record {
            Some(record) => record.due_at,
            None => timeout.map(|timeout| clock::after(self.now(), timeout.min(duration::MAX))),
        };
        loop {
            self.stay_unless_forward_idle(&mut opened).await?;
            if let Some(event) = self.take_event(T::NAME, &key, deadline, &opened, &label).await? {
                self.state().run += 1;
                return self.decoded(&label, Some(&event.payload)).await.map(Some);
            }
            let is_over = deadline.is_some_and(|deadline| deadline <= self.now());
            if is_over || matches!(self.journal(), Journal::Memory) {
                if deadline.is_none() {
                    let text = format!("no event `{}` of key `{key}` is published: give one with `mock_step`", T::NAME);
                    return Err(StepError::new(label, Failure::of(code::EVENT_INVALID, Verdict::Terminal, text)));
                }
                let done = self.take(&opened, None).await;
                done.map_err(|error| StepError::new(&*label, Failure::from(error)))?;
                self.state().run += 1;
                return Ok(None);
            }
            self.wait_opened(T::NAME, &key, deadline, &mut opened).await;
        }
    }

    /// Stays pending in a run that does not go forward, without keeping the body.
    async fn stay_unless_forward_idle(&self, opened: &mut Opened) -> Result<(), StepError> {
        let label = opened.label();
        opened.busy = None;
        let stays = self.stay_unless_forward(&label).await;
        opened.busy = Some(self.busy());
        stays
    }

    /// Looks for the event and takes it. Waits of one run take turns, in the order in which they come here, so that no two
    /// take one event.
    async fn take_event(
        &self,
        name: &str,
        key: &str,
        deadline: Option<DateTime<Utc>>,
        opened: &Opened,
        label: &str,
    ) -> Result<Option<EventRecord>, StepError> {
        let (run, name, key) = (self.clone(), name.to_owned(), key.to_owned());
        let done = opened.write(StepStatus::Done);
        let mut turn = Box::pin(Arc::clone(self.looking()).lock_owned());
        let taken = poll_fn(|cx| Poll::Ready(turn.as_mut().poll(cx))).await;
        let taken = self.by_itself(Box::pin(async move {
            let _turn = match taken {
                Poll::Ready(turn) => turn,
                Poll::Pending => turn.await,
            };
            let tenant = run.tenant().map(str::to_owned);
            let find = FindEvent { name, key, tenant, taken: run.state().taken.clone(), before: deadline };
            let found = run.look(|| run.driver().find_event(find.clone())).await;
            let Some(event) = found else { return Ok(None) };
            let done = StepWrite { event: Some(event.id), output: Some(event.payload.clone()), ..done };
            run.write(done).await.map(|()| Some(event))
        }));
        taken.await.map_err(|error: Error| StepError::new(label, Failure::from(error)))
    }

    /// Records that the wait came to no event: its time is up, or a test gives it something.
    async fn take(&self, opened: &Opened, output: Option<JsonText>) -> Result<(), Error> {
        let mut done = opened.write(StepStatus::Done);
        // A mock has no event, but a replay must tell it from a timeout.
        done.event = output.is_some().then(crate::driver::EventId::new);
        done.output = output;
        self.write(done).await
    }

    /// Waits for the event to come; the run may be parked meanwhile.
    async fn wait_opened(&self, name: &str, key: &str, deadline: Option<DateTime<Utc>>, opened: &mut Opened) {
        let mut waiting = opened.write(StepStatus::Waiting);
        waiting.due_at = deadline;
        waiting.output = Some(serde_json::Value::from(name).into());
        let record = opened.record.is_none().then_some(waiting);
        let taken = self.state().taken.clone();
        let event = WaitEvent { name: name.to_owned(), key: key.to_owned(), taken };
        opened.busy = None;
        self.pause(On::Wake(Wait::Event(event)), deadline, record).await;
        opened.busy = Some(self.busy());
    }

    async fn decoded<T: Event>(&self, label: &str, payload: Option<&JsonText>) -> Result<T, StepError> {
        match output::decode(payload) {
            Ok(event) => Ok(event),
            Err(what) => self.mismatch(label, &what).await,
        }
    }
}

/// A wait whose key no event can have would wait for ever.
fn check_key(event: &str, key: &str) -> Result<(), Error> {
    if key.trim().is_empty() {
        let text = format!("a wait for the event `{event}` has a blank key, which no event has");
        return Err(Error::new(code::EVENT_INVALID, text));
    }
    Ok(())
}

fn terminal(error: &Error) -> Failure {
    Failure::of(error.code(), Verdict::Terminal, error.detail().to_owned())
}
