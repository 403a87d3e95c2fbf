//! A worker in a test's own hand, on any driver. Upstream: tests of crashes. Downstream: `session`.

use super::{Incarnation, session::Session};
use crate::{
    cancel::{Cancel, CancelReason},
    client::Jobs,
    ctx::States,
    driver::{Lease, WorkerId},
    error::Error,
    execute::Execution,
};
use std::{
    any::TypeId,
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// A worker that makes one run at a time and only when it is told, on any driver, at the store's own time.
///
/// - [`next`](Self::next) moves what is due, then claims one job and runs it: to its end, its next attempt or its park.
/// - Dropped, it ends as a process does that is killed: its lease lapses, and a rescue hands back what it held.
///
/// # Examples
/// ```
/// # use jobs_runtime::{Jobs, Registry, State, driver::Memory, testing::{Act, Acts, Rig}};
/// # use std::sync::Arc;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), jobs_runtime::Error> {
/// let jobs = Jobs::new(Arc::new(Memory::new()), Registry::builder().job::<Acts>().build()?);
/// let job = jobs.enqueue::<Acts>(vec![Act::Ok]).await?.id();
/// let rig = Rig::of(&jobs).start().await?;
/// assert!(rig.next().await?.is_some());
/// assert!(rig.next().await?.is_none());
/// assert_eq!(jobs.find(job).await?.state, State::Completed);
/// # Ok(()) }
/// ```
pub struct Rig {
    jobs: Jobs,
    session: Session,
    queues: BTreeSet<&'static str>,
    running: Mutex<Cancel>,
}

/// A [`Rig`] before its start.
#[derive(Debug)]
pub struct RigBuilder<'a> {
    jobs: &'a Jobs,
    states: States,
    lease: Duration,
}

impl Rig {
    /// A worker of every registered job.
    #[must_use]
    pub fn of(jobs: &Jobs) -> RigBuilder<'_> {
        RigBuilder { jobs, states: States::new(), lease: Duration::from_secs(3_600) }
    }

    /// Moves what is due and wakes what was not woken; then claims one job and runs it. `None` if none is ready.
    ///
    /// # Errors
    /// The driver's.
    pub async fn next(&self) -> Result<Option<Execution>, Error> {
        let driver = self.jobs.driver();
        driver.promote(1_000).await?;
        driver.wake(1_000).await?;
        for queue in &self.queues {
            if let Some(claimed) = self.session.claim(queue).await? {
                let cancel = Cancel::default();
                *self.running.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
                return Ok(Some(self.session.execute_until(claimed, cancel).await));
            }
        }
        Ok(None)
    }

    /// As [`next`](Self::next), within the life of a process: `None` if it crashes meanwhile.
    pub async fn next_in(&self, life: &Incarnation) -> Option<Result<Option<Execution>, Error>> {
        tokio::select! {
            biased;
            () = life.crashed() => None,
            answer = self.next() => Some(answer),
        }
    }

    /// Stops the run under way, as a drain does whose grace has ended.
    pub fn interrupt(&self) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).cancel(CancelReason::Drain);
    }

    /// Its incarnation as a worker.
    #[must_use]
    pub fn worker(&self) -> WorkerId {
        self.session.worker()
    }

    /// Renews the lease.
    ///
    /// # Errors
    /// `X_WORKER_LOST` if it has lapsed.
    pub async fn renew(&self) -> Result<(), Error> {
        self.jobs.driver().lease_session(self.session.worker()).await?.renew().await.map(drop)
    }

    /// Ends in order: writes what is left and ends the lease.
    pub async fn end(self) {
        self.session.end().await;
    }
}

impl RigBuilder<'_> {
    /// Gives the jobs a state. One of each type; a later one replaces it.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.states.insert(TypeId::of::<T>(), Arc::new(state));
        self
    }

    /// Sets how long its lease lasts; it is renewed by [`Rig::renew`] alone. Default 1 h.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Begins the lease.
    ///
    /// # Errors
    /// The driver's.
    pub async fn start(self) -> Result<Rig, Error> {
        let Self { jobs, states, lease } = self;
        let lease = Lease { duration: lease, beat: lease / 3 };
        let session = Session::begin(jobs, &Arc::new(states), lease).await?;
        let queues = jobs.registry().iter().map(|def| def.spec.queue).collect();
        Ok(Rig { jobs: jobs.clone(), session, queues, running: Mutex::default() })
    }
}

impl std::fmt::Debug for Rig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rig of {:?}", self.jobs)
    }
}
