//! Runs one claimed job from its checks to its settlement. Upstream: `worker`. Downstream: `settle`.

mod deadline;
mod execution;
mod load;
pub(crate) mod panic;
mod tenant;
mod unwind;

pub(crate) use deadline::Bounds;
pub use execution::{Execution, Outcome};

use crate::{
    cancel::{Cancel, CancelReason},
    client::Jobs,
    commit::Committer,
    ctx::{Ctx, NewCtx, Progresses, States},
    driver::{Claimed, Park, Stage},
    error::code,
    failure::{Failure, Verdict},
    job::{JobDef, Prepared},
    json::JsonText,
    logged,
    report::{Report, Reporter, Severity},
    settle::{self, Ended, Subject},
    settled,
    steps::{self, Driven, Journal, Mode, NewRun, Quiesce, Stopped},
};
use deadline::Body;
use futures_util::future::BoxFuture;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument;

/// What all runs of a worker share.
pub(crate) struct Host {
    pub(crate) jobs: Jobs,
    pub(crate) states: Arc<States>,
    pub(crate) committer: Committer,
    pub(crate) reporter: Reporter,
    /// From a cancellation to the drop of the body.
    pub(crate) grace: Duration,
    /// The same, once the lease is lost.
    pub(crate) lost_grace: Duration,
    /// Cancelled once the lease is lost.
    pub(crate) lost: CancellationToken,
    /// The `on_settled` hooks under way.
    pub(crate) hooks: TaskTracker,
    /// How many bodies were left behind.
    pub(crate) abandoned: Arc<AtomicU64>,
}

/// What a body returns.
type Returned = Result<Option<JsonText>, Failure>;

/// One run, as its stages pass it on.
struct Run {
    host: Arc<Host>,
    def: &'static JobDef,
    claimed: Claimed,
    cancel: Cancel,
    ctx: Ctx,
    duration: Duration,
}

/// Runs a claimed job and settles it. The slot is dropped when the body has ended, before the settlement is written.
pub(crate) async fn execute(
    host: &Arc<Host>,
    def: &'static JobDef,
    claimed: Claimed,
    cancel: Cancel,
    slot: impl Send,
) -> Execution {
    let mut run = Run::new(host.clone(), def, claimed, cancel);
    let span = run.span();
    async move {
        let ended = match run.claimed.stage {
            Stage::Unwinding => run.unwind().await,
            Stage::Fresh | Stage::Recorded | Stage::PastPivot => {
                let ended = run.perform().await;
                run.undo(ended).await
            }
        };
        drop(slot);
        run.settle(ended).await
    }
    .instrument(span)
    .await
}

impl Run {
    fn new(host: Arc<Host>, def: &'static JobDef, claimed: Claimed, cancel: Cancel) -> Self {
        let journal = Journal::Store(host.committer.clone(), claimed.fence);
        let ctx = context(&host, def, &claimed, &cancel, Mode::Forward, journal);
        Self { host, def, claimed, cancel, ctx, duration: Duration::ZERO }
    }

    fn span(&self) -> tracing::Span {
        tracing::info_span!(
            "job",
            job = self.def.spec.name,
            id = %self.claimed.fence.job,
            attempt = self.claimed.fence.attempt,
            queue = self.claimed.queue,
            tenant = self.claimed.tenant,
            traceparent = self.claimed.trace,
        )
    }

    async fn perform(&mut self) -> Ended {
        match self.stages().await {
            Ok(ended) | Err(ended) => ended,
        }
    }

    async fn stages(&mut self) -> Result<Ended, Ended> {
        self.check_cancelled()?;
        self.check_quarantine()?;
        self.check_expiry()?;
        let prepared = self.prepare()?;
        self.check_tenant(&prepared)?;
        self.load_steps().await?;
        Ok(self.run_body(prepared).await)
    }

    /// A run that was cancelled before its body began does not begin it.
    fn check_cancelled(&self) -> Result<(), Ended> {
        self.cancel.reason().map_or(Ok(()), |reason| Err(Ended::Cancelled(reason)))
    }

    fn check_quarantine(&self) -> Result<(), Ended> {
        if self.claimed.crashes >= self.def.spec.crash_budget { Err(Ended::Quarantined) } else { Ok(()) }
    }

    fn check_expiry(&self) -> Result<(), Ended> {
        if self.claimed.expired { Err(Ended::Expired) } else { Ok(()) }
    }

    fn prepare(&self) -> Result<Prepared, Ended> {
        panic::guard(|| (self.def.prepare)(&self.claimed.payload, self.claimed.version))
            .map_err(|text| Ended::Failed(panicked(&text)))?
            .map_err(Ended::Failed)
    }

    fn check_tenant(&self, prepared: &Prepared) -> Result<(), Ended> {
        tenant::check(self.def.spec.name, self.claimed.tenant.as_deref(), prepared.tenant.as_deref())
            .map_err(Ended::Refused)
    }

    /// Reads what is recorded of the run, if anything is.
    async fn load_steps(&self) -> Result<(), Ended> {
        if self.claimed.stage == Stage::Fresh {
            return Ok(());
        }
        let records = load::steps(&self.host.jobs, self.claimed.fence.job).await.map_err(Ended::Unread)?;
        self.ctx.steps().load(records);
        Ok(())
    }

