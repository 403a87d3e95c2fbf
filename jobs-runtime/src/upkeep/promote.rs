//! Moves waiting jobs to `ready` when they are due. Upstream: `lookout`, and the worker's own reschedules.

use super::Signals;
use crate::{driver::Driver, error::Error};
use std::time::Duration;
use tokio::time::sleep;

/// How many jobs one promotion moves at most.
const BATCH: u32 = 1_000;
/// The wait after a promotion that moved nothing though something was said to be due.
const EMPTY: Duration = Duration::from_millis(50);

/// Promotes each time the alarm rings.
pub(crate) async fn promote(driver: &dyn Driver, signals: &Signals, on_moved: impl Fn()) -> Result<(), Error> {
    loop {
        signals.due.rung().await;
        let promoted = driver.promote(BATCH).await.inspect_err(|_| signals.due.within(EMPTY))?;
        if promoted.moved > 0 {
            on_moved();
        }
        if let Some(wait) = promoted.next_due {
            if promoted.moved == 0 && wait < EMPTY {
                sleep(EMPTY).await;
            }
            signals.due.within(wait);
        }
    }
}
