//! The table of error codes. `docs/errors.md` is generated from [`ALL`]; a test fails when they differ.

use std::fmt;

/// A stable error code with its title and fix.
#[derive(Clone, Copy)]
pub struct Code {
    /// The code: `X_<AREA>_<WHAT>`. Never changes its meaning.
    pub name: &'static str,
    /// One line on what the code means.
    pub title: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Code {}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Whether a text is written as a code is: `X_<AREA>_<WHAT>` in `A-Z`, `0-9` and `_`, at most 100 bytes.
#[must_use]
pub const fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() > 100 || bytes.len() < 5 || bytes[0] != b'X' || bytes[1] != b'_' || bytes[bytes.len() - 1] == b'_' {
        return false;
    }
    let mut words = 1;
    let mut at = 2;
    while at < bytes.len() {
        match bytes[at] {
            b'A'..=b'Z' | b'0'..=b'9' => {}
            b'_' if bytes[at - 1] != b'_' => words += 1,
            _ => return false,
        }
        at += 1;
    }
    words >= 2
}

/// Whether a code is one of this library's own.
#[must_use]
pub const fn is_own(name: &str) -> bool {
    let mut at = 0;
    while at < ALL.len() {
        if same(ALL[at].name.as_bytes(), name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    a.len() == b.len() && at == a.len()
}

macro_rules! codes {
    ($($constant:ident = $name:literal, $title:literal, $fix:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $title, ".")]
            pub const $constant: Code = Code { name: $name, title: $title, fix: $fix };
        )*
        /// Every code, in the order of the table.
        pub const ALL: &[Code] = &[$($constant),*];
    };
}

