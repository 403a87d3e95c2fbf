//! Ends an incarnation in good order: nothing new, what has not begun goes back, what runs may finish.
//! Upstream: `mod`. Downstream: `life`.

use super::{lease, life::Life};
use crate::{cancel::CancelReason, logged, spec::Keep};
use std::{future::Future, sync::Arc, time::Duration};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

/// How long the hooks of `on_settled` may take at the end: the limit that each has anyway.
const HOOKS: Duration = Duration::from_secs(10);
/// How long the store may take to flush, and then to end the lease. It lapses by itself otherwise.
const STOP: Duration = Duration::from_secs(5);

/// Drains the incarnation. Its lease is renewed until its last job has settled, or the store has not taken that for so long
/// that the job goes back with what else is held.
pub(super) async fn drain(life: &Arc<Life>, poller: JoinHandle<()>, pipeline: JoinHandle<()>, held: lease::Held) {
    let grace = life.shared.plan.undisturbed();
    let runs = life.runs.len();
    let unstarted = life.slots.close();
    life.closing.cancel();
    let returned = unstarted.len();
    tracing::info!(event = logged::WORKER_DRAINING, worker = life.id.0, runs, returned, "the worker drains");
    for claimed in unstarted {
        let keep = life.shared.jobs.registry().get(&claimed.kind).map_or(Keep::DEFAULT, |def| def.spec.keep);
        life.hand_back(claimed.fence, Duration::ZERO, keep);
    }
    // A claim that is under way is answered first, so that what it gave goes back too.
    let finished = async {
        let _ = poller.await;
        life.tasks.close();
        life.tasks.wait().await;
    };
    tokio::pin!(finished);
    let in_time = tokio::select! {
        () = &mut finished => true,
        () = sleep(grace) => false,
        () = life.shared.hurried.cancelled() => false,
        () = life.lost.cancelled() => false,
    };
    if !in_time {
        life.runs.cancel_all(CancelReason::Drain);
        // A cancelled body is gone within its grace and a second; what cannot be written within a lease is not waited for.
        let gone = life.shared.plan.cancel_grace + Duration::from_secs(1) + life.shared.plan.lease.duration;
        let _ = timeout(gone, unless_lost(life, finished)).await;
    }
    life.host.hooks.close();
    let _ = timeout(HOOKS, life.host.hooks.wait()).await;
    life.committed.cancel();
    let flushed = async {
        let _ = pipeline.await;
    };
    let _ = timeout(STOP, unless_lost(life, flushed)).await;
    life.ending.cancel();
    held.end().await;
    stop(life).await;
}

/// Winds up an incarnation whose lease is lost: waits, briefly, until its runs are gone.
pub(super) async fn wind_up(life: &Arc<Life>, held: lease::Held) {
    life.tasks.close();
    let gone = life.host.lost_grace + Duration::from_secs(2);
    let _ = timeout(gone, life.tasks.wait()).await;
    life.committed.cancel();
    life.ending.cancel();
    held.end().await;
    stop(life).await;
}

/// Ends the lease at the store, if it answers.
async fn stop(life: &Arc<Life>) {
    if let Ok(Err(error)) | Err(error) = timeout(STOP, life.driver().stop_worker(life.id))
        .await
        .map_err(|_| crate::error::Error::new(crate::error::code::STORE_UNAVAILABLE, "the store did not answer"))
    {
        tracing::warn!(event = logged::WORKER_STOPPED, worker = life.id.0, %error, "the lease lapses by itself");
    }
}

/// Waits for the end of something that a lost lease ends too.
async fn unless_lost(life: &Life, end: impl Future<Output = ()>) {
    tokio::select! {
        () = end => {}
        () = async {
            life.lost.cancelled().await;
            sleep(life.host.lost_grace + Duration::from_secs(2)).await;
        } => {}
    }
}
