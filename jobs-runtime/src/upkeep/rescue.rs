//! Rescues what workers with lapsed leases held. Upstream: `lookout`.

use super::Signals;
use crate::{driver::Driver, error::Error, logged};
use std::time::Duration;
use tokio::time::sleep;

/// Rescues each time a lapsed lease was seen. Every worker does; a short wait at random lets one be first.
pub(crate) async fn rescue(driver: &dyn Driver, signals: &Signals, on_rescued: impl Fn()) -> Result<(), Error> {
    loop {
        signals.lapsed.notified().await;
        sleep(Duration::from_millis(100).mul_f64(fastrand::f64())).await;
        let rescued = driver.rescue().await.inspect_err(|_| signals.lapsed.notify_one())?;
        if rescued.workers > 0 {
            let (workers, jobs, cancelled) = (rescued.workers, rescued.jobs, rescued.cancelled);
            tracing::warn!(event = logged::RESCUE_DONE, workers, jobs, cancelled, "took back what lapsed workers held");
        }
        if rescued.jobs > 0 {
            on_rescued();
        }
    }
}
