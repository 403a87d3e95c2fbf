//! Claims jobs for free slots and buffers, one statement for all queues. Upstream: `wake`, `upkeep`. Downstream: `life`.

use super::life::Life;
use crate::{
    driver::Claim,
    error::{Error, code},
    logged,
    spec::Keep,
};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::time::{Instant, sleep_until};

/// How many leases pass at most between two looks at what the worker holds by the store's account. A claim may take
/// effect long after it was given up: what the network has held back arrives when it heals.
const RECONCILE: u32 = 4;
/// How long a job waits that was handed back because no run here knew of it.
const LOST: Duration = Duration::from_secs(1);

/// Claims each time a queue was woken or a slot of a queue with more work became free, until the worker drains.
pub(super) async fn poll(life: Arc<Life>) -> Result<(), Error> {
    let every = life.shared.plan.lease.duration.saturating_mul(RECONCILE);
    let mut reconciled = Instant::now();
    while !life.closing.is_cancelled() {
        if life.unsure.load(Ordering::Relaxed) || reconciled.elapsed() >= every {
            reconcile(&life).await?;
            reconciled = Instant::now();
        }
        let Some(demand) = life.slots.demand(life.runs.held()) else {
            tokio::select! {
                () = life.slots.claimable.notified() => {}
                () = sleep_until(reconciled + every) => {}
                () = life.closing.cancelled() => {}
            }
            continue;
        };
        let claim = Claim { worker: life.id, queues: demand.queues.clone(), kinds: life.shared.plan.kinds.clone() };
        life.unsure.store(true, Ordering::Relaxed);
        let claimed = match life.driver().claim(claim).await {
            Ok(claimed) => claimed,
            Err(error) if error.code() == code::WORKER_LOST => {
                life.lose("the store says that it has lapsed");
                return Ok(());
            }
            Err(error) => {
                tracing::warn!(event = logged::CLAIM_FAILED, %error, "a claim failed");
                life.slots.failed(&demand);
                return Err(error);
            }
        };
        life.unsure.store(false, Ordering::Relaxed);
        if life.slots.answered(&demand, &claimed) {
            life.signals.look.notify_one();
        }
        life.admit(claimed);
    }
    Ok(())
}

/// Hands back what the worker holds by the store's account and knows nothing of: the answer of its claim was lost.
async fn reconcile(life: &Arc<Life>) -> Result<(), Error> {
    let held = life.driver().held(life.id).await?;
    life.unsure.store(false, Ordering::Relaxed);
    let unknown: Vec<_> = held.into_iter().filter(|fence| !life.runs.knows(*fence)).collect();
    if !unknown.is_empty() {
        tracing::warn!(event = logged::CLAIM_RECONCILED, jobs = unknown.len(), "handed back what no run here knows of");
    }
    for fence in unknown {
        life.hand_back(fence, LOST, Keep::DEFAULT);
    }
    Ok(())
}
