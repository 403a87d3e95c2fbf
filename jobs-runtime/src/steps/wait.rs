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
    driver::{EventId, EventRecord, FindEvent, StepKind, StepStatus, StepWrite, Wait, WaitEvent},
    duration,
    error::{Error, code},
    events::{Event, MAX_KEY},
    execute::panic,
    failure::{Failure, Verdict},
    json::JsonText,
    logged,
};
use chrono::{DateTime, Utc};
use std::{
    future::{Future, poll_fn},
    sync::Arc,
    task::Poll,
    time::Duration,
};

/// Waits for an event, however long that takes. It is published under `event_key`, or else under the line's `key`.
///
/// # Errors
/// `X_STEP_DUPLICATE`, `X_STEP_NESTED`, `X_STEP_NAME_INVALID`, `X_STEP_OUTSIDE_RUN`; `X_EVENT_INVALID` for a key that no
/// event can have.
pub async fn wait_for<T: Event>(
    ctx: &Ctx,
    spec: &'static StepSpec,
    key: Option<String>,
    event_key: Option<String>,
) -> Result<T, StepError> {
    let run = ctx.steps();
    match run.wait_for::<T>(spec, key, event_key, None).await? {
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
    event_key: Option<String>,
    timeout: Duration,
) -> Result<Option<T>, StepError> {
    ctx.steps().wait_for::<T>(spec, key, event_key, Some(timeout)).await
}

impl Run {
    async fn wait_for<T: Event>(
        &self,
        spec: &StepSpec,
        key: Option<String>,
        event_key: Option<String>,
        timeout: Option<Duration>,
    ) -> Result<Option<T>, StepError> {
        let mut opened = self.open(StepKind::Wait, spec, key.clone()).await?;
        let key = event_key.or(key).unwrap_or_default();
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
            let event = self.decoded(&label, Some(&given)).await?;
            let done = self.take(&opened, Some(given)).await;
            done.map_err(|error| StepError::new(&*label, Failure::from(error)))?;
            return Ok(Some(event));
        }
        let deadline = match &opened.record {
            Some(record) => record.due_at,
            None => timeout.map(|timeout| clock::after(self.now(), timeout.min(duration::MAX))),
        };
        let mut skipped = Vec::new();
        loop {
            self.stay_unless_forward_idle(&mut opened).await?;
            if let Some(event) = self.take_event::<T>(&key, deadline, &opened, &label, &mut skipped).await? {
                self.state().run += 1;
                return Ok(Some(event));
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
            self.wait_opened(T::NAME, &key, deadline, &skipped, &mut opened).await;
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
    ///
    /// What cannot be read as a `T`, or says that it is another tenant's, is skipped before anything is recorded: it stays
    /// for waits that can take it, and this one waits on.
    async fn take_event<T: Event>(
        &self,
        key: &str,
        deadline: Option<DateTime<Utc>>,
        opened: &Opened,
        label: &str,
        skipped: &mut Vec<EventId>,
    ) -> Result<Option<T>, StepError> {
        let (run, key, mut skips) = (self.clone(), key.to_owned(), std::mem::take(skipped));
        let done = opened.write(StepStatus::Done);
        let mut turn = Box::pin(Arc::clone(self.looking()).lock_owned());
        let taken = poll_fn(|cx| Poll::Ready(turn.as_mut().poll(cx))).await;
        let taken = self.by_itself(Box::pin(async move {
            let _turn = match taken {
                Poll::Ready(turn) => turn,
                Poll::Pending => turn.await,
            };
            loop {
                let find = FindEvent {
                    name: T::NAME.to_owned(),
                    key: key.clone(),
                    tenant: run.tenant().map(str::to_owned),
                    taken: run.taken(&skips),
                    before: deadline,
                };
                let Some(event) = run.look(|| run.driver().find_event(find.clone())).await else {
                    return Ok((None, skips));
                };
                match read::<T>(&event, run.tenant()) {
                    Ok(read) => {
                        let done = StepWrite { event: Some(event.id), output: Some(event.payload), ..done };
                        return run.write(done).await.map(|()| (Some(read), skips));
                    }
                    Err(why) => {
                        let (id, name, key) = (event.id, &event.name, &event.key);
                        tracing::warn!(event = logged::EVENT_UNREADABLE, %id, name, key, why, "a wait skips an event");
                        skips.push(id);
                    }
                }
            }
        }));
        let (event, skips) = taken.await.map_err(|error: Error| StepError::new(label, Failure::from(error)))?;
        *skipped = skips;
        Ok(event)
    }

    /// What a wait leaves out that has skipped these.
    fn taken(&self, skipped: &[EventId]) -> Vec<EventId> {
        [&self.state().taken, skipped].concat()
    }

    /// Records that the wait came to no event: its time is up, or a test gives it something.
    async fn take(&self, opened: &Opened, output: Option<JsonText>) -> Result<(), Error> {
        let mut done = opened.write(StepStatus::Done);
        // A mock has no event, but a replay must tell it from a timeout.
        done.event = output.is_some().then(EventId::new);
        done.output = output;
        self.write(done).await
    }

    /// Waits for the event to come; the run may be parked meanwhile.
    async fn wait_opened(
        &self,
        name: &str,
        key: &str,
        deadline: Option<DateTime<Utc>>,
        skipped: &[EventId],
        opened: &mut Opened,
    ) {
        let mut waiting = opened.write(StepStatus::Waiting);
        waiting.due_at = deadline;
        waiting.output = Some(serde_json::Value::from(name).into());
        let record = opened.record.is_none().then_some(waiting);
        let event = WaitEvent { name: name.to_owned(), key: key.to_owned(), taken: self.taken(skipped) };
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

/// Reads an event as what a wait of a run of this tenant is for, or says why that cannot be.
fn read<T: Event>(event: &EventRecord, tenant: Option<&str>) -> Result<T, String> {
    let read = panic::guard(|| {
        let read: T = output::decode(Some(&event.payload))?;
        let own = read.tenant();
        Ok((read, own))
    });
    let (read, own) = read.unwrap_or_else(|text| Err(format!("reading it panicked: {text}")))?;
    match own {
        Some(own) if tenant != Some(&*own) => Err("its payload belongs to another tenant than the run".to_owned()),
        _ => Ok(read),
    }
}

/// A wait whose key no event can have would wait for ever.
fn check_key(event: &str, key: &str) -> Result<(), Error> {
    if key.trim().is_empty() {
        let text = format!("a wait for the event `{event}` has a blank key, which no event has");
        return Err(Error::new(code::EVENT_INVALID, text));
    }
    if key.len() > MAX_KEY || key.contains('\0') {
        let text =
            format!("a wait for the event `{event}` has a key over {MAX_KEY} bytes or with NUL, which no event has");
        return Err(Error::new(code::EVENT_INVALID, text));
    }
    Ok(())
}

fn terminal(error: &Error) -> Failure {
    Failure::of(error.code(), Verdict::Terminal, error.detail().to_owned())
}
