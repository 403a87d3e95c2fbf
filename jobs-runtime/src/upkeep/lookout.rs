//! Polls the store by one read and tells the loops that have something to do. Upstream: `worker`.

use super::Signals;
use crate::{
    driver::{Driver, Outlook},
    error::Error,
};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// The shortest time between two looks, however often hints arrive.
const SHORTEST: Duration = Duration::from_millis(50);

/// Looks again and again: after a pause, or sooner when told to.
pub(crate) async fn lookout(
    driver: &dyn Driver,
    queues: &[String],
    signals: &Signals,
    on_ready: impl Fn(&str),
) -> Result<(), Error> {
    loop {
        let Outlook { ready, next_due, lapsed, unwoken, expired_events } = driver.look(queues).await?;
        let looked = Instant::now();
        ready.iter().for_each(|queue| on_ready(queue));
        if let Some(wait) = next_due {
            signals.due.within(wait);
        }
        if lapsed {
            signals.lapsed.notify_one();
        }
        signals.set_unwoken(unwoken);
        if expired_events {
            signals.expired.notify_one();
        }
        tokio::select! {
            () = sleep(signals.pause()) => {}
            () = signals.look.notified() => sleep_until(looked + SHORTEST).await,
        }
    }
}
