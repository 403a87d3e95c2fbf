//! What a running body knows of its run: who it is, whose tenant, which states, and whether it should stop.

use crate::{client::Jobs, driver::Claimed};
use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::Arc,
};
use tokio_util::sync::CancellationToken;

/// The context of one run. Cheap to clone.
#[derive(Clone)]
pub struct Ctx(Arc<Inner>);

/// The states that a worker injects, by type.
pub(crate) type States = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

struct Inner {
    jobs: Jobs,
    claimed: Claimed,
    states: Arc<States>,
    cancel: CancellationToken,
}

impl Ctx {
    pub(crate) fn new(jobs: Jobs, claimed: Claimed, states: Arc<States>, cancel: CancellationToken) -> Self {
        Self(Arc::new(Inner { jobs, claimed, states, cancel }))
    }

    /// The jobs of this process, to enqueue more.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.0.jobs
    }

    /// The number of this attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.claimed.fence.attempt
    }

    /// Resolves when the run should stop: its timeout, a cancel, a drain's end, a lost lease.
    pub async fn cancelled(&self) {
        self.0.cancel.cancelled().await;
    }

    /// A state that the worker was given.
    #[must_use]
    pub(crate) fn find_state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.states.get(&TypeId::of::<T>()).and_then(|state| state.downcast_ref())
    }
}
