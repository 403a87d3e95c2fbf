//! Every job that this process knows. Upstream: the macros. Downstream: `enqueue` and `worker`.

use crate::{
    error::{Error, code},
    job::{Job, JobDef},
};
use std::collections::BTreeMap;

/// The jobs that a process knows, by name and alias.
#[derive(Debug, Default)]
pub struct Registry {
    jobs: BTreeMap<&'static str, &'static JobDef>,
    aliases: BTreeMap<&'static str, &'static JobDef>,
}

/// Collects jobs for a [`Registry`].
#[derive(Debug, Default)]
pub struct Builder {
    found: Vec<&'static JobDef>,
}

/// A job that registers itself at link time.
pub struct Registration(pub &'static JobDef);

#[cfg(feature = "inventory")]
inventory::collect!(Registration);

impl Registry {
    /// An empty builder, for explicit registration.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Every job that registered itself at link time, sorted by name.
    ///
    /// # Errors
    /// `X_JOB_NAME_TAKEN` if two jobs share a name or alias, quoting both places.
    #[cfg(feature = "inventory")]
    pub fn linked() -> Result<Self, Error> {
        let mut builder = Builder::default();
        builder.found.extend(inventory::iter::<Registration>.into_iter().map(|found| found.0));
        builder.build()
    }

    /// Finds a job by its name or an alias.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'static JobDef> {
        self.jobs.get(name).or_else(|| self.aliases.get(name)).copied()
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
    /// Adds a job.
    #[must_use]
    pub fn job<J: Job>(mut self) -> Self {
        self.found.push(const { &JobDef::of::<J>() });
        self
    }

    /// Builds the registry.
    ///
    /// # Errors
    /// `X_JOB_NAME_TAKEN` if two jobs share a name or alias, quoting both places.
    pub fn build(self) -> Result<Registry, Error> {
        let mut registry = Registry::default();
        for job in self.found {
            for name in std::iter::once(&job.spec.name).chain(job.spec.aliases) {
                if let Some(other) = registry.get(name).filter(|other| !std::ptr::eq(*other, job)) {
                    return Err(Error::new(
                        code::JOB_NAME_TAKEN,
                        format!(
                            "the name `{name}` is taken by two jobs, at {} and at {}",
                            other.spec.place, job.spec.place
                        ),
                    ));
                }
            }
            registry.jobs.insert(job.spec.name, job);
            registry.aliases.extend(job.spec.aliases.iter().map(|alias| (*alias, job)));
        }
        Ok(registry)
    }
}
