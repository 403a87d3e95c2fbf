//! What a running body knows of its run: who it is, whose tenant, which states, and whether it should stop.
//! Upstream: `execute`.

#[cfg(feature = "pg")]
mod pg;
mod progress;
#[cfg(feature = "testing")]
mod test;

pub(crate) use progress::Progresses;
#[cfg(feature = "testing")]
pub use test::TestCtx;

use crate::{
    cancel::{Cancel, CancelReason},
    client::Jobs,
    driver::{Claimed, Progress},
    error::{Error, code},
    id::JobId,
    json::JsonText,
    logged,
    saga::Compensations,
    steps,
};
use chrono::{DateTime, Utc};
use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt,
    future::Future,
    sync::Arc,
};

/// The context of one run: cheap to clone, and ambient as well as passed ([`Ctx::current`]).
#[derive(Clone)]
pub struct Ctx(Arc<Inner>);

/// The states that a worker injects, by type.
pub(crate) type States = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

struct Inner {
    jobs: Jobs,
    job: &'static str,
    max_attempts: u32,
    claimed: Claimed,
    states: Arc<States>,
    cancel: Cancel,
    progress: Progresses,
    compensations: Compensations,
    steps: steps::Run,
}

tokio::task_local! {
    static CURRENT: Ctx;
}

const _: () = {
    const fn check<T: Clone + Send + Sync + 'static>() {}
    check::<Ctx>();
};

/// What a run is made of.
pub(crate) struct NewCtx {
    pub(crate) jobs: Jobs,
    pub(crate) job: &'static str,
    pub(crate) max_attempts: u32,
    pub(crate) claimed: Claimed,
    pub(crate) states: Arc<States>,
    pub(crate) cancel: Cancel,
    pub(crate) progress: Progresses,
    pub(crate) steps: steps::Run,
}

impl Ctx {
    pub(crate) fn new(new: NewCtx) -> Self {
        let NewCtx { jobs, job, max_attempts, claimed, states, cancel, progress, steps } = new;
        let compensations = Compensations::default();
        Self(Arc::new(Inner { jobs, job, max_attempts, claimed, states, cancel, progress, compensations, steps }))
    }

    /// The context of the run that this code belongs to; `None` outside of one.
    ///
    /// It follows the body and its hook through their own awaits. A task that the body spawns does not inherit it:
    /// pass a clone, or wrap the task's future in [`scope`](Self::scope).
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    /// Runs a future with this context as its [`current`](Self::current) one.
    pub fn scope<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(self.clone(), future)
    }

    /// The job's id.
    #[must_use]
    pub fn id(&self) -> JobId {
        self.0.claimed.fence.job
    }

    /// The job's name: its own, also where it was queued under an alias.
    #[must_use]
    pub fn job(&self) -> &'static str {
        self.0.job
    }

    /// The queue that the job was claimed from.
    #[must_use]
    pub fn queue(&self) -> &str {
        &self.0.claimed.queue
    }

    /// The number of this attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.claimed.fence.attempt
    }

    /// How many attempts the job has in all.
    #[must_use]
    pub fn max_attempts(&self) -> u32 {
        self.0.max_attempts
    }

    /// How many times a worker died while it held this job.
    #[must_use]
    pub fn crashes(&self) -> u16 {
        self.0.claimed.crashes
    }

    /// Whether an earlier run of this job ended with its worker: effects of it may exist that no failure tells of.
    #[must_use]
    pub fn is_rescued(&self) -> bool {
        self.crashes() > 0
    }

    /// The run's only tenant; `None` where the job declares `tenant = none`.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.0.claimed.tenant.as_deref()
    }

    /// The caller's own key-value pairs, as a JSON object.
    #[must_use]
    pub fn metadata(&self) -> Option<&JsonText> {
        self.0.claimed.metadata.as_ref()
    }

    /// When the job was enqueued, by the store's clock.
    #[must_use]
    pub fn created_at(&self) -> DateTime<Utc> {
        self.0.claimed.created_at
    }

    /// Who enqueued it, for attribution. Never authority: authorise by the input.
    #[must_use]
    pub fn enqueued_by(&self) -> Option<&str> {
        self.0.claimed.enqueued_by.as_deref()
    }

    /// The W3C `traceparent` of the enqueuing span.
    #[must_use]
    pub fn trace(&self) -> Option<&str> {
        self.0.claimed.trace.as_deref()
    }

    /// The jobs of this process, to enqueue more.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.0.jobs
    }

    /// A state that the worker was given. Declare it with `needs(..)`, and a worker without it refuses to start.
    ///
    /// # Errors
    /// `X_STATE_MISSING` if the worker was given none of this type, naming job and type.
    pub fn state<T: Send + Sync + 'static>(&self) -> Result<&T, Error> {
        self.0.states.get(&TypeId::of::<T>()).and_then(|state| state.downcast_ref()).ok_or_else(|| {
            let text = format!("job `{}` asked for a state of type `{}`", self.0.job, type_name::<T>());
            Error::new(code::STATE_MISSING, text)
        })
    }

    /// Reports how far the run is. `total` is `None` if unknown.
    ///
    /// Returns at once. What is written is the latest report, at most once a second, and the last one before the job
    /// settles. Messages are cut at 500 bytes.
    pub fn progress(&self, done: u64, total: impl Into<Option<u64>>, message: impl Into<String>) {
        self.0.progress.report(Progress { done, total: total.into(), message: message.into() });
    }

    /// Whether the run should stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel_reason().is_some()
    }

    /// Resolves when the run should stop: its timeout, a cancel, a drain's end, a lost lease. A body that does not
    /// return within the grace (5 s) is dropped at its next await.
    pub async fn cancelled(&self) {
        self.0.cancel.cancelled().await;
    }

    /// Why the run should stop: the reason that came first.
    #[must_use]
    pub fn cancel_reason(&self) -> Option<CancelReason> {
        self.0.cancel.reason()
    }

    /// Leaves the bounds of the run's tenant on purpose. The reason is logged with job, id and tenant.
    #[must_use]
    pub fn cross_tenant(&self, reason: &str) -> CrossTenant<'_> {
        tracing::warn!(
            event = logged::TENANT_CROSSED,
            job = self.0.job,
            id = %self.id(),
            tenant = self.tenant(),
            reason,
            "the body leaves its tenant's bounds"
        );
        CrossTenant { ctx: self }
    }

    pub(crate) fn compensations(&self) -> &Compensations {
        &self.0.compensations
    }

    /// The steps of this run.
    pub(crate) fn steps(&self) -> &steps::Run {
        &self.0.steps
    }

    pub(crate) fn progresses(&self) -> &Progresses {
        &self.0.progress
    }
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ctx of job `{}` {} attempt {}", self.0.job, self.id(), self.attempt())
    }
}

/// A context that is not bound to the run's tenant. Made by [`Ctx::cross_tenant`].
#[derive(Debug, Clone, Copy)]
pub struct CrossTenant<'a> {
    ctx: &'a Ctx,
}

impl<'a> CrossTenant<'a> {
    /// The run's context.
    #[must_use]
    pub fn ctx(self) -> &'a Ctx {
        self.ctx
    }
}
