//! Turns the store's hints into wakes and cancels. Upstream: `driver`. Downstream: `poller`, `life`.

use super::life::Life;
use crate::{cancel::CancelReason, driver::Hint, error::Error};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;

/// How often the listener asks whether hints are still proven to arrive.
const LIVENESS: Duration = Duration::from_secs(1);

/// Listens for hints. They may be late, doubled or lost; the lookout is the guarantee.
pub(super) async fn listen(life: Arc<Life>) -> Result<(), Error> {
    life.signals.set_hints_live(false);
    let mut hints = life.driver().hints(life.id, life.shared.plan.queue_names()).await?;
    loop {
        life.signals.set_hints_live(hints.is_live());
        let Ok(hint) = timeout(LIVENESS, hints.next()).await else { continue };
        match hint {
            Hint::Queue(queue) => life.slots.wake(&queue),
            Hint::Cancel(job) => life.cancel(job, CancelReason::Cancelled),
            Hint::RollBack(job) => life.cancel(job, CancelReason::RollBack),
            Hint::Unwoken => life.signals.nudge(),
            Hint::All => {
                life.signals.look.notify_one();
                life.renewable.notify_one();
            }
        }
    }
}
