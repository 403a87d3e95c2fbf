//! One job that does what its input says, for suites that need jobs of every sort.

use crate::{
    backoff::Backoff,
    ctx::Ctx,
    failure::Failure,
    id::JobId,
    job::Job,
    spec::{JobSpec, Retry},
};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// What one attempt does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Act {
    /// Returns `Ok` with the number of the attempt.
    Ok,
    /// Fails with this text, to be tried again.
    Fail(String),
    /// Fails for good.
    Terminal,
    /// Panics with this text.
    Panic(String),
    /// Never ends by itself, and does not look at its cancellation.
    Hang,
    /// Waits for its cancellation, then fails.
    UntilCancelled,
    /// Asks to run again after so many milliseconds, uncounted.
    Snooze(u64),
    /// Ends as cancelled.
    Cancel,
    /// Ends as dropped.
    Discard,
    /// Reports this progress, then returns `Ok`.
    Progress(u64, u64),
}

/// The job: each attempt, and each life after a crash, does the next act; the last one again and again.
///
/// A worker that was given [`Starts`] notes each start there. The job is called `testing.acts`, stands in the queue `acts`, and has 3 attempts 10 ms apart. It does not register itself:
/// `Registry::builder().job::<Acts>()`.
#[derive(Debug)]
pub struct Acts;

impl Job for Acts {
    type Input = Vec<Act>;
    type Output = u32;
    const SPEC: JobSpec = JobSpec::new("testing.acts").queue("acts").retry(Retry::new(3, Backoff::fixed("10ms")));

    fn tenant(_: &Vec<Act>) -> Option<String> {
        None
    }

    fn run(ctx: &Ctx, acts: Vec<Act>) -> BoxFuture<'_, Result<u32, Failure>> {
        Box::pin(async move {
            if let Ok(starts) = ctx.state::<Starts>() {
                starts.note(ctx);
            }
            let lives = ctx.attempt() as usize + usize::from(ctx.crashes());
            perform(ctx, acts.get(lives - 1).or(acts.last()).cloned().unwrap_or(Act::Ok)).await
        })
    }
}

/// Every start of a body, in order. Clones are one list.
#[derive(Debug, Clone, Default)]
pub struct Starts(Arc<Mutex<Vec<(JobId, u32)>>>);

impl Starts {
    pub(super) fn note(&self, ctx: &Ctx) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((ctx.id(), ctx.attempt()));
    }

    /// The jobs that were started, with their attempts.
    #[must_use]
    pub fn all(&self) -> Vec<(JobId, u32)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many times a job was started.
    #[must_use]
    pub fn of(&self, job: JobId) -> usize {
        self.all().iter().filter(|(id, _)| *id == job).count()
    }
}

/// Does one act.
async fn perform(ctx: &Ctx, act: Act) -> Result<u32, Failure> {
    match act {
        Act::Ok => Ok(ctx.attempt()),
        Act::Fail(text) => Err(Failure::retry(text)),
        Act::Terminal => Err(Failure::terminal("no attempt can mend it")),
        Act::Panic(text) => panic!("{text}"),
        Act::Hang => std::future::pending().await,
        Act::UntilCancelled => {
            ctx.cancelled().await;
            Err(Failure::retry("stopped when asked to"))
        }
        Act::Snooze(millis) => Err(Failure::snooze(Duration::from_millis(millis))),
        Act::Cancel => Err(Failure::cancel("not needed any more")),
        Act::Discard => Err(Failure::discard("not wanted")),
        Act::Progress(done, total) => {
            ctx.progress(done, total, "as told");
            Ok(ctx.attempt())
        }
    }
}
