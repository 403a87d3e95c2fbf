//! Purges what is kept no longer. Upstream: `worker`.

use crate::{driver::Driver, error::Error, logged};
use std::time::Duration;
use tokio::time::sleep;

/// How many rows one purge removes at most.
const BATCH: u32 = 5_000;
/// The longest wait between two purges, shortened at random so that a fleet's workers take turns.
const EVERY: Duration = Duration::from_secs(300);
/// The wait after a purge that found more than it may remove at once.
const MORE: Duration = Duration::from_millis(200);

/// Purges now and then.
pub(crate) async fn purge(driver: &dyn Driver) -> Result<(), Error> {
    loop {
        sleep(EVERY.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        loop {
            let rows = driver.purge(BATCH).await?;
            if rows > 0 {
                tracing::debug!(event = logged::PURGE_DONE, rows, "removed what is kept no longer");
            }
            if rows < u64::from(BATCH) {
                break;
            }
            sleep(MORE).await;
        }
    }
}
