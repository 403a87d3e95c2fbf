//! Tries a step: answers it from its record, or runs its body, waits between tries, and records how it ended.
//! Upstream: `begin`, `tx`. Downstream: `journal`.

use super::{
    begin::Begin,
    error::StepError,
    failing,
    open::Opened,
    output::{self, StepOutput},
    pend::On,
    run::{Run, Stopped},
    spec::StepSpec,
};
use crate::{
    clock,
    ctx::Ctx,
    driver::{StepKind, StepRef, StepStatus},
    duration,
    error::code,
    failure::{Failure, Verdict},
};
use std::{future::Future, time::Duration};

/// Waits between tries that are shorter than this are waited for in place.
const IN_PLACE: Duration = Duration::from_secs(1);

/// A step that is tried.
pub(super) struct Tries {
    pub(super) run: Run,
    pub(super) spec: &'static StepSpec,
    pub(super) opened: Opened,
    /// How many tries have failed.
    tries: u32,
    /// Whether an `always` compensation stands before it.
    always: bool,
    timed_out: bool,
}

impl std::fmt::Debug for Tries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "step `{}`", self.opened.label())
    }
}

impl Tries {
    pub(super) async fn begin<T: StepOutput>(
        ctx: &Ctx,
        kind: StepKind,
        spec: &'static StepSpec,
        key: Option<String>,
    ) -> Result<Begin<T, Self>, StepError> {
        let run = ctx.steps().clone();
        let opened = run.open(kind, spec, key).await?;
        let own = StepRef { name: spec.name.to_owned(), key: opened.id.key.clone() };
        let always = ctx.compensations().has_always(&own);
        let mut tries = Self { run, spec, opened, tries: 0, always, timed_out: false };
        Ok(match tries.recorded().await? {
            Some(output) => Begin::Done(output),
            None => Begin::Run(tries),
        })
    }

    /// What is recorded of the step, if that ends it.
    async fn recorded<T: StepOutput>(&mut self) -> Result<Option<T>, StepError> {
        let label = self.opened.label();
        let Some(record) = &self.opened.record else { return self.mocked().await };
        let counts = record.once || record.attempt == self.run.attempt() || !self.run.goes_forward();
        match record.status {
            StepStatus::Done => {
                self.run.state().replayed += 1;
                return match output::decode(record.output.as_ref()) {
                    Ok(output) => Ok(Some(output)),
                    Err(what) => self.run.mismatch(&label, &what).await,
                };
            }
            StepStatus::Failed if counts => {
                self.run.state().replayed += 1;
                return Err(StepError::new(label, failing::of_record(record, self.run.now())));
            }
            StepStatus::Started if (record.once || self.spec.once) && self.run.goes_forward() => {
                self.unknown("it began and left no result, so that nobody knows whether it took effect").await
            }
            StepStatus::Tried if record.attempt == self.run.attempt() && self.run.goes_forward() => {
                self.tries = record.tries;
                if let Some(due) = record.due_at.filter(|due| *due > self.run.now()) {
                    self.wait_until(due).await;
                }
            }
            _ => {}
        }
        self.opened.busy = None;
        self.run.stay_unless_forward(&label).await?;
        self.opened.busy = Some(self.run.busy());
        Ok(None)
    }

    /// What a test gives in place of the body.
    async fn mocked<T: StepOutput>(&mut self) -> Result<Option<T>, StepError> {
        let Some(given) = self.run.mock(self.spec.name) else { return Ok(None) };
        let label = self.opened.label();
        let output = given.decode().map_err(|error| {
            let text = format!("the output that the test gives it does not decode: {error}");
            StepError::new(label, Failure::of(code::STEP_MISMATCH, Verdict::Terminal, text))
        })?;
        self.conclude(Ok(output)).await.map(Some)
    }

    /// Runs the body once, within its timeout.
    pub(super) async fn perform<T, F>(&mut self, body: F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        self.announce().await?;
        self.bounded(body).await
    }

    pub(super) async fn bounded<T, F>(&mut self, body: F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let body = self.run.inside(self.opened.label(), body);
        let Some(limit) = self.spec.timeout else { return body.await };
        match tokio::time::timeout(limit, body).await {
            Ok(result) => result,
            Err(_) => {
                self.timed_out = true;
                let text = format!("it ran longer than its timeout of {}", duration::format(limit));
                Err(Failure::of(code::STEP_TIMEOUT, Verdict::Backoff, text))
            }
        }
    }

    /// Records that it begins, where a crash in the middle must be told from one before.
    async fn announce(&mut self) -> Result<(), Failure> {
        if !self.spec.once && !self.always {
            return Ok(());
        }
        let mut started = self.opened.write(StepStatus::Started);
        started.once = self.spec.once;
        started.tries = self.tries;
        Ok(self.run.write(started).await?)
    }

