//! Publishes events and lists them. Upstream: the caller. Downstream: `driver`, which wakes the runs that wait.

mod check;
mod event;
mod list;
mod many;
mod one;
mod submit;

pub use event::Event;
pub use many::PublishMany;
pub use one::Publish;

use std::time::Duration;

/// How long an event can be found where neither its type nor its publisher says: 7 days.
pub const DEFAULT_TTL: Duration = Duration::from_secs(7 * 86_400);
/// The longest key of an event, in bytes.
pub const MAX_KEY: usize = 200;
/// The largest payload of an event, in bytes of JSON: 256 KiB.
pub const MAX_PAYLOAD: usize = 256 * 1024;
/// The most events that one call may publish.
pub const MAX_BATCH: usize = 100_000;
