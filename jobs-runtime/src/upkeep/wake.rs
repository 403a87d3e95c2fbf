//! Wakes parked runs whose event or child's end could not wake them by itself: it was written while another transaction
//! held the run, or was about to park it. Upstream: `lookout`.

use super::Signals;
use crate::{driver::Driver, error::Error};
use std::time::Duration;
use tokio::time::sleep;

/// How many runs one wake makes ready at most.
const BATCH: u32 = 1_000;
/// The wait before the second wake. It doubles while wakes move nothing, for what they wait for is a transaction of
/// somebody else's.
const SHORTEST: Duration = Duration::from_millis(10);
/// The longest wait between two wakes: the poll.
const LONGEST: Duration = Duration::from_secs(5);

/// Wakes each time a look or a hint found something to wake, and again until a look finds nothing.
pub(crate) async fn wake(driver: &dyn Driver, signals: &Signals, on_woken: impl Fn()) -> Result<(), Error> {
    loop {
        signals.unwoken.notified().await;
        let mut wait = SHORTEST;
        while signals.is_unwoken() {
            let woken = driver.wake(BATCH).await?;
            if woken > 0 {
                on_woken();
            }
            if woken < BATCH {
                signals.look.notify_one();
                wait = if woken > 0 { SHORTEST } else { wait };
                tokio::select! {
                    () = sleep(wait.mul_f64(0.5 + fastrand::f64() / 2.0)) => wait = (wait * 2).min(LONGEST),
                    // What is new is not kept waiting by what is stuck.
                    () = signals.nudged.notified() => wait = SHORTEST,
                }
            }
        }
    }
}
