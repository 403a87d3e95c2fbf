//! Runs jobs in a test: in place, without a worker, on a memory store whose clock the test moves.
//! Upstream: tests. Downstream: `session`.

use super::{
    Waiting,
    clock::TestClock,
    enqueued,
    enqueued::{assert_enqueued, refute_enqueued},
    session::Session,
};
use crate::{
    client::Jobs,
    clock::Clock,
    ctx::States,
    driver::{JobRecord, Lease, Memory},
    enqueue::Enqueue,
    error::Error,
    execute::Execution,
    id::JobId,
    job::Job,
    json::JsonText,
    registry::Registry,
    state::State,
    steps,
};
use std::{any::TypeId, sync::Arc, time::Duration};

/// How many runs one [`Harness::drain`] makes before it takes the jobs for ones that enqueue each other for ever.
const MOST_RUNS: usize = 10_000;

/// A store in memory, a clock that stands still, and a worker in the test's own hand.
///
/// - [`run`](Self::run) enqueues a job and runs it here and now; [`drain`](Self::drain) runs all that is ready.
/// - Everything is as with a worker: state, tenant check, timeout, retries, follow-ups, hooks. Only time is the test's.
///
/// # Examples
/// ```
/// use jobs_runtime::{Ctx, Failure, Job, Outcome, Registry, spec::JobSpec, testing::Harness};
/// # use futures_util::future::BoxFuture;
/// struct Greet;
/// impl Job for Greet {
///     // …as `#[job]` writes it
/// #   type Input = String;
/// #   type Output = String;
/// #   const SPEC: JobSpec = JobSpec::new("greet");
/// #   fn tenant(_: &String) -> Option<String> { None }
/// #   fn run(ctx: &Ctx, name: String) -> BoxFuture<'_, Result<String, Failure>> {
/// #       Box::pin(async move { Ok(format!("{}, {name}", ctx.state::<&str>()?)) })
/// #   }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), jobs_runtime::Error> {
/// let app = Harness::with(Registry::builder().job::<Greet>().build()?).state("hello");
/// let run = app.run::<Greet>("Ada".to_owned()).await;
/// assert_eq!(run.outcome, Outcome::Completed);
/// assert_eq!(app.output::<String>(run.job).await, "hello, Ada");
///
/// app.jobs().enqueue::<Greet>("Bob".to_owned()).delay("3d").await?;
/// app.assert_enqueued::<Greet>(|name| name == "Bob").await;
/// assert!(app.drain().await.is_empty());
/// app.clock().advance("3d");
/// assert_eq!(app.drain().await.len(), 1);
/// # Ok(()) }
/// ```
pub struct Harness {
    jobs: Jobs,
    memory: Memory,
    clock: TestClock,
    states: Arc<States>,
}

impl Harness {
    /// A harness of every job that registered itself at link time.
    ///
    /// # Errors
    /// `X_JOB_NAME_TAKEN` or `X_DECLARATION_INVALID` if the jobs contradict each other.
    #[cfg(feature = "inventory")]
    pub fn new() -> Result<Self, Error> {
        Ok(Self::with(Registry::linked()?))
    }

    /// A harness of these jobs.
    #[must_use]
    pub fn with(registry: Registry) -> Self {
        let clock = Clock::manual();
        let memory = Memory::with_clock(clock.clone());
        let jobs = Jobs::new(Arc::new(memory.clone()), registry);
        Self { jobs, memory, clock: TestClock(clock), states: Arc::default() }
    }

    /// Puts other code in the place of the jobs, as a deploy does: store, clock and states stay, runs in flight go on with
    /// the new code.
    #[must_use]
    pub fn redeploy(self, registry: Registry) -> Self {
        let jobs = Jobs::new(Arc::new(self.memory.clone()), registry);
        Self { jobs, ..self }
    }

