//! What a job declares: const-constructible data, checked where it is written.

use crate::{backoff::Backoff, duration, name, outline::OutlineItem, settled::FollowUp};
use std::{any::TypeId, panic::Location, time::Duration};

/// The declaration of a job. Built in a `const` by `#[job]` or by hand, so that a broken rule stops the build.
///
/// # Examples
/// ```
/// use jobs_runtime::spec::{JobSpec, Retry};
/// use jobs_runtime::backoff::Backoff;
/// const SPEC: JobSpec = JobSpec::new("mail.send")
///     .queue("mail")
///     .retry(Retry::new(8, Backoff::exponential("2s", "10m")))
///     .timeout("30s");
/// assert_eq!(SPEC.queue, "mail");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct JobSpec {
    /// The durable name.
    pub name: &'static str,
    /// Older names whose rows this job still runs.
    pub aliases: &'static [&'static str],
    /// The version of the payload that this code writes. Rows of older versions pass through `upgrade`.
    pub version: u16,
    /// The queue that the job goes to unless an enqueue says otherwise. Default `default`.
    pub queue: &'static str,
    /// Lower runs first. Default 0.
    pub priority: i16,
    /// Attempts and the waits between them.
    pub retry: Retry,
    /// The longest that one attempt may run. Default: no limit.
    pub timeout: Option<Duration>,
    /// The longest that a job may wait for its first start. Default: no limit.
    pub expires_after: Option<Duration>,
    /// Whether and how jobs of one key exclude each other.
    pub unique: Option<Unique>,
    /// How long a finished job stays in the history.
    pub keep: Keep,
    /// Whether a job that failed for good is kept for an operator (`dead`) or not (`dropped`). Default true.
    pub dead_letter: bool,
    /// How many times a job may take its process down before it is quarantined. Default 3.
    pub crash_budget: u16,
    /// The states that a worker must have to run the job.
    pub needs: &'static [Need],
    /// The job that follows a completion.
    pub then: Option<FollowUp>,
    /// The job that follows a death.
    pub on_dead: Option<FollowUp>,
    /// The first paragraphs of the doc comment.
    pub doc: &'static str,
    /// Where the job is written.
    pub place: Place,
    /// The durable constructs of the body, in source order.
    pub outline: &'static [OutlineItem],
}

/// A line of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The file, as `file!()` gives it.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// How many attempts a job gets, and the waits between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The first run and all retries. Default 5.
    pub max_attempts: u32,
    /// The waits.
    pub backoff: Backoff,
}

impl Retry {
    /// # Panics
    /// In a `const` context, at compile time, if `max_attempts` is 0.
    #[must_use]
    #[track_caller]
    pub const fn new(max_attempts: u32, backoff: Backoff) -> Self {
        assert!(max_attempts > 0, "max_attempts must be at least 1: the first run counts");
        Self { max_attempts, backoff }
    }
}

/// How jobs of one unique key exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unique {
    /// While what the key is taken.
    pub hold: Hold,
    /// What an enqueue does that finds the key taken.
    pub on_conflict: OnConflict,
}

/// While what a unique key is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Until the job has ended, in whatever way.
    Live,
    /// Until the job is first claimed.
    Queued,
    /// For good, also after the job has left the history.
    Forever,
    /// For this long from the enqueue, whatever becomes of the job.
    For(Duration),
}

/// What an enqueue does that finds its unique key taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Answers with the job that holds the key.
    Existing,
    /// Refuses with `X_JOB_DUPLICATE`.
    Reject,
}

/// How long a finished job stays in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Not at all.
    None,
    /// For this long from its end. Default 7 days.
    For(Duration),
}

impl Keep {
    /// 7 days: what a job keeps that declares nothing else, and what ends where the declaration is not at hand (an
    /// operator's cancel, a rescue).
    pub const DEFAULT: Self = Self::For(Duration::from_secs(7 * 86_400));
}

/// A type of state that a worker must have.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    /// The type's identity.
    pub type_id: fn() -> TypeId,
    /// The type's name, for the message.
    pub type_name: fn() -> &'static str,
}