codes! {
    // declaring
    DECLARATION_INVALID = "X_DECLARATION_INVALID", "a job's declaration breaks a rule", "correct the option that the message names";
    JOB_NAME_TAKEN = "X_JOB_NAME_TAKEN", "two jobs have the same name or alias", "rename one of them with `#[job(name = \"…\")]`";
    JOB_UNKNOWN = "X_JOB_UNKNOWN", "no job of that name is registered in this process", "register it, or link its crate with `use the_crate as _;`";
    STATE_MISSING = "X_STATE_MISSING", "a job needs a state that the worker does not have", "add it with `worker.state(value)`";

    // enqueuing
    BATCH_TOO_LARGE = "X_BATCH_TOO_LARGE", "a batch holds more jobs than the limit", "split it";
    KEY_INVALID = "X_KEY_INVALID", "a unique key is blank, too long or holds NUL", "use 1 to 200 bytes of text";
    METADATA_INVALID = "X_METADATA_INVALID", "metadata is not storable", "use strings and finite numbers, at most 16 KiB in all";
    PAYLOAD_INVALID = "X_PAYLOAD_INVALID", "a payload holds a value that cannot be stored exactly", "change the value at the path that the message names";
    PAYLOAD_TOO_LARGE = "X_PAYLOAD_TOO_LARGE", "a payload is larger than the limit", "store large data elsewhere and pass a reference";
    PAYLOAD_UNREADABLE = "X_PAYLOAD_UNREADABLE", "a payload does not decode into the job's input", "correct the value at the path that the message names, or deploy an `upgrade` for its version";
    QUEUE_NAME_INVALID = "X_QUEUE_NAME_INVALID", "a queue's name holds characters outside a-z, 0-9, `_`, `.`, `-`, or is not 1 to 100 bytes long", "rename the queue";
    TENANT_INVALID = "X_TENANT_INVALID", "a tenant is blank, too long or holds NUL", "use 1 to 128 bytes of text";
    TIME_INVALID = "X_TIME_INVALID", "a time or duration is outside its limits", "use a duration of at most 36500 days";
    ACTOR_INVALID = "X_ACTOR_INVALID", "the text of `enqueued_by` is blank, too long or holds NUL", "use 1 to 200 bytes of text";
    TAG_INVALID = "X_TAG_INVALID", "a tag is blank, too long or holds NUL, or a job has too many", "use at most 32 tags of 1 to 100 bytes";
    TRACE_INVALID = "X_TRACE_INVALID", "a trace context is not a W3C `traceparent`", "pass the header's text, such as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`";
    OVERRIDE_INVALID = "X_OVERRIDE_INVALID", "an enqueue overrides attempts, waits or the timeout with a value outside its limits", "correct the value that the message names";
    JOB_DUPLICATE = "X_JOB_DUPLICATE", "a job of the same unique key exists and the job says `on_conflict = reject`", "wait for the other job, or use `on_conflict = existing`";

    // running and settling
    JOB_ABANDONED = "X_JOB_ABANDONED", "a job ignored its cancellation past the grace", "make the body await regularly, or move blocking work to `spawn_blocking`";
    JOB_CANCELLED = "X_JOB_CANCELLED", "a job was cancelled", "none: somebody asked for it";
    JOB_EXPIRED = "X_JOB_EXPIRED", "a job was not started by the time that `expires_after` allows", "add workers, or allow more time";
    JOB_FAILED = "X_JOB_FAILED", "a job's body returned an error without a code of its own", "read the operator's text";
    JOB_PANIC = "X_JOB_PANIC", "a job's body panicked", "read the operator's text and correct the code";
    JOB_QUARANTINED = "X_JOB_QUARANTINED", "a job took its process down as often as its crash budget allows", "find out why its process ended (abort, stack overflow, out of memory), then requeue it";
    JOB_TENANT_MISMATCH = "X_JOB_TENANT_MISMATCH", "a job was queued for one tenant and its payload resolves to another", "enqueue it again for the right tenant";
    JOB_TIMEOUT = "X_JOB_TIMEOUT", "an attempt ran longer than its `timeout`", "allow more time, or do less in one job";
    JOB_LEASE_LOST = "X_JOB_LEASE_LOST", "the worker no longer owns the job", "none: another worker runs it";
    JOB_OUTPUT_INVALID = "X_JOB_OUTPUT_INVALID", "a job's output cannot be stored", "return a smaller output, without NUL and non-finite numbers";
    JOB_SETTLED_HOOK_FAILED = "X_JOB_SETTLED_HOOK_FAILED", "an `on_settled` hook failed or took too long", "correct the hook; use `then` for what must happen";
    JOB_FOLLOW_UP_INVALID = "X_JOB_FOLLOW_UP_INVALID", "a `then` or `on_dead` job could not be built from what settled", "correct the follow-up's input";
    INTERNAL = "X_INTERNAL", "something failed whose details are for the operator only", "ask the operator";

    // steps
    STEP_NAME_INVALID = "X_STEP_NAME_INVALID", "a step's name or key is blank, too long or holds NUL", "use 1 to 200 bytes of text for a name, at most 200 for a key";
    STEP_DUPLICATE = "X_STEP_DUPLICATE", "a run uses one name and key for two steps", "give one of them another name, or tell them apart with `key = …`";
    STEP_NESTED = "X_STEP_NESTED", "a step was begun inside the body of another step or of a compensation", "begin it after the outer one, or make the outer one part of the job's body";
    STEP_OUTSIDE_RUN = "X_STEP_OUTSIDE_RUN", "a step was begun with a context whose run has ended", "await every step within the job's body";
    STEP_FAILED = "X_STEP_FAILED", "a step returned an error without a code of its own", "read the operator's text";
    STEP_TIMEOUT = "X_STEP_TIMEOUT", "a step ran longer than its `timeout`", "allow more time, or do less in one step";
    STEP_MISMATCH = "X_STEP_MISMATCH", "a recorded step does not fit the code that replays it", "deploy code that fits, with `aliases` for a renamed step or `patch!` for a changed one; the run goes on by itself";
    STEP_UNKNOWN = "X_STEP_UNKNOWN", "a `once` step began and left no result, so that nobody knows whether it took effect", "find out, then resolve the step as done or as failed";
    STEP_OUTPUT_INVALID = "X_STEP_OUTPUT_INVALID", "a step's output cannot be stored", "return a value without NUL and non-finite numbers";
    STEP_OUTPUT_TOO_LARGE = "X_STEP_OUTPUT_TOO_LARGE", "a step's output is larger than the limit", "store large data elsewhere and return a reference";
    STEP_NOT_FOUND = "X_STEP_NOT_FOUND", "the run has no such step, or none that can be answered for", "look at the run's steps first";
    CHILD_FAILED = "X_CHILD_FAILED", "a child job ended without completing", "look at the child that the message names";
    JOB_COMPENSATION_FAILED = "X_JOB_COMPENSATION_FAILED", "a job unwound and could not undo all of its steps", "read which steps are not undone; then resume the unwinding, skip a step, or mark it as undone";

    // events
    EVENT_INVALID = "X_EVENT_INVALID", "an event's name, key, tenant, payload or lifetime is outside its limits", "correct the value that the message names";

    // operating
    JOB_NOT_FOUND = "X_JOB_NOT_FOUND", "no job of that id is stored", "check the id; finished jobs leave after their retention";
    JOB_STATE_REFUSED = "X_JOB_STATE_REFUSED", "the job's state does not allow the action", "look at the job's state first";

    // worker
    WORKER_LOST = "X_WORKER_LOST", "a worker's lease lapsed before it was renewed", "none: the worker cancels its runs and starts anew";
    WORKER_CONFIG_INVALID = "X_WORKER_CONFIG_INVALID", "a worker's configuration breaks a rule", "correct the setting that the message names";

    // store
    DRIVER_UNSUPPORTED = "X_DRIVER_UNSUPPORTED", "a job uses what the driver cannot do", "use another driver, or leave the option out";
    SCHEMA_MISSING = "X_SCHEMA_MISSING", "the database holds no tables of ours", "run the migrations: `jobs.migrate(Migrate::ApplyAll)`";
    SCHEMA_NEWER = "X_SCHEMA_NEWER", "the database's tables are of a newer version of this library", "deploy the newer version";
    SCHEMA_OLDER = "X_SCHEMA_OLDER", "the database's tables are of an older version of this library", "run the migrations: `jobs.migrate(Migrate::ApplyAll)`";
    STORE_CONFIG_INVALID = "X_STORE_CONFIG_INVALID", "a store's configuration breaks a rule", "correct the setting that the message names";
    STORE_FAILED = "X_STORE_FAILED", "the store refused a statement", "read the cause; report it if it names our own tables";
    STORE_UNAVAILABLE = "X_STORE_UNAVAILABLE", "the store cannot be reached or does not answer", "try again later; check the connection settings";
    TRANSACTION_FOREIGN = "X_TRANSACTION_FOREIGN", "a transaction of another kind of store was passed", "pass a transaction of the driver that the jobs use";
}
