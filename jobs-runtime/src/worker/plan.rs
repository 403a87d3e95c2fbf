//! What a worker shall do, checked as a whole before it starts: all findings at once.
//! Upstream: `builder`. Downstream: `mod`.

use crate::{
    ctx::States,
    driver::{Capability, Driver, KnownKind, Lease},
    duration,
    error::{
        Error,
        code::{self, Code},
    },
    job::JobDef,
    name,
    registry::Registry,
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// What a worker does.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) lease: Lease,
    pub(super) queues: Vec<(String, u32)>,
    pub(super) kinds: Arc<[KnownKind]>,
    /// How many jobs each queue holds ahead, if fixed.
    pub(super) prefetch: Option<u32>,
    pub(super) drain_grace: Duration,
    pub(super) cancel_grace: Duration,
}

impl Plan {
    pub(super) fn knows(&self, job: &str) -> bool {
        self.kinds.iter().any(|kind| kind.name == job)
    }

    /// How long runs may go on after a drain began, before they are cancelled: so long that a worker whose grace leaves
    /// room for it ends within the grace, as a platform that kills it then expects.
    pub(super) fn undisturbed(&self) -> Duration {
        let ending = self.cancel_grace + Duration::from_secs(1);
        if self.drain_grace >= ending * 2 { self.drain_grace - ending } else { self.drain_grace }
    }

    pub(super) fn queue_names(&self) -> Vec<String> {
        self.queues.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// The kinds that a worker which runs these jobs knows: their names and aliases, and the library's own jobs.
pub(crate) fn kinds(jobs: &[&'static JobDef]) -> Arc<[KnownKind]> {
    let named = jobs.iter().copied().chain(Registry::own()).flat_map(|job| {
        std::iter::once(&job.spec.name).chain(job.spec.aliases).map(|name| KnownKind {
            name: (*name).to_owned(),
            version: job.spec.version,
            queue: job.spec.queue.to_owned(),
            outline: job.spec.outline,
        })
    });
    named.collect()
}

/// What stands against a start.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<(Code, String)>);

impl Findings {
    pub(super) fn add(&mut self, code: Code, text: impl Into<String>) {
        self.0.push((code, text.into()));
    }

    pub(super) fn states(&mut self, jobs: &[&'static JobDef], states: &States) {
        for job in jobs {
            for need in job.spec.needs {
                if !states.contains_key(&(need.type_id)()) {
                    let text = format!("job `{}` needs a state of type `{}`", job.spec.name, (need.type_name)());
                    self.add(code::STATE_MISSING, text);
                }
            }
        }
    }

    pub(super) fn capabilities(&mut self, jobs: &[&'static JobDef], driver: &dyn Driver) {
        if driver.supports(Capability::UniqueKeys) {
            return;
        }
        for job in jobs.iter().filter(|job| job.spec.unique.is_some()) {
            let text =
                format!("job `{}` uses unique keys, which the {} driver does not have", job.spec.name, driver.name());
            self.add(code::DRIVER_UNSUPPORTED, text);
        }
    }

    pub(super) fn queues(&mut self, queues: &BTreeMap<String, u32>, registered: usize) {
        if queues.is_empty() && registered == 0 {
            self.add(code::JOB_UNKNOWN, "the worker has nothing to run: no job is registered in this process");
        } else if queues.is_empty() {
            self.add(code::WORKER_CONFIG_INVALID, "the worker has no queue: `queues` or `only` leaves none");
        }
        for (queue, concurrency) in queues {
            if let Err(error) = name::check(queue) {
                self.add(code::QUEUE_NAME_INVALID, format!("queue `{}`: {error}", queue.escape_debug()));
            }
            if *concurrency == 0 {
                let text = format!("queue `{}` has a concurrency of 0, the least is 1", queue.escape_debug());
                self.add(code::WORKER_CONFIG_INVALID, text);
            }
        }
    }

    pub(super) fn lease(&mut self, lease: Lease) {
        if lease.duration > duration::MAX {
            let text = format!("the lease of {:?} is longer than 36500d, the limit", lease.duration);
            self.add(code::WORKER_CONFIG_INVALID, text);
        }
        if lease.beat.is_zero() || lease.duration < lease.beat.saturating_mul(2) {
            let text = format!(
                "the lease of {:?} is renewed every {:?}: a beat must be longer than zero and at most half the lease",
                lease.duration, lease.beat
            );
            self.add(code::WORKER_CONFIG_INVALID, text);
        }
    }

    /// # Errors
    /// All findings in one text, under their code where they share one, else `X_WORKER_CONFIG_INVALID`.
    pub(super) fn refuse(self) -> Result<(), Error> {
        let Some((first, _)) = self.0.first() else { return Ok(()) };
        let first = *first;
        if self.0.len() == 1 {
            return Err(Error::new(first, self.0.into_iter().map(|(_, text)| text).collect::<String>()));
        }
        let one = self.0.iter().all(|(code, _)| *code == first);
        let texts: Vec<String> = self.0.iter().map(|(code, text)| format!("{text} ({code})")).collect();
        let fixes: Vec<&str> = self.0.iter().fold(Vec::new(), |mut fixes, (code, _)| {
            if !fixes.contains(&code.fix) {
                fixes.push(code.fix);
            }
            fixes
        });
        let text = format!("the worker cannot start: {}", texts.join("; "));
        Err(Error::new(if one { first } else { code::WORKER_CONFIG_INVALID }, text).with_fix(fixes.join("; ")))
    }
}