    async fn run_body(&mut self, prepared: Prepared) -> Ended {
        let started = Instant::now();
        let bounds = self.bounds(started);
        tracing::debug!(event = logged::ATTEMPT_STARTED, crashes = self.claimed.crashes, "the body begins");
        let ctx = self.ctx.clone();
        let steps = ctx.steps().clone();
        let body = ctx.clone().scope((prepared.body)(ctx));
        let driven = drive(Box::pin(body), steps).in_current_span();
        let body = deadline::run(driven, &self.cancel, &self.host.lost, &bounds).await;
        self.ctx.steps().end();
        self.duration = started.elapsed();
        self.judge(body)
    }

    /// The times of a part of the run, of which the first began then.
    fn bounds(&self, began: Instant) -> Bounds {
        let timeout = self.claimed.overrides.timeout.or(self.def.spec.timeout);
        Bounds {
            timeout: timeout.map(|timeout| timeout.saturating_sub(began.elapsed())),
            grace: self.host.grace,
            lost_grace: self.host.lost_grace,
        }
    }

    fn subject(&self) -> Subject<'_> {
        Subject { jobs: &self.host.jobs, spec: &self.def.spec, claimed: &self.claimed }
    }

    /// A cancelled body that returns `Ok` has done its work; one that does not ends by the reason that came first.
    fn judge(&self, body: Body<Driven<Returned>>) -> Ended {
        if matches!(body, Body::Abandoned) {
            self.abandon(&self.cancel);
        }
        match (body, self.cancel.reason()) {
            (_, Some(CancelReason::LeaseLost)) => Ended::Cancelled(CancelReason::LeaseLost),
            (Body::Ended(Driven::Returned(Ok(output))), _) => Ended::Returned(output),
            (Body::Ended(Driven::Waits(park)), None | Some(CancelReason::Drain)) => self.park(park),
            (_, Some(reason)) => Ended::Cancelled(reason),
            (Body::Ended(Driven::Returned(Err(failure)) | Driven::Stopped(Stopped::Fail(failure))), None) => {
                Ended::Failed(failure)
            }
            (Body::Ended(Driven::Stopped(Stopped::Park(reason, again))), None) => {
                self.park(self.ctx.steps().park_for(reason, again))
            }
            (Body::Ended(Driven::Stopped(Stopped::HandBack(wait))), None) => Ended::HandedBack(wait),
            (Body::Panicked(text), None) => Ended::Failed(panicked(&text)),
            // Without a reason, only the end of the whole runtime drops a body.
            (Body::Ended(Driven::Halted) | Body::Dropped | Body::Abandoned, None) => {
                Ended::Cancelled(CancelReason::Drain)
            }
        }
    }

    fn park(&self, mut park: Park) -> Ended {
        park.keep = self.def.spec.keep;
        let wait = park.due_at.map(|due| (due - self.ctx.steps().now()).to_std().unwrap_or_default());
        Ended::Parked(Box::new(park), wait)
    }

    fn abandon(&self, cancel: &Cancel) {
        self.host.abandoned.fetch_add(1, Ordering::Relaxed);
        let reason = cancel.reason().map_or_else(String::new, |reason| reason.to_string());
        tracing::error!(
            event = logged::ATTEMPT_ABANDONED,
            code = code::JOB_ABANDONED.name,
            reason,
            "the body ignored its cancellation and still holds a thread; what it writes from now on is refused"
        );
        self.host.reporter.report(&Report {
            severity: Severity::Warning,
            code: code::JOB_ABANDONED.name.to_owned(),
            text: format!(
                "job `{}` {} ignored its cancellation ({reason}) and still holds a thread",
                self.def.spec.name, self.claimed.fence.job
            ),
            job: None,
        });
    }

    async fn settle(self, ended: Ended) -> Execution {
        self.ctx.progresses().flush().await;
        let subject = self.subject();
        let decision = settle::decide(subject, ended);
        let decision = settle::land(&self.host.committer, subject, decision).await;
        let (steps_run, steps_replayed) = self.ctx.steps().counts();
        let execution = Execution {
            job: self.claimed.fence.job,
            outcome: decision.outcome,
            attempt: self.claimed.fence.attempt,
            duration: self.duration,
            error: decision.failure.clone(),
            resume_after: decision.resume_after,
            stop: decision.stop,
            steps_run,
            steps_replayed,
        };
        settled::announce(&self.host, self.def, &self.ctx, subject, decision, &execution);
        execution
    }
}

/// The context of a run of a body.
fn context(host: &Host, def: &JobDef, claimed: &Claimed, cancel: &Cancel, mode: Mode, journal: Journal) -> Ctx {
    let steps = steps::Run::new(NewRun {
        jobs: host.jobs.clone(),
        claimed,
        journal,
        cancel: cancel.clone(),
        mode,
        mocks: steps::mocks(&host.states),
    });
    Ctx::new(NewCtx {
        jobs: host.jobs.clone(),
        job: def.spec.name,
        max_attempts: claimed.overrides.max_attempts.unwrap_or(def.spec.retry.max_attempts),
        claimed: claimed.clone(),
        states: host.states.clone(),
        cancel: cancel.clone(),
        progress: Progresses::new(Some(host.committer.clone()), claimed.fence, cancel.clone()),
        steps,
    })
}

/// Polls the body until it returns or is let go of.
async fn drive(body: BoxFuture<'static, Returned>, steps: steps::Run) -> Driven<Returned> {
    let mut body = Quiesce::new(body, steps);
    let driven = body.settle().await;
    body.let_go();
    driven
}

fn panicked(text: &str) -> Failure {
    Failure::of(code::JOB_PANIC, Verdict::Backoff, format!("panic: {text}"))
}
