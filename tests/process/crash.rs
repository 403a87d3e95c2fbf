//! A driver that kills its own process at a chosen point of the contract, as SIGKILL would. Downstream: `worker`.

use futures_util::future::BoxFuture;
use jobs::{
    Error,
    driver::{Change, Claim, Claimed, Driver, WorkerId, Write, Written},
    testing::Overlay,
};
use std::{process, process::Command, sync::Arc, thread};

/// Where the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// A claim has committed, and its jobs are known to nobody.
    Claimed,
    /// A job has ended, and its end is not written.
    Finishing,
    /// The end of a job is written, and nobody was told.
    Finished,
}

impl Point {
    /// The point that an environment variable names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Claimed, Self::Finishing, Self::Finished].into_iter().find(|point| format!("{point:?}") == name)
    }
}

/// The driver.
pub(crate) struct Crashing {
    pub(crate) inner: Arc<dyn Driver>,
    pub(crate) at: Point,
}

impl Crashing {
    fn reach(&self, point: Point) {
        if self.at == point {
            let _ = Command::new("kill").args(["-s", "KILL", &process::id().to_string()]).status();
            thread::park();
        }
    }
}

impl Overlay for Crashing {
    fn under(&self) -> &dyn Driver {
        &*self.inner
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(async {
            let claimed = self.inner.claim(claim).await?;
            if !claimed.is_empty() {
                self.reach(Point::Claimed);
            }
            Ok(claimed)
        })
    }

    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> BoxFuture<'a, Result<Vec<Written>, Error>> {
        Box::pin(async move {
            let finishes = writes.iter().any(|write| matches!(write.change, Change::Finish(_)));
            if finishes {
                self.reach(Point::Finishing);
            }
            let written = self.inner.commit(worker, writes).await?;
            if finishes {
                self.reach(Point::Finished);
            }
            Ok(written)
        })
    }
}
