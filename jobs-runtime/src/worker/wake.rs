//! Turns the store's hints into wakes and cancels. Upstream: `driver`. Downstream: `poller`, `life`.

use super::life::Life;
use crate::{driver::Hint, error::Error};
use std::sync::Arc;

/// Listens for hints. They may be late, doubled or lost; the lookout is the guarantee.
pub(super) async fn listen(life: Arc<Life>) -> Result<(), Error> {
    life.signals.set_hints_live(false);
    let mut hints = life.driver().hints(life.id, life.shared.plan.queue_names()).await?;
    loop {
        life.signals.set_hints_live(hints.is_live());
        match hints.next().await {
            Hint::Queue(queue) => life.slots.wake(&queue),
            Hint::Cancel(job) => life.cancel(job),
            Hint::All => life.signals.look.notify_one(),
        }
    }
}