impl Need {
    /// The need of a type.
    #[must_use]
    pub const fn of<T: Send + Sync + 'static>() -> Self {
        Self { type_id: TypeId::of::<T>, type_name: std::any::type_name::<T> }
    }
}

impl JobSpec {
    /// A declaration with every default.
    ///
    /// # Panics
    /// In a `const` context, at compile time, if the name is not one.
    #[must_use]
    #[track_caller]
    pub const fn new(name: &'static str) -> Self {
        let place = Location::caller();
        Self {
            name: name::must(name),
            aliases: &[],
            version: 1,
            queue: "default",
            priority: 0,
            retry: Retry { max_attempts: 5, backoff: Backoff::exponential("1s", "1h") },
            timeout: None,
            expires_after: None,
            unique: None,
            keep: Keep::DEFAULT,
            dead_letter: true,
            crash_budget: 3,
            needs: &[],
            then: None,
            on_dead: None,
            doc: "",
            place: Place { file: place.file(), line: place.line() },
            outline: &[],
        }
    }

    /// Adds older names whose rows this job still runs.
    #[must_use]
    #[track_caller]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        let mut at = 0;
        while at < aliases.len() {
            let _ = name::must(aliases[at]);
            at += 1;
        }
        Self { aliases, ..self }
    }

    /// Sets the payload's version: at least 1.
    #[must_use]
    #[track_caller]
    pub const fn version(self, version: u16) -> Self {
        assert!(version > 0 && version <= i16::MAX as u16, "a payload's version must be 1 to 32767");
        Self { version, ..self }
    }

    /// Sets the queue.
    #[must_use]
    #[track_caller]
    pub const fn queue(self, queue: &'static str) -> Self {
        Self { queue: name::must(queue), ..self }
    }

    /// Sets the priority: lower runs first.
    #[must_use]
    pub const fn priority(self, priority: i16) -> Self {
        Self { priority, ..self }
    }

    /// Sets attempts and waits.
    #[must_use]
    pub const fn retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// Sets the longest run of one attempt.
    #[must_use]
    #[track_caller]
    pub const fn timeout(self, timeout: &str) -> Self {
        Self { timeout: Some(duration::must(timeout)), ..self }
    }

    /// Sets the longest wait for the first start.
    #[must_use]
    #[track_caller]
    pub const fn expires_after(self, age: &str) -> Self {
        Self { expires_after: Some(duration::must(age)), ..self }
    }

    /// Makes jobs of one key exclude each other.
    #[must_use]
    pub const fn unique(self, unique: Unique) -> Self {
        Self { unique: Some(unique), ..self }
    }

    /// Sets how long a finished job stays in the history.
    #[must_use]
    pub const fn keep(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    /// Sets whether a job that failed for good is kept for an operator.
    #[must_use]
    pub const fn dead_letter(self, dead_letter: bool) -> Self {
        Self { dead_letter, ..self }
    }

    /// Sets how many times a job may take its process down: at least 1.
    #[must_use]
    #[track_caller]
    pub const fn crash_budget(self, crash_budget: u16) -> Self {
        assert!(crash_budget > 0, "a crash budget must be at least 1");
        Self { crash_budget, ..self }
    }

    /// Sets the states that a worker must have.
    #[must_use]
    pub const fn needs(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    /// Sets the job that follows a completion.
    #[must_use]
    pub const fn then(self, follow_up: FollowUp) -> Self {
        Self { then: Some(follow_up), ..self }
    }

    /// Sets the job that follows a death.
    #[must_use]
    pub const fn on_dead(self, follow_up: FollowUp) -> Self {
        Self { on_dead: Some(follow_up), ..self }
    }

    /// Sets the doc comment, the place and the outline, as `#[job]` found them.
    #[must_use]
    pub const fn written(
        self,
        doc: &'static str,
        file: &'static str,
        line: u32,
        outline: &'static [OutlineItem],
    ) -> Self {
        Self { doc, place: Place { file, line }, outline, ..self }
    }
}
