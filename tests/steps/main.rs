//! What a body's durable lines promise: each step once, each failure as it was, each wait as long as it takes.

mod calls;
mod check;
mod children;
mod crowd;
mod failing;
mod identity;
mod log;
mod outputs;
mod postgres;
mod races;
mod refused;
mod replay;
mod retry;
mod set;
mod store;
#[path = "../support/mod.rs"]
mod support;
mod values;
mod waiting;

/// Waits until it is so, for at most this long.
async fn within(limit: std::time::Duration, is_so: impl AsyncFn() -> bool) {
    let end = tokio::time::Instant::now() + limit;
    while !is_so().await {
        assert!(tokio::time::Instant::now() < end, "not within {limit:?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
