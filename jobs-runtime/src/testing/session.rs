//! A worker's lease and commit pipeline without its loops, for those who make each claim themselves.
//! Upstream: `harness`, `rig`. Downstream: `execute`.

use crate::{
    cancel::Cancel,
    client::Jobs,
    commit::Committer,
    ctx::States,
    driver::{Claim, Claimed, KnownKind, Lease, NewWorker, WorkerId},
    error::Error,
    execute::{Execution, Host, execute},
    report::Reporter,
    worker,
};
use std::{sync::Arc, time::Duration};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

/// A worker that runs what it is given. Dropped, it ends as a process does that is killed: its lease lapses by itself.
pub(super) struct Session {
    worker: WorkerId,
    kinds: Arc<[KnownKind]>,
    host: Arc<Host>,
    closed: CancellationToken,
    pipeline: AbortOnDropHandle<()>,
}

impl Session {
    pub(super) async fn begin(jobs: &Jobs, states: &Arc<States>, lease: Lease) -> Result<Self, Error> {
        let defs: Vec<_> = jobs.registry().iter().collect();
        let kinds = worker::kinds(&defs);
        let queues = defs.iter().map(|def| (def.spec.queue.to_owned(), 1)).collect();
        let new = NewWorker { name: "in place".to_owned(), lease, queues, kinds: kinds.to_vec() };
        let worker = jobs.driver().start_worker(new).await?;
        let (closed, lost) = (CancellationToken::new(), CancellationToken::new());
        let (committer, pipeline) = Committer::new(jobs.driver().clone(), worker, lost.clone(), closed.clone());
        let host = Arc::new(Host {
            jobs: jobs.clone(),
            states: Arc::clone(states),
            committer,
            reporter: Reporter::default(),
            grace: Duration::from_secs(5),
            lost_grace: Duration::from_secs(1),
            lost,
            hooks: TaskTracker::new(),
            abandoned: Arc::default(),
        });
        let pipeline = AbortOnDropHandle::new(tokio::spawn(pipeline.run()));
        Ok(Self { worker, kinds, host, closed, pipeline })
    }

    pub(super) fn worker(&self) -> WorkerId {
        self.worker
    }

    /// Claims one job of the queue.
    pub(super) async fn claim(&self, queue: &str) -> Result<Option<Claimed>, Error> {
        let queues = vec![(queue.to_owned(), 1)];
        let claim = Claim { worker: self.worker, queues, kinds: Arc::clone(&self.kinds) };
        Ok(self.host.jobs.driver().claim(claim).await?.pop())
    }

    /// Runs a claimed job and settles it.
    ///
    /// # Panics
    /// If its kind is not registered.
    pub(super) async fn execute(&self, claimed: Claimed) -> Execution {
        self.execute_until(claimed, Cancel::default()).await
    }

    /// Runs a claimed job, unless it is cancelled, and settles it.
    ///
    /// # Panics
    /// If its kind is not registered.
    pub(super) async fn execute_until(&self, claimed: Claimed, cancel: Cancel) -> Execution {
        let def = self.host.jobs.registry().find(&claimed.kind).unwrap_or_else(|error| panic!("{error}"));
        execute(&self.host, def, claimed, cancel, ()).await
    }

    /// Waits for the hooks, writes what is left, ends the lease.
    pub(super) async fn end(self) {
        self.host.hooks.close();
        self.host.hooks.wait().await;
        self.closed.cancel();
        self.pipeline.await.ok();
        self.host.jobs.driver().stop_worker(self.worker).await.ok();
    }
}
