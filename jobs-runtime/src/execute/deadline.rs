//! Bounds a body in time: cancels it by its token, then drops it, then leaves it behind.

use super::panic;
use crate::cancel::{Cancel, CancelReason};
use std::{future::Future, time::Duration};
use tokio::time::{sleep, timeout};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// How long a dropped body may take to be gone. One that is not blocked needs no time at all.
const DROP: Duration = Duration::from_secs(1);

/// The times that bound a run.
pub(crate) struct Bounds {
    /// The longest run.
    pub(crate) timeout: Option<Duration>,
    /// From the cancellation to the drop.
    pub(crate) grace: Duration,
    /// The same, once the lease is lost and ends soon.
    pub(crate) lost_grace: Duration,
}

/// How a body came to its end.
pub(super) enum Body<T> {
    /// It returned, or was let go of.
    Ended(T),
    /// It panicked with this text.
    Panicked(String),
    /// It was dropped.
    Dropped,
    /// It holds a thread and could not be dropped.
    Abandoned,
}

/// Runs the body in a task of its own until it ends or its cancellation does.
pub(super) async fn run<T: Send + 'static>(
    body: impl Future<Output = T> + Send + 'static,
    cancel: &Cancel,
    lost: &CancellationToken,
    bounds: &Bounds,
) -> Body<T> {
    let mut task = AbortOnDropHandle::new(tokio::spawn(body));
    let deadline = async {
        match bounds.timeout {
            Some(timeout) => sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        joined = &mut task => return ended(joined),
        () = cancel.cancelled() => {}
        () = deadline => { cancel.cancel(CancelReason::Timeout); }
    }
    let lease_end = async {
        lost.cancelled().await;
        sleep(bounds.lost_grace).await;
    };
    tokio::select! {
        biased;
        joined = &mut task => return ended(joined),
        () = lease_end => {}
        () = sleep(bounds.grace) => {}
    }
    task.abort();
    match timeout(DROP, &mut task).await {
        Ok(joined) => ended(joined),
        Err(_) => Body::Abandoned,
    }
}

fn ended<T>(joined: Result<T, tokio::task::JoinError>) -> Body<T> {
    match joined {
        Ok(ended) => Body::Ended(ended),
        Err(error) => match error.try_into_panic() {
            Ok(payload) => Body::Panicked(panic::text(payload)),
            Err(_) => Body::Dropped,
        },
    }
}