    /// Gives the jobs a state, which they read by `ctx.state::<T>()`. One of each type; a later one replaces it.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        let mut states = States::clone(&self.states);
        states.insert(TypeId::of::<T>(), Arc::new(state));
        self.states = Arc::new(states);
        self
    }

    /// Gives the steps, waits and children of this name an output, in place of their bodies, events and runs.
    ///
    /// # Panics
    /// If the value cannot be encoded.
    #[must_use]
    pub fn mock_step(mut self, name: impl Into<String>, output: impl serde::Serialize) -> Self {
        let mut states = States::clone(&self.states);
        steps::mock(&mut states, name.into(), &output);
        self.states = Arc::new(states);
        self
    }

    /// The jobs, to enqueue with and to hand to the code under test.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// The store's clock.
    #[must_use]
    pub fn clock(&self) -> &TestClock {
        &self.clock
    }

    /// Enqueues a job and runs one attempt of it here and now.
    ///
    /// # Panics
    /// If the enqueue is refused, or its unique key is taken; and as [`attempt`](Self::attempt).
    pub async fn run<J: Job>(&self, input: J::Input) -> Execution {
        self.run_enqueue(self.jobs.enqueue::<J>(input)).await
    }

    /// Enqueues a refined job and runs one attempt of it here and now, also if it is delayed.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub async fn run_enqueue(&self, enqueue: Enqueue<'_>) -> Execution {
        let enqueued = enqueue.await.unwrap_or_else(|error| panic!("the enqueue is refused: {error}"));
        assert!(enqueued.is_inserted(), "the job's unique key is taken by job {}", enqueued.id());
        self.attempt(enqueued.id()).await
    }

    /// Runs the next attempt of a job here and now, whether it is ready or waits for its time. A run that is parked is
    /// let go on, and parks again if what it waits for has not come.
    ///
    /// # Panics
    /// If the job is not stored, has ended, or is of a kind that is not registered.
    pub async fn attempt(&self, job: JobId) -> Execution {
        let session = self.session().await;
        let Some(claimed) = self.memory.claim_job(session.worker(), job) else {
            panic!("job {job} cannot run: it is {}", self.find(job).await.state);
        };
        let execution = session.execute(claimed).await;
        session.end().await;
        execution
    }

    /// Runs all that is ready, one after the other in the order of claims, and what those runs make ready: follow-ups,
    /// children, enqueues, retries without a wait. Jobs that wait for a later time stay, and so do runs that are parked
    /// until the clock is moved, an event is published or an operator answers.
    ///
    /// # Panics
    /// After 10,000 runs: then jobs enqueue each other for ever.
    pub async fn drain(&self) -> Vec<Execution> {
        let session = self.session().await;
        let mut executions = Vec::new();
        while let Some(claimed) = self.memory.claim_next(session.worker()) {
            let kind = claimed.kind.clone();
            executions.push(session.execute(claimed).await);
            assert!(executions.len() < MOST_RUNS, "{MOST_RUNS} runs and no end, the last of `{kind}`");
        }
        session.end().await;
        executions
    }

    /// A worker for as long as one call lasts.
    async fn session(&self) -> Session {
        // A test that moves the clock in the middle of a body does not lose its lease.
        let lease = Lease { duration: crate::duration::MAX, beat: Duration::from_secs(10) };
        Session::begin(&self.jobs, &self.states, lease).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// All that is stored of a job.
    ///
    /// # Panics
    /// If it is not stored.
    pub async fn find(&self, job: JobId) -> JobRecord {
        self.jobs.find(job).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The state of a job.
    ///
    /// # Panics
    /// If it is not stored.
    pub async fn state_of(&self, job: JobId) -> State {
        self.find(job).await.state
    }

    /// The output of a completed job.
    ///
    /// # Panics
    /// If the job has no output, or it does not decode.
    pub async fn output<T: serde::de::DeserializeOwned>(&self, job: JobId) -> T {
        let record = self.find(job).await;
        // What encodes as null, `()` or a `None`, is not stored.
        let null = (record.state == State::Completed).then(|| JsonText::trusted("null"));
        let Some(output) = record.output.or(null) else { panic!("job {job} is {} and has no output", record.state) };
        output.decode().unwrap_or_else(|error| panic!("the output of job {job} does not decode: {error}"))
    }

    /// The jobs of one kind that wait or are ready: [`enqueued`](fn@super::enqueued).
    ///
    /// # Panics
    /// As the function.
    pub async fn enqueued<J: Job>(&self) -> Vec<Waiting<J>> {
        enqueued(&self.jobs).await
    }

    /// Asserts that a job is enqueued: [`assert_enqueued`](fn@super::assert_enqueued).
    ///
    /// # Panics
    /// As the function.
    pub async fn assert_enqueued<J: Job>(&self, wanted: impl Fn(&J::Input) -> bool) -> Waiting<J> {
        assert_enqueued(&self.jobs, wanted).await
    }

    /// Asserts that no such job is enqueued: [`refute_enqueued`](fn@super::refute_enqueued).
    ///
    /// # Panics
    /// As the function.
    pub async fn refute_enqueued<J: Job>(&self, unwanted: impl Fn(&J::Input) -> bool) {
        refute_enqueued::<J>(&self.jobs, unwanted).await;
    }
}

impl std::fmt::Debug for Harness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Harness of {:?}", self.jobs)
    }
}