    /// Ends the step, or waits for its next try.
    pub(super) async fn follow<T: StepOutput>(&mut self, result: Result<T, Failure>) -> Option<Result<T, StepError>> {
        let failure = match result {
            Ok(output) => return Some(self.conclude(Ok(output)).await),
            Err(failure) => failure,
        };
        let (Some(retry), tries) = (self.spec.retry, self.tries.saturating_add(1)) else {
            return Some(self.conclude(Err(failure)).await);
        };
        let wait = match failure.asks() {
            Verdict::Backoff => retry.backoff.jittered(tries, fastrand::f64()),
            Verdict::After(wait) => wait,
            Verdict::Terminal | Verdict::Snooze(_) | Verdict::Cancel | Verdict::Discard => {
                return Some(self.conclude(Err(failure)).await);
            }
        };
        if tries >= retry.max_attempts {
            return Some(self.conclude(Err(failure)).await);
        }
        self.tries = tries;
        self.timed_out = false;
        if wait < IN_PLACE {
            tokio::time::sleep(wait).await;
            return self.go_on().await;
        }
        let due = clock::after(self.run.now(), wait);
        let mut tried = self.opened.write(StepStatus::Tried);
        tried.tries = tries;
        tried.once = self.spec.once;
        tried.due_at = Some(due);
        tried.failure = Some(failing::recorded(&failure));
        if self.run.write(tried).await.is_err() {
            return Some(self.conclude(Err(failure)).await);
        }
        self.wait_until(due).await;
        self.go_on().await
    }

    /// Tries again, unless the run was cancelled meanwhile.
    async fn go_on<T>(&mut self) -> Option<Result<T, StepError>> {
        let label = self.opened.label();
        self.opened.busy = None;
        let stays = self.run.stay_unless_forward(&label).await;
        self.opened.busy = Some(self.run.busy());
        stays.err().map(Err)
    }

    /// Waits for its next try; the run may be parked meanwhile.
    async fn wait_until(&mut self, due: chrono::DateTime<chrono::Utc>) {
        self.opened.busy = None;
        self.run.until(due, None).await;
        self.opened.busy = Some(self.run.busy());
    }

    /// Records how the step ended.
    pub(super) async fn conclude<T: StepOutput>(&mut self, result: Result<T, Failure>) -> Result<T, StepError> {
        let (value, text) = match result {
            Ok(value) => match output::encode(&value) {
                Ok(text) => (value, text),
                Err(failure) => return Err(self.failed_for_good(failure).await),
            },
            Err(_) if self.spec.once && self.timed_out => {
                self.unknown("it ran longer than its timeout, so that nobody knows whether it took effect").await
            }
            Err(failure) if self.spec.once => {
                let verdict = match failure.asks() {
                    asked @ (Verdict::Cancel | Verdict::Discard) => asked,
                    _ => Verdict::Terminal,
                };
                return Err(self.failed_for_good(failing::of_step(failure).verdict(verdict)).await);
            }
            Err(failure) => return Err(self.failed(failure)),
        };
        let mut done = self.opened.write(StepStatus::Done);
        done.once = self.spec.once;
        done.tries = self.tries;
        done.due_at = None;
        done.output = Some(text);
        if let Err(error) = self.run.write(done).await {
            let text = format!("the store refused its output: {}", error.detail());
            let failure = Failure::of(code::STEP_OUTPUT_INVALID, Verdict::Terminal, text);
            return Err(self.failed_for_good(failure).await);
        }
        self.run.state().run += 1;
        Ok(value)
    }

    /// A failure that another attempt may mend: it is recorded only if the body goes on after it.
    pub(super) fn failed(&self, failure: Failure) -> StepError {
        self.run.failed(&self.opened, failure)
    }

    /// A failure after which the body must not run again by itself: its effect is there.
    async fn failed_for_good(&self, failure: Failure) -> StepError {
        let mut write = self.opened.write(StepStatus::Failed);
        write.once = true;
        write.tries = self.tries.saturating_add(1);
        write.due_at = None;
        write.failure = Some(failing::recorded(&failure));
        if let Err(error) = self.run.write(write.clone()).await {
            let text = format!("the store refused the step's failure: {}", error.detail());
            write.failure = Some(failing::recorded(&Failure::of(code::STEP_FAILED, Verdict::Terminal, text)));
            let _ = self.run.write(write).await;
        }
        StepError::new(self.opened.label(), failure)
    }

    /// Parks the run until somebody answers for the step.
    async fn unknown<T>(&self, why: &str) -> T {
        let text = format!("step `{}`: {why}", self.opened.label());
        let reason = failing::recorded(&Failure::of(code::STEP_UNKNOWN, Verdict::Backoff, text));
        self.run.stop_here(Stopped::Park(reason, None)).await
    }
}

impl Run {
    /// Keeps a failure that the body is given, to be recorded if the body goes on after it.
    pub(super) fn failed(&self, opened: &Opened, failure: Failure) -> StepError {
        let failure = failing::of_step(failure);
        let mut write = opened.write(StepStatus::Failed);
        write.due_at = failing::due(&failure, self.now());
        write.failure = Some(failing::recorded(&failure));
        self.state().failures.push(write);
        StepError::new(opened.label(), failure)
    }

    /// Waits until the time has come; the run may be parked meanwhile.
    pub(super) async fn until(&self, due: chrono::DateTime<chrono::Utc>, record: Option<crate::driver::StepWrite>) {
        while due > self.now() {
            self.pause(On::Time, Some(due), record.clone()).await;
        }
    }
}
