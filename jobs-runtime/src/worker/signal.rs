//! Waits for the signals that ask a process to end. A leaf.

/// The signals of this process, from when they were asked for: none in between is missed.
#[cfg(unix)]
pub(super) struct Signals(Option<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)>);

#[cfg(unix)]
impl Signals {
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self(signal(SignalKind::terminate()).ok().zip(signal(SignalKind::interrupt()).ok()))
    }

    /// Resolves at the next signal; never where they cannot be had.
    pub(super) async fn next(&mut self) {
        match &mut self.0 {
            Some((term, int)) => {
                tokio::select! {
                    _ = term.recv() => {}
                    _ = int.recv() => {}
                }
            }
            None => std::future::pending().await,
        }
    }
}

/// The signals of this process.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn new() -> Self {
        Self
    }

    /// Resolves at the next Ctrl-C; never where it cannot be had.
    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
