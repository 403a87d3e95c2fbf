//! Keeps a background loop alive: one that fails or panics is reported and begins again after a wait. A leaf.

use crate::{
    backoff::{Backoff, Growth},
    error::{Error, code},
    execute::panic,
    logged,
    report::Reporter,
};
use futures_util::FutureExt;
use std::{future::Future, panic::AssertUnwindSafe, time::Duration};
use tokio::time::{Instant, sleep};

/// A loop that ran so long before it failed had recovered.
const RECOVERED: Duration = Duration::from_secs(60);
/// The waits between two beginnings. The longest keeps the recovery after an outage within 10 s.
const WAITS: Backoff = Backoff::new(Growth::Exponential, Duration::from_millis(100), Duration::from_secs(5));

/// Runs a loop again and again until it returns `Ok`. The reporter hears of the first failure in a row.
pub(crate) async fn supervise<F>(name: &'static str, reporter: Reporter, mut run: impl FnMut() -> F)
where
    F: Future<Output = Result<(), Error>>,
{
    let mut failures = 0;
    loop {
        let began = Instant::now();
        let (failed, text) = match AssertUnwindSafe(async { run().await }).catch_unwind().await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => (error.code(), error.to_string()),
            Err(payload) => (code::INTERNAL, format!("panic: {}", panic::text(payload))),
        };
        failures = if began.elapsed() > RECOVERED { 1 } else { failures + 1 };
        let wait = WAITS.jittered(failures, fastrand::f64());
        let wait_millis = wait.as_millis() as u64;
        tracing::warn!(
            event = logged::WORKER_LOOP_FAILED,
            part = name,
            failures,
            wait_millis,
            text,
            "a loop begins again"
        );
        if failures == 1 {
            reporter.worker(failed, format!("the worker's {name} failed and begins again: {text}"));
        }
        sleep(wait).await;
    }
}
