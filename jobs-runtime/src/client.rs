//! The handle that a program enqueues and builds workers with. Cheap to clone.

use crate::{driver::Driver, registry::Registry};
use std::sync::Arc;

/// A store of jobs and the jobs that this process knows.
#[derive(Clone)]
pub struct Jobs(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) registry: Arc<Registry>,
}

impl Jobs {
    /// The jobs of a registry, stored by a driver.
    #[must_use]
    pub fn new(driver: Arc<dyn Driver>, registry: Registry) -> Self {
        Self(Arc::new(Inner { driver, registry: Arc::new(registry) }))
    }

    /// The driver.
    #[must_use]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.0.driver
    }

    /// The jobs that this process knows.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }
}
