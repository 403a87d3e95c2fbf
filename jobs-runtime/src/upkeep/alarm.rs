//! Rings at the earliest of the times that it was set to. A leaf.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// An alarm for one listener.
#[derive(Default)]
pub(crate) struct Alarm {
    at: Mutex<Option<Instant>>,
    moved: Notify,
}

impl Alarm {
    /// Rings after this long at the latest.
    pub(crate) fn within(&self, wait: Duration) {
        let Some(at) = Instant::now().checked_add(wait) else { return };
        let mut set = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        if set.is_none_or(|set| at < set) {
            *set = Some(at);
            self.moved.notify_one();
        }
    }

    /// Waits until it rings; it is then not set any more.
    pub(crate) async fn rung(&self) {
        loop {
            let at = *self.at.lock().unwrap_or_else(PoisonError::into_inner);
            let rings = async {
                match at {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = rings => {
                    *self.at.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    return;
                }
                () = self.moved.notified() => {}
            }
        }
    }
}
