//! Says what a worker shall do and starts it. Upstream: `client`. Downstream: `plan`, `mod`.

use super::{
    Shared, Worker,
    plan::{Findings, Plan, kinds},
};
use crate::{
    client::Jobs,
    ctx::States,
    driver::Lease,
    duration::IntoDuration,
    error::{Error, code},
    job::{Job, JobDef},
    report::{Report, Reporter},
};
use std::{
    any::TypeId,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// What a worker shall do. Made by [`Jobs::worker`].
///
/// Defaults: every queue of the registered jobs, 10 jobs of each at a time, a lease of 30 s renewed every 10 s, 30 s for
/// a drain in all, 5 s from a run's cancellation to its drop.
#[must_use = "a worker runs once it is started"]
pub struct WorkerBuilder {
    jobs: Jobs,
    states: States,
    concurrency: u32,
    queues: BTreeMap<String, u32>,
    only_queues: Option<BTreeSet<String>>,
    only_jobs: Option<BTreeSet<&'static str>>,
    lease: Lease,
    name: Option<String>,
    prefetch: Option<u32>,
    drain_grace: Duration,
    cancel_grace: Duration,
    reporter: Reporter,
    findings: Findings,
}

impl Jobs {
    /// Builds a worker that runs the jobs of this process.
    ///
    /// # Examples
    /// ```no_run
    /// # async fn main_() -> Result<(), jobs_runtime::Error> {
    /// # let jobs = jobs_runtime::Jobs::memory()?;
    /// # struct Mailer;
    /// let worker = jobs.worker().state(Mailer).queue("orders", 10).start().await?;
    /// worker.run_until_signal().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn worker(&self) -> WorkerBuilder {
        WorkerBuilder {
            jobs: self.clone(),
            states: States::new(),
            concurrency: 10,
            queues: BTreeMap::new(),
            only_queues: None,
            only_jobs: None,
            lease: Lease::default(),
            name: None,
            prefetch: None,
            drain_grace: Duration::from_secs(30),
            cancel_grace: Duration::from_secs(5),
            reporter: Reporter::default(),
            findings: Findings::default(),
        }
    }
}

