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

/// How long a job waits that was handed back because no run here knew of it.
const LOST: Duration = Duration::from_secs(1);

/// Claims each time a queue was woken or a slot of a queue with more work became free, until the worker drains.
pub(super) async fn poll(life: Arc<Life>) -> Result<(), Error> {
    while !life.closing.is_cancelled() {
        if life.unsure.load(Ordering::Relaxed) {
            reconcile(&life).await?;
        }
        let Some(demand) = life.slots.demand() else {
            tokio::select! {
                () = life.slots.claimable.notified() => {}
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
