//! Gives every background task one type, so that the runtime's machinery for tasks is compiled once. A leaf.

use futures_util::future::BoxFuture;
use std::future::Future;

/// A background task.
pub(crate) type Task = BoxFuture<'static, ()>;

/// The future as a background task.
pub(crate) fn task(future: impl Future<Output = ()> + Send + 'static) -> Task {
    Box::pin(future)
}