impl WorkerBuilder {
    /// Gives the jobs a state, which they read by `ctx.state::<T>()`. One of each type; a later one replaces it.
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.states.insert(TypeId::of::<T>(), Arc::new(state));
        self
    }

    /// Sets how many jobs of a queue run at a time, and serves the queue also if no registered job names it. The other
    /// queues are served as well, unless [`queues`](Self::queues) or [`only`](Self::only) says otherwise.
    pub fn queue(mut self, queue: impl Into<String>, concurrency: u32) -> Self {
        self.queues.insert(queue.into(), concurrency);
        self
    }

    /// Sets how many jobs of each queue run at a time that [`queue`](Self::queue) does not name. Default 10.
    pub fn concurrency(mut self, concurrency: u32) -> Self {
        self.concurrency = concurrency;
        self
    }

    /// Serves only these queues.
    pub fn queues<Q: Into<String>>(mut self, queues: impl IntoIterator<Item = Q>) -> Self {
        self.only_queues.get_or_insert_default().extend(queues.into_iter().map(Into::into));
        self
    }

    /// Runs only this job. Called again, it adds another.
    pub fn only<J: Job>(mut self) -> Self {
        let name = const { J::SPEC }.name;
        if self.jobs.registry().get(name).is_none() {
            self.findings.add(code::JOB_UNKNOWN, format!("job `{name}` is not registered"));
        }
        self.only_jobs.get_or_insert_default().insert(name);
        self
    }

    /// Sets how long the lease lasts and how often it is renewed. Default 30 s and 10 s.
    pub fn lease(mut self, lease: Lease) -> Self {
        self.lease = lease;
        self
    }

    /// Names the worker for people. Default: host and process id. Not an identity: each start has one of its own.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Fixes how many jobs of each queue are claimed ahead of a free slot. Default: what the queue starts within
    /// 200 ms by its own recent pace, at most 1,000; so that slow jobs are left to other workers.
    pub fn prefetch(mut self, jobs: u32) -> Self {
        self.prefetch = Some(jobs);
        self
    }

    /// Sets how long a drain may take: `"30s"`, the default, or a [`Duration`].
    ///
    /// Runs go on undisturbed until the time that is left is what a cancelled run may take to end
    /// ([`cancel_grace`](Self::cancel_grace) and a second), so that the worker ends within the grace. A grace that is
    /// shorter than twice that is given to the runs as a whole, and the worker takes so much longer; `"0s"` cancels them
    /// at once.
    pub fn drain_grace(mut self, grace: impl IntoDuration) -> Self {
        self.drain_grace = self.parse("drain_grace", grace);
        self
    }

    /// Sets how long a cancelled run may take to return before it is dropped: `"5s"`, the default, or a [`Duration`].
    pub fn cancel_grace(mut self, grace: impl IntoDuration) -> Self {
        self.cancel_grace = self.parse("cancel_grace", grace);
        self
    }

    /// Reports what went wrong for good: each failure that ended a job, a failed hook, a background loop that had to
    /// begin again, a lost lease. Also each run that waits for a person (`X_STEP_UNKNOWN`) or, once for each job, for a
    /// release that fits its records (`X_STEP_MISMATCH`). Called on the worker's threads: hand over and return.
    pub fn on_error(mut self, report: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.reporter = Reporter::new(report);
        self
    }

    /// Starts the worker on the current runtime.
    ///
    /// # Errors
    /// - All that stands against a start, at once: `X_STATE_MISSING`, `X_DRIVER_UNSUPPORTED`, `X_QUEUE_NAME_INVALID`,
    ///   `X_JOB_UNKNOWN`, or `X_WORKER_CONFIG_INVALID` where there is more than one kind.
    /// - What the store says, if it does not begin the lease. Later outages are waited out.
    pub async fn start(self) -> Result<Worker, Error> {
        let reporter = self.reporter.clone();
        let jobs = self.jobs.clone();
        let (plan, states) = self.plan()?;
        Worker::start(Arc::new(Shared::new(jobs, plan, Arc::new(states), reporter))).await
    }

    /// Starts the worker and runs until SIGTERM or SIGINT, then drains it. A second signal ends the drain's grace.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub async fn run(self) -> Result<(), Error> {
        self.start().await?.run_until_signal().await;
        Ok(())
    }

    fn plan(mut self) -> Result<(Plan, States), Error> {
        let jobs = self.chosen_jobs();
        let queues = self.chosen_queues(&jobs);
        let mut findings = self.findings;
        findings.states(&jobs, &self.states);
        findings.capabilities(&jobs, &**self.jobs.driver());
        findings.queues(&queues, self.jobs.registry().iter().count());
        findings.lease(self.lease);
        findings.refuse()?;
        let plan = Plan {
            name: self.name.take().unwrap_or_else(default_name),
            lease: self.lease,
            queues: queues.into_iter().collect(),
            kinds: kinds(&jobs),
            prefetch: self.prefetch,
            drain_grace: self.drain_grace,
            cancel_grace: self.cancel_grace,
        };
        Ok((plan, self.states))
    }

    fn chosen_jobs(&self) -> Vec<&'static JobDef> {
        let registered = self.jobs.registry().iter();
        let chosen = registered.filter(|job| {
            self.only_jobs.as_ref().is_none_or(|only| only.contains(job.spec.name))
                && self.only_queues.as_ref().is_none_or(|only| only.contains(job.spec.queue))
        });
        chosen.collect()
    }

    fn chosen_queues(&self, jobs: &[&'static JobDef]) -> BTreeMap<String, u32> {
        let concurrency = |queue: &str| self.queues.get(queue).copied().unwrap_or(self.concurrency);
        let mut queues: BTreeMap<String, u32> =
            jobs.iter().map(|job| (job.spec.queue.to_owned(), concurrency(job.spec.queue))).collect();
        match &self.only_queues {
            Some(only) => queues.extend(only.iter().map(|queue| (queue.clone(), concurrency(queue)))),
            None if self.only_jobs.is_none() => queues.extend(self.queues.clone()),
            None => {}
        }
        queues
    }

    fn parse(&mut self, setting: &str, grace: impl IntoDuration) -> Duration {
        grace.into_duration().unwrap_or_else(|error| {
            self.findings.add(code::WORKER_CONFIG_INVALID, format!("{setting} of {grace:?}: {error}"));
            Duration::ZERO
        })
    }
}

fn default_name() -> String {
    let host = std::env::var("HOSTNAME").or_else(|_| std::fs::read_to_string("/etc/hostname"));
    let host = host.ok().map(|host| host.trim().to_owned()).filter(|host| !host.is_empty());
    format!("{}:{}", host.as_deref().unwrap_or("localhost"), std::process::id())
}
