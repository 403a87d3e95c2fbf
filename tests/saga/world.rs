//! What the sagas of these tests act on: a list of all that was done, and a script of what shall go wrong.

use jobs::{prelude::*, testing::Harness};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

/// How one act goes wrong.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// It fails, to be tried again.
    Fail,
    /// It fails for good.
    Terminal,
    /// It panics.
    Panic,
    /// It never ends.
    Hang,
}

/// The world. Clones are one.
#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    done: Vec<String>,
    script: HashMap<String, VecDeque<Fault>>,
}

impl World {
    /// Lets an act go wrong, so many times.
    pub(crate) fn fault(self, act: &str, fault: Fault, times: usize) -> Self {
        self.0.lock().unwrap().script.entry(act.to_owned()).or_default().extend(vec![fault; times]);
        self
    }

    /// Lets an act go well from now on.
    pub(crate) fn mend(&self, act: &str) {
        self.0.lock().unwrap().script.remove(act);
    }

    /// All that was done and tried, in order.
    pub(crate) fn done(&self) -> Vec<String> {
        self.0.lock().unwrap().done.clone()
    }

    /// What was undone, in order.
    pub(crate) fn undone(&self) -> Vec<String> {
        self.done().into_iter().filter(|act| act.starts_with("undo")).collect()
    }

    /// Does something, or fails to, as the script says.
    pub(crate) async fn act(&self, act: &str) -> Result<String, Failure> {
        let fault = {
            let mut inner = self.0.lock().unwrap();
            inner.done.push(act.to_owned());
            inner.script.get_mut(act).and_then(VecDeque::pop_front)
        };
        match fault {
            None => Ok(format!("{act}!")),
            Some(Fault::Fail) => Err(Failure::retry(format!("{act} failed")).code("X_ACT_FAILED")),
            Some(Fault::Terminal) => Err(Failure::terminal(format!("{act} failed for good")).code("X_ACT_REFUSED")),
            Some(Fault::Panic) => panic!("{act} panicked"),
            Some(Fault::Hang) => std::future::pending().await,
        }
    }
}

/// Does something in the world of a run.
pub(crate) async fn act(ctx: &Ctx, what: impl AsRef<str>) -> Result<String, Failure> {
    ctx.state::<World>()?.clone().act(what.as_ref()).await
}

/// A harness in a world.
pub(crate) fn harness(world: &World) -> Harness {
    Harness::new().unwrap().state(world.clone())
}

/// Runs a job, each time that it is due, until it ends.
pub(crate) async fn to_its_end(app: &Harness, job: jobs::JobId) -> jobs::driver::JobRecord {
    for _ in 0..100 {
        let record = app.find(job).await;
        if record.state.is_final() {
            return record;
        }
        app.drain().await;
        app.clock().advance(Duration::from_secs(60));
    }
    panic!("job {job} does not end: it is {}", app.find(job).await.state);
}

/// Undoes something in the world of a run.
pub(crate) async fn undo(ctx: &Ctx, what: impl AsRef<str>) -> Result<(), Failure> {
    act(ctx, format!("undo {}", what.as_ref())).await.map(drop)
}
