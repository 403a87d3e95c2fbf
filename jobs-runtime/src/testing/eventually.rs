//! Waits for what will be true soon, instead of sleeping for as long as it may take.

use std::{
    future::Future,
    panic::Location,
    time::{Duration, Instant},
};

/// How long [`eventually`] waits before it gives up.
const DEADLINE: Duration = Duration::from_secs(20);
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Asks again and again until the answer is true.
///
/// # Panics
/// After 20 s without a true answer, naming the caller.
///
/// # Examples
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let started = std::time::Instant::now();
/// jobs_runtime::testing::eventually(|| async { started.elapsed().as_millis() > 5 }).await;
/// # }
/// ```
#[track_caller]
pub fn eventually<F>(mut ask: impl FnMut() -> F) -> impl Future<Output = ()>
where
    F: Future<Output = bool>,
{
    let place = Location::caller();
    async move {
        let begun = Instant::now();
        let mut pause = FIRST_PAUSE;
        while !ask().await {
            assert!(begun.elapsed() < DEADLINE, "not true within {DEADLINE:?}, at {place}");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
