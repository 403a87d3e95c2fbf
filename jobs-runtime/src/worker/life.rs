//! One incarnation of a worker: what it holds, starts and hands back while its lease lasts.
//! Upstream: `poller`, `lease`, `wake`. Downstream: `execute`.

use super::{
    Shared,
    runs::Runs,
    slots::{Admitted, Slots, UNSETTLED},
};
use crate::{
    cancel::CancelReason,
    commit::{Committer, Pipeline},
    driver::{Change, Claimed, Driver, Fence, Reschedule, WorkerId},
    error::code,
    execute::{Host, Outcome, execute},
    id::JobId,
    job::JobDef,
    logged,
    spec::Keep,
    task::task,
    upkeep::Signals,
};
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{runtime::Handle, sync::Notify, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long a job on its last life waits that was handed back because another one is here: as long again as that one
/// has been here, within these bounds. Each time that it is claimed, it is in danger for a moment.
const ISOLATED: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// How long a job waits whose kind this worker does not know after all.
const UNKNOWN: Duration = Duration::from_secs(30);

/// One incarnation.
pub(super) struct Life {
    pub(super) id: WorkerId,
    pub(super) shared: Arc<Shared>,
    pub(super) host: Arc<Host>,
    pub(super) slots: Slots,
    pub(super) runs: Runs,
    pub(super) signals: Signals,
    /// The runs and the returns of what was not started.
    pub(super) tasks: TaskTracker,
    /// The returns of jobs on their last life, which another one here waits for.
    isolating: TaskTracker,
    /// Cancelled once the lease is lost.
    pub(super) lost: CancellationToken,
    /// Cancelled once nothing more may be claimed.
    pub(super) closing: CancellationToken,
    /// Cancelled once the background loops shall end.
    pub(super) ending: CancellationToken,
    /// Cancelled once the commit pipeline shall flush and end.
    pub(super) committed: CancellationToken,
    /// Told when a renewal is worth it before its time: hints of requests to cancel may have been lost.
    pub(super) renewable: Arc<Notify>,
    /// Whether a claim's answer may have been lost.
    pub(super) unsure: AtomicBool,
    runtime: Handle,
}

impl Life {
    /// A new incarnation and its commit pipeline.
    pub(super) fn new(shared: &Arc<Shared>, id: WorkerId) -> (Arc<Self>, Pipeline) {
        let (lost, committed) = (CancellationToken::new(), CancellationToken::new());
        let driver = shared.jobs.driver().clone();
        let (committer, pipeline) = Committer::new(driver, id, lost.clone(), committed.clone());
        let margin = super::lease::margin(shared.plan.lease);
        let host = Host {
            jobs: shared.jobs.clone(),
            states: shared.states.clone(),
            committer,
            reporter: shared.reporter.clone(),
            grace: shared.plan.cancel_grace,
            lost_grace: shared.plan.cancel_grace.min(margin / 2),
            lost: lost.clone(),
            hooks: TaskTracker::new(),
            abandoned: shared.abandoned.clone(),
        };
        let life = Self {
            id,
            shared: shared.clone(),
            host: Arc::new(host),
            slots: Slots::new(&shared.plan.queues, shared.plan.prefetch),
            runs: Runs::default(),
            signals: Signals::new(shared.plan.lease.duration),
            tasks: TaskTracker::new(),
            isolating: closed_tracker(),
            lost,
            closing: CancellationToken::new(),
            ending: CancellationToken::new(),
            committed,
            renewable: Arc::default(),
            unsure: AtomicBool::new(false),
            runtime: Handle::current(),
        };
        (Arc::new(life), pipeline)
    }

    pub(super) fn driver(&self) -> &dyn Driver {
        &**self.shared.jobs.driver()
    }

    /// Takes in what a claim gave: into the buffers, or back.
    pub(super) fn admit(self: &Arc<Self>, claimed: Vec<Claimed>) {
        let mut alone = None;
        for claimed in claimed {
            self.runs.hold(claimed.fence);
            let Some(def) = self.shared.jobs.registry().get(&claimed.kind) else {
                self.hand_back(claimed.fence, UNKNOWN, Keep::DEFAULT);
                continue;
            };
            let budget = def.spec.crash_budget;
            let last_life = budget > 1 && claimed.crashes.saturating_add(1) == budget;
            match self.slots.admit(claimed, last_life) {
                Admitted::Yes => {}
                Admitted::Alone(claimed) => alone = Some((claimed, def.spec.keep)),
                Admitted::Closed(claimed) => self.hand_back(claimed.fence, Duration::ZERO, def.spec.keep),
                Admitted::Isolated(claimed, since) => {
                    tracing::info!(event = logged::CLAIM_ISOLATED, id = %claimed.fence.job, "handed back for a while");
                    let returned = self.returned(claimed.fence, since.clamp(ISOLATED.0, ISOLATED.1), def.spec.keep);
                    self.spawn(self.isolating.track_future(returned));
                }
            }
        }
        if let Some((claimed, keep)) = alone {
            self.take_in_alone(*claimed, keep);
        }
    }

    /// Lets a job on its last life into its buffer once all others on theirs are handed back: if it takes the process
    /// down, they shall not be held by it.
    fn take_in_alone(self: &Arc<Self>, claimed: Claimed, keep: Keep) {
        let life = self.clone();
        self.spawn(async move {
            life.isolating.wait().await;
            if let Some(claimed) = life.slots.take_in(claimed) {
                life.hand_back(claimed.fence, Duration::ZERO, keep);
            }
        });
    }

    /// Starts what a slot is free for, each time there is something.
    pub(super) async fn dispatch(self: Arc<Self>) {
        loop {
            self.slots.startable.notified().await;
            // A drain that finds the buffers empty also waits for what was just taken out of them.
            let _starting = self.tasks.token();
            for (queue, claimed) in self.slots.start() {
                if let Some(def) = self.shared.jobs.registry().get(&claimed.kind) {
                    self.start(queue, def, claimed);
                }
            }
        }
    }

    fn start(self: &Arc<Self>, queue: usize, def: &'static JobDef, claimed: Claimed) {
        let cancel = self.runs.enter(claimed.fence);
        let slot = Slot { life: self.clone(), queue, job: claimed.fence.job };
        let entry = Entry { life: self.clone(), fence: claimed.fence, settled: false };
        let life = self.clone();
        self.spawn(async move {
            let execution = execute(&life.host, def, claimed, cancel, slot).await;
            if let (Some(wait), true) = (execution.resume_after, execution.outcome != Outcome::Cancelled) {
                life.signals.due.within(wait);
            }
            entry.settled();
        });
    }

    /// Hands a job back that was not started, under the same attempt.
    pub(super) fn hand_back(self: &Arc<Self>, fence: Fence, delay: Duration, keep: Keep) {
        self.spawn(self.returned(fence, delay, keep));
    }

    fn returned(self: &Arc<Self>, fence: Fence, delay: Duration, keep: Keep) -> impl Future<Output = ()> + use<> {
        let life = self.clone();
        async move {
            let change = Reschedule { delay, attempt: fence.attempt, failure: None, keep };
            life.host.committer.write(fence, Change::Reschedule(change)).await;
            life.leave(fence);
            life.signals.due.within(delay);
        }
    }

    /// Forgets a claim. The poller may be waiting for that: see [`Slots::demand`].
    fn leave(&self, fence: Fence) {
        if self.runs.leave(fence) >= UNSETTLED {
            self.slots.claimable.notify_one();
        }
    }

    /// Cancels a job of this worker, whether it runs, waits for a slot or is only being claimed.
    pub(super) fn cancel(self: &Arc<Self>, job: JobId, reason: CancelReason) {
        if self.runs.cancel(job, reason) {
            return;
        }
        // Its row carries the request, so that handing it back ends it, or begins its unwinding.
        if let Some(claimed) = self.slots.withdraw(job) {
            let keep = self.shared.jobs.registry().get(&claimed.kind).map_or(Keep::DEFAULT, |def| def.spec.keep);
            self.hand_back(claimed.fence, Duration::ZERO, keep);
        }
    }

    /// Ends the incarnation: its runs are told before the lease ends, nothing is written any more. May be called from
    /// any thread.
    pub(super) fn lose(&self, why: &str) {
        if self.lost.is_cancelled() {
            return;
        }
        self.slots.close();
        let runs = self.runs.cancel_all(CancelReason::LeaseLost);
        self.closing.cancel();
        self.lost.cancel();
        tracing::error!(event = logged::LEASE_LOST, worker = self.id.0, runs, why, "the lease is lost");
        let text = format!("worker {} lost its lease ({why}) and cancelled its {runs} runs", self.id.0);
        self.shared.reporter.worker(code::WORKER_LOST, text);
    }

    /// Gives an idle thread of the worker's runtime something to wake for. May be called from any thread.
    pub(super) fn stir(&self) -> JoinHandle<()> {
        self.runtime.spawn(task(async {}))
    }

    /// Runs a future as one of this incarnation's tasks, until it is done or the worker is aborted.
    pub(super) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let aborted = self.shared.aborted.clone();
        let until_aborted = async move {
            aborted.run_until_cancelled_owned(future).await;
        };
        self.runtime.spawn(task(self.tasks.track_future(until_aborted)));
    }
}

/// A tracker whose wait ends each time that it tracks nothing.
fn closed_tracker() -> TaskTracker {
    let tracker = TaskTracker::new();
    tracker.close();
    tracker
}

/// A slot of a queue, freed when dropped.
struct Slot {
    life: Arc<Life>,
    queue: usize,
    job: JobId,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.life.slots.release(self.queue, self.job);
    }
}

/// A run's entry in the list of runs. One that is left without a settlement makes the worker look what it still holds.
struct Entry {
    life: Arc<Life>,
    fence: Fence,
    settled: bool,
}

impl Entry {
    fn settled(mut self) {
        self.settled = true;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.life.leave(self.fence);
        if !self.settled {
            self.life.unsure.store(true, Ordering::Relaxed);
            self.life.slots.claimable.notify_one();
        }
    }
}
