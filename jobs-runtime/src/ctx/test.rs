//! Makes a context without a worker, so that a body can be called like the async fn that it is.

use super::{Ctx, NewCtx, Progresses, States};
use crate::{
    cancel::{Cancel, CancelReason},
    client::Jobs,
    driver::{Claimed, Fence, Overrides, Progress, Token},
    id::JobId,
    json::JsonText,
    steps::{self, Journal, Mode, NewRun},
};
use chrono::Utc;
use serde::Serialize;
use std::{any::TypeId, sync::Arc};

/// What a test says of the run. Made by [`Ctx::for_test`].
#[derive(Debug)]
pub struct TestCtx {
    jobs: Jobs,
    job: &'static str,
    max_attempts: u32,
    claimed: Claimed,
    states: States,
}

impl Ctx {
    /// A context for a unit test that calls a body directly. Progress is kept, nothing is written.
    ///
    /// Steps run, and are recorded in the context alone. Sleeps are over at once. A wait takes an event that is
    /// published, and times out at once without one; what else it shall take, what children give and what steps are not
    /// to do says [`mock_step`](TestCtx::mock_step).
    ///
    /// # Examples
    /// ```
    /// use jobs_runtime::{Ctx, Jobs, Registry, driver::Memory};
    /// # fn main() -> Result<(), jobs_runtime::Error> {
    /// let jobs = Jobs::new(std::sync::Arc::new(Memory::new()), Registry::builder().build()?);
    /// let ctx = Ctx::for_test(&jobs).tenant("acme").attempt(2).state(String::from("mailer")).build();
    /// assert_eq!(ctx.tenant(), Some("acme"));
    /// assert_eq!(ctx.state::<String>()?, "mailer");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn for_test(jobs: &Jobs) -> TestCtx {
        let now = Utc::now();
        let claimed = Claimed {
            stage: crate::driver::Stage::Fresh,
            parent: None,
            fence: Fence { job: JobId::new(), attempt: 1, token: Token(0) },
            kind: "test".to_owned(),
            version: 1,
            queue: "default".to_owned(),
            tenant: None,
            priority: 0,
            crashes: 0,
            payload: JsonText::trusted("null"),
            overrides: Overrides::default(),
            metadata: None,
            trace: None,
            enqueued_by: None,
            failure: None,
            created_at: now,
            ready_at: now,
            claimed_at: now,
            expired: false,
        };
        TestCtx { jobs: jobs.clone(), job: "test", max_attempts: 5, claimed, states: States::new() }
    }

    /// Cancels a test's run, as a timeout, a drain or an operator would.
    pub fn cancel_for_test(&self, reason: CancelReason) {
        self.0.cancel.cancel(reason);
    }

    /// The latest report of [`progress`](Self::progress).
    #[must_use]
    pub fn last_progress(&self) -> Option<Progress> {
        self.0.progress.last()
    }
}

impl TestCtx {
    /// Sets the job's name. Default `test`.
    #[must_use]
    pub fn job(mut self, name: &'static str) -> Self {
        self.job = name;
        self
    }

    /// Sets the tenant. Default none.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.claimed.tenant = Some(tenant.into());
        self
    }

    /// Sets the attempt. Default 1.
    #[must_use]
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.claimed.fence.attempt = attempt;
        self
    }

    /// Sets how many times a worker died with the job. Default 0.
    #[must_use]
    pub fn crashes(mut self, crashes: u16) -> Self {
        self.claimed.crashes = crashes;
        self
    }

    /// Adds a state.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.states.insert(TypeId::of::<T>(), Arc::new(state));
        self
    }

    /// Gives a step, a wait or a child its output, in place of its body, its event or its run.
    ///
    /// # Panics
    /// If the value cannot be encoded.
    #[must_use]
    pub fn mock_step(mut self, name: impl Into<String>, output: impl Serialize) -> Self {
        steps::mock(&mut self.states, name.into(), &output);
        self
    }

    /// The context.
    #[must_use]
    pub fn build(self) -> Ctx {
        let Self { jobs, job, max_attempts, claimed, states } = self;
        let cancel = Cancel::default();
        let progress = Progresses::new(None, claimed.fence, cancel.clone());
        let steps = steps::Run::new(NewRun {
            jobs: jobs.clone(),
            claimed: &claimed,
            journal: Journal::Memory,
            cancel: cancel.clone(),
            mode: Mode::Forward,
            mocks: steps::mocks(&states),
        });
        Ctx::new(NewCtx { jobs, job, max_attempts, claimed, states: Arc::new(states), cancel, progress, steps })
    }
}
