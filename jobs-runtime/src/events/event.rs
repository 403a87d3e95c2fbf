//! The trait that `#[event]` implements. Upstream: the macros. Downstream: `one`.

use super::Publish;
use crate::client::Jobs;
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt::Display, time::Duration};

/// An event: something that happened, which runs may wait for by its key. `#[event]` writes the implementation; by hand
/// it is the same few items.
///
/// # Examples
/// ```
/// use jobs_runtime::{Event, Jobs};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct OrderShipped { parcel: String }
///
/// impl Event for OrderShipped {
///     const NAME: &'static str = "order.shipped";
/// }
///
/// # async fn example(jobs: Jobs) -> Result<(), jobs_runtime::Error> {
/// let shipped = OrderShipped { parcel: "1Z".to_owned() };
/// shipped.publish(&jobs, 4711).ttl("30d").await?;
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event",
    label = "not an event",
    note = "write `#[event(name = \"…\")]` on the type, which must be owned data that serde can write and read"
)]
pub trait Event: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The durable name: 1 to 100 of the characters `a-z`, `0-9`, `_`, `.`, `-`.
    const NAME: &'static str;
    /// How long it can be found. Default: 7 days.
    const TTL: Option<Duration> = None;

    /// Whose event it is. One without a tenant is seen by every run, one with a tenant by that tenant's runs alone.
    fn tenant(&self) -> Option<String> {
        None
    }

    /// Publishes it under a key of 1 to 200 bytes, by which a wait is matched. Refine the answer, then await it.
    fn publish<'a>(&self, jobs: &'a Jobs, key: impl Display) -> Publish<'a>
    where
        Self: Sized,
    {
        jobs.publish(self, key)
    }
}
