//! Builds a [`Jobs`]: which jobs, which limits, which store.

use super::{Inner, Jobs, TraceContext};
use crate::{
    driver::{Driver, Memory},
    error::Error,
    payload,
    registry::Registry,
};
use std::sync::Arc;

#[cfg(feature = "pg")]
use crate::driver::pg::Pg;

/// Collects what a [`Jobs`] is made of. The store comes last.
#[derive(Debug, Default)]
#[must_use = "the store comes last: `.memory()`, `.connect(url)`, `.postgres(pool)` or `.driver(..)`"]
pub struct Builder {
    registry: Option<Registry>,
    payload_limit: Option<usize>,
    trace_context: Option<TraceContext>,
}

impl Builder {
    /// Sets the jobs that this process knows. Default: every job that registered itself at link time.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Sets the largest payload, in bytes of JSON. Default 1 MiB.
    pub fn payload_limit(mut self, bytes: usize) -> Self {
        self.payload_limit = Some(bytes);
        self
    }

    /// Sets how an enqueue learns the `traceparent` of the current span, to link the run to it. Where it gives none, an
    /// enqueue by a running job takes over the run's own.
    pub fn trace_context(mut self, current: TraceContext) -> Self {
        self.trace_context = Some(current);
        self
    }

    /// Stores in this process's memory. Nothing outlives the process.
    ///
    /// # Errors
    /// As [`driver`](Self::driver).
    pub fn memory(self) -> Result<Jobs, Error> {
        self.driver(Arc::new(Memory::new()))
    }

    /// Stores by Postgres, which is connected to: `postgres://user:password@host/database`. For a schema other than
    /// `jobs` and for other settings, build the driver with [`Pg::options`] and pass it to [`driver`](Self::driver).
    ///
    /// # Errors
    /// `X_STORE_CONFIG_INVALID` if the URL is not one, `X_STORE_UNAVAILABLE` if the server does not answer, and as
    /// [`driver`](Self::driver).
    #[cfg(feature = "pg")]
    pub async fn connect(self, url: &str) -> Result<Jobs, Error> {
        let driver = Pg::connect(url).await?;
        self.driver(Arc::new(driver))
    }

    /// Stores by Postgres through a pool of the program's own.
    ///
    /// # Errors
    /// As [`driver`](Self::driver).
    #[cfg(feature = "pg")]
    pub fn postgres(self, pool: sqlx::PgPool) -> Result<Jobs, Error> {
        self.driver(Arc::new(Pg::new(pool)?))
    }

    /// Stores by a driver.
    ///
    /// # Errors
    /// `X_JOB_NAME_TAKEN` or `X_DECLARATION_INVALID` if the jobs that registered themselves contradict each other.
    pub fn driver(self, driver: Arc<dyn Driver>) -> Result<Jobs, Error> {
        let registry = match self.registry {
            Some(registry) => registry,
            None => linked()?,
        };
        Ok(Jobs(Arc::new(Inner {
            driver,
            registry: Arc::new(registry),
            payload_limit: self.payload_limit.unwrap_or(payload::MAX_BYTES),
            trace_context: self.trace_context,
        })))
    }
}

#[cfg(feature = "inventory")]
fn linked() -> Result<Registry, Error> {
    Registry::linked()
}

#[cfg(not(feature = "inventory"))]
fn linked() -> Result<Registry, Error> {
    Ok(Registry::default())
}
