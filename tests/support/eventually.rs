//! Waits for what must become true, instead of sleeping.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// Polls until the probe gives a value, for at most 20 s.
///
/// # Panics
/// If it gave none in time, naming what was waited for.
pub(crate) async fn eventually<T, F>(what: &str, probe: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    eventually_within(Duration::from_secs(20), what, probe).await
}

/// Polls until the probe gives a value, for at most this long.
///
/// # Panics
/// If it gave none in time, naming what was waited for.
pub(crate) async fn eventually_within<T, F>(limit: Duration, what: &str, mut probe: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let start = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(value) = probe().await {
            return value;
        }
        assert!(start.elapsed() < limit, "{what}: not within {limit:?}");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
