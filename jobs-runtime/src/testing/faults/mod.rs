//! Counts the points at which a run can be hit, and hits it at a chosen one: a crash, a drain, or a store that is away.
//! Upstream: tests of crashes. Downstream: `overlay`.

mod driver;
mod transaction;

use crate::{
    driver::Driver,
    error::{Error, code},
};
use driver::Faulty;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::Notify;

/// What happens at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process dies: no call of that [`Incarnation`] ever returns.
    Crash,
    /// The process is told to drain, and its grace has ended: the call goes on, and whoever awaits
    /// [`drained`](Incarnation::drained) stops the run.
    Drain,
    /// The store is away. Before a call: it has no effect. After it: it took effect, and its answer is lost.
    Away,
}

/// The points that a scenario passes, counted from 0, and the faults at some of them.
///
/// - A point stands before and after each call of the driver that writes or decides, within a commit between its
///   writes, and wherever the scenario [puts one](Incarnation::point) itself.
/// - Played once without faults, a scenario tells its [points](Self::points); then once for each of them, it is hit
///   everywhere. A call that is made anew is hit without being named anywhere.
///
/// # Examples
/// ```
/// use jobs_runtime::{driver::Memory, testing::{Fault, Faults}};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let memory = Arc::new(Memory::new());
/// let faults = Faults::at(&[(1, Fault::Away)]);
/// let driver = faults.incarnate(memory).driver();
/// assert!(driver.rescue().await.unwrap_err().is_unavailable()); // it took effect
/// assert!(driver.rescue().await.is_ok());
/// assert_eq!(faults.points()[..2], ["before rescue", "after rescue"]);
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    plan: Vec<(usize, Fault)>,
    passed: Mutex<Vec<String>>,
}

impl Faults {
    /// No fault: the points are counted.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// A fault at each of these points.
    #[must_use]
    pub fn at(plan: &[(usize, Fault)]) -> Self {
        Self(Arc::new(Shared { plan: plan.to_vec(), passed: Mutex::default() }))
    }

    /// How many faults there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.plan.len()
    }

    /// Whether there is no fault.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.plan.is_empty()
    }

    /// Begins the life of a process that works on a store through faults.
    #[must_use]
    pub fn incarnate(&self, driver: Arc<dyn Driver>) -> Incarnation {
        Incarnation { faults: self.clone(), driver, life: Arc::default() }
    }

    /// The points that were passed, in order.
    #[must_use]
    pub fn points(&self) -> Vec<String> {
        self.0.passed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether every planned fault has happened.
    #[must_use]
    pub fn all_struck(&self) -> bool {
        let passed = self.0.passed.lock().unwrap_or_else(PoisonError::into_inner).len();
        self.0.plan.iter().all(|(at, _)| *at < passed)
    }

    fn pass(&self, point: String) -> Option<Fault> {
        let mut passed = self.0.passed.lock().unwrap_or_else(PoisonError::into_inner);
        let here = passed.len();
        passed.push(point);
        self.0.plan.iter().find(|(at, _)| *at == here).map(|(_, fault)| *fault)
    }
}

/// The life of one process, until it crashes.
///
/// The test drops what runs in it once it has [crashed](Self::crashed), and begins the next one with
/// [`Faults::incarnate`]. What a body of a crashed one still awaits never comes.
#[derive(Clone)]
pub struct Incarnation {
    faults: Faults,
    driver: Arc<dyn Driver>,
    life: Arc<Life>,
}

#[derive(Default)]
struct Life {
    over: AtomicBool,
    ended: Notify,
    draining: Notify,
}

impl Incarnation {
    /// The store as this process sees it.
    #[must_use]
    pub fn driver(&self) -> Arc<dyn Driver> {
        Arc::new(Faulty(self.clone()))
    }

    /// A point of the scenario's own: before or after an effect of a step.
    ///
    /// # Errors
    /// `X_STORE_UNAVAILABLE` if the fault here says so.
    pub async fn point(&self, name: impl Into<String>) -> Result<(), Error> {
        self.live().await;
        match self.faults.pass(name.into()) {
            None => Ok(()),
            Some(Fault::Drain) => {
                self.life.draining.notify_one();
                Ok(())
            }
            Some(Fault::Away) => Err(Error::new(code::STORE_UNAVAILABLE, "the test says that the store is away")),
            Some(Fault::Crash) => {
                self.life.over.store(true, Ordering::SeqCst);
                self.life.ended.notify_waiters();
                std::future::pending().await
            }
        }
    }

    /// Waits until it has crashed.
    pub async fn crashed(&self) {
        let ended = self.life.ended.notified();
        tokio::pin!(ended);
        ended.as_mut().enable();
        if !self.has_crashed() {
            ended.await;
        }
    }

    /// Waits until it is told to drain.
    pub async fn drained(&self) {
        self.life.draining.notified().await;
    }

    /// Whether it has crashed.
    #[must_use]
    pub fn has_crashed(&self) -> bool {
        self.life.over.load(Ordering::SeqCst)
    }

    /// Never comes back in a process that has died.
    async fn live(&self) {
        if self.has_crashed() {
            std::future::pending().await
        }
    }

    /// One call of the driver, with a point before and one after it.
    async fn call<T>(&self, name: &str, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.point(format!("before {name}")).await?;
        let answer = call.await;
        self.live().await;
        let answer = answer?;
        self.point(format!("after {name}")).await?;
        Ok(answer)
    }
}

impl std::fmt::Debug for Incarnation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Incarnation on {}, crashed: {}", self.driver.name(), self.has_crashed())
    }
}
