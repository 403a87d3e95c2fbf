//! Every job that this process knows, sorted by name. Upstream: the macros. Downstream: `enqueue` and `worker`.

mod findings;

use crate::{
    error::{
        Codes, Error,
        code::{self, Code},
    },
    failure_class::JobError,
    job::{Job, JobDef},
    upkeep::PurgeEvents,
};
use findings::Findings;
use std::{collections::BTreeMap, fmt};

/// The jobs that a process knows, by name and alias, and the error codes that its callers may learn.
///
/// A job in a crate that nothing names in source is dropped by the linker and registers nothing: write
/// `use the_crate as _;` in the program, and let [`expect`](Self::expect) prove it at startup.
///
/// # Examples
/// ```
/// use jobs_runtime::Registry;
/// let registry = Registry::builder().build()?;
/// let missing = registry.expect(["mail.send"]).unwrap_err();
/// assert!(missing.to_string().contains("`mail.send`"));
/// # Ok::<(), jobs_runtime::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Registry {
    jobs: BTreeMap<&'static str, &'static JobDef>,
    aliases: BTreeMap<&'static str, &'static JobDef>,
    codes: Codes,
}

/// Collects jobs for a [`Registry`].
#[derive(Debug, Default)]
#[must_use = "`.build()` gives the registry"]
pub struct Builder {
    jobs: Vec<&'static JobDef>,
    codes: Vec<Code>,
}

/// A job that registers itself at link time.
#[doc(hidden)]
pub struct Registration(pub &'static JobDef);

#[cfg(feature = "inventory")]
inventory::collect!(Registration);

impl Registry {
    /// An empty builder, for explicit registration.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Every job and error type that registered itself at link time.
    ///
    /// # Errors
    /// As [`Builder::build`].
    #[cfg(feature = "inventory")]
    pub fn linked() -> Result<Self, Error> {
        Builder::default().linked().build()
    }

    /// Looks a job up by its name or an alias.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'static JobDef> {
        let known = self.jobs.get(name).or_else(|| self.aliases.get(name)).copied();
        known.or_else(|| Self::own().find(|own| own.spec.name == name))
    }

    /// The jobs that this library brings along. Every worker runs them, no registry lists them.
    pub(crate) fn own() -> impl Iterator<Item = &'static JobDef> {
        std::iter::once(PurgeEvents::DEF)
    }

    /// Finds a job by its name or an alias.
    ///
    /// # Errors
    /// `X_JOB_UNKNOWN` if there is none.
    pub fn find(&self, name: &str) -> Result<&'static JobDef, Error> {
        self.get(name).ok_or_else(|| {
            let shown: String = name.chars().take(100).flat_map(char::escape_debug).collect();
            Error::new(code::JOB_UNKNOWN, format!("no job `{shown}` is registered in this process"))
        })
    }

    /// Checks that jobs of these names are there, so that a crate which the linker dropped is noticed at startup.
    ///
    /// # Errors
    /// `X_JOB_UNKNOWN` with every name that is missing.
    pub fn expect<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<(), Error> {
        let missing: Vec<String> =
            names.into_iter().filter(|name| self.get(name).is_none()).map(|name| format!("`{name}`")).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let subject = if missing.len() == 1 { "this job is" } else { "these jobs are" };
        let detail = format!("{subject} not registered in this process: {}", missing.join(", "));
        Err(Error::new(code::JOB_UNKNOWN, detail).with_fix(
            "name the crate that declares it in the program, `use the_crate as _;`, or the linker drops it; or register \
             it with `Registry::builder().job::<..>()`",
        ))
    }

    /// The error codes that a remote caller may learn.
    #[must_use]
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// How many jobs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there is no job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The jobs, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &'static JobDef> + '_ {
        self.jobs.values().copied()
    }
}

impl Builder {
    /// Adds a job. Adding it twice is the same as once.
    pub fn job<J: Job>(mut self) -> Self {
        self.jobs.push(const { &JobDef::of::<J>() });
        self
    }

    /// Adds the codes of an error type, so that remote callers may learn them.
    pub fn error<E: JobError>(mut self) -> Self {
        self.codes.extend(E::CODES);
        self
    }

    /// Adds every job and error type that registered itself at link time.
    #[cfg(feature = "inventory")]
    pub fn linked(mut self) -> Self {
        self.jobs.extend(inventory::iter::<Registration>.into_iter().map(|found| found.0));
        self.codes.extend(crate::failure_class::declared_codes());
        self
    }

    /// Builds the registry and checks its jobs against each other.
    ///
    /// # Errors
    /// `X_JOB_NAME_TAKEN` if two jobs share a name or alias, `X_DECLARATION_INVALID` if a declaration breaks a rule.
    /// All findings are in the one error, each with its place.
    pub fn build(self) -> Result<Registry, Error> {
        let mut findings = Findings::default();
        let mut registry = Registry::default();
        for job in self.jobs {
            if registry.jobs.get(job.spec.name).is_some_and(|known| known.is_same(job)) {
                continue;
            }
            findings.check(job);
            for (at, name) in std::iter::once(&job.spec.name).chain(job.spec.aliases).enumerate() {
                match registry.get(name) {
                    Some(other) if other.is_same(job) => findings.repeated(job, name),
                    Some(other) => findings.taken(name, other, job),
                    None if at == 0 => drop(registry.jobs.insert(name, job)),
                    None => drop(registry.aliases.insert(name, job)),
                }
            }
        }
        registry.codes.add_all(&self.codes, &mut findings.broken);
        findings.into_result().map(|()| registry)
    }
}

/// What was found, a line for each queue.
impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut queues = BTreeMap::<&str, Vec<&str>>::new();
        for job in self.iter() {
            queues.entry(job.spec.queue).or_default().push(job.spec.name);
        }
        write!(f, "{} in {}", count(self.len(), "job"), count(queues.len(), "queue"))?;
        for (queue, jobs) in queues {
            write!(f, "\n  {queue}: {}", jobs.join(", "))?;
        }
        Ok(())
    }
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
