//! The contract between the machine and a store. Upstream: `enqueue`. Downstream: `worker`.
//!
//! One object-safe trait, one params struct per call. The same conformance suite runs against every driver.

mod memory;
#[cfg(feature = "pg")]
pub mod pg;
mod types;

pub use memory::{Memory, Transaction as MemoryTx};
pub use types::*;

use crate::{clock::Clock, error::Error, id::JobId, outline::StoredItem};
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use std::{any::Any, time::Duration};

/// A store of jobs.
///
/// - **Clock.** The store's clock decides what is due, lapsed and expired; a worker's clock never does.
/// - **Fence.** Every write by a worker goes through [`commit`](Driver::commit) and carries its [`Fence`]. A write whose
///   fence no longer matches, or whose worker's lease has lapsed, changes nothing and answers [`Written::Stale`].
/// - **Atomicity.** Each call takes effect as a whole or not at all, except where its docs say "item by item".
pub trait Driver: Send + Sync + 'static {
    /// Names the driver in messages: `memory`, `postgres`.
    fn name(&self) -> &'static str;

    /// Says whether the driver can do a thing. What it cannot is refused at startup with `X_DRIVER_UNSUPPORTED`.
    fn supports(&self, capability: Capability) -> bool;

    /// Gives access to what only this driver has.
    fn as_any(&self) -> &dyn Any;

    /// Hands out the store's clock, where this process holds it: a run then tells the time by it. Without one it goes on
    /// from the time of its claim.
    fn own_clock(&self) -> Option<Clock> {
        None
    }

    /// Creates or checks the store's schema.
    ///
    /// - Any number of processes may call it at once; each succeeds.
    /// - Refuses a schema that is newer than this code.
    fn migrate(&self, mode: Migrate) -> BoxFuture<'_, Result<Migrated, Error>>;

    /// Reads the store's clock.
    fn now(&self) -> BoxFuture<'_, Result<DateTime<Utc>, Error>>;

    /// Writes jobs, in the caller's transaction if one is given.
    ///
    /// - One round trip for the whole batch; all or nothing; answers in input order.
    /// - A unique key that is taken answers [`Enqueued::Existing`], or fails the batch where the job says so.
    /// - Two jobs of one key in a batch: the first is inserted, the others are told of it, or fail the batch where they
    ///   say so.
    /// - Rolled back with the caller's transaction, it leaves nothing and wakes nobody.
    fn enqueue<'a>(&'a self, jobs: &'a [NewJob], tx: Option<Tx<'a>>) -> BoxFuture<'a, Result<Vec<Enqueued>, Error>>;

    /// Begins a worker's lease. Each call makes a new incarnation, whatever the name.
    fn start_worker(&self, worker: NewWorker) -> BoxFuture<'_, Result<WorkerId, Error>>;

    /// Opens the session that renews a worker's lease, to be used on a thread and runtime of its own: it shares no
    /// connection with the driver's other calls.
    fn lease_session(&self, worker: WorkerId) -> BoxFuture<'_, Result<Box<dyn LeaseSession>, Error>>;

    /// Ends a worker's lease at once and hands what it still holds back, uncounted.
    fn stop_worker(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), Error>>;

    /// Claims ready jobs of the kinds and versions that the worker knows, by priority, then by the time they became
    /// ready.
    ///
    /// - A job is claimed by one worker at a time; each claim gets a token that no other claim ever has.
    /// - Unknown kinds and newer versions stay untouched.
    /// - Answers nothing when the worker's lease has lapsed (`X_WORKER_LOST`). Asked for no queue, it tells just that.
    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>>;

    /// Looks whether anything is to do, by one cheap read: all that an idle worker polls.
    ///
    /// - May say yes where a claim, a promotion or a rescue then finds nothing. Never says no to what was there before
    ///   the call.
    fn look<'a>(&'a self, queues: &'a [String]) -> BoxFuture<'a, Result<Outlook, Error>>;

    /// Lists the claims that a worker holds. After a claim whose answer was lost, the worker hands back what it
    /// finds here and does not know.
    fn held(&self, worker: WorkerId) -> BoxFuture<'_, Result<Vec<Fence>, Error>>;

    /// Applies a worker's writes, item by item under their fences, in as few statements as the store allows.
    ///
    /// - Answers in input order, one [`Written`] each.
    /// - A follow-up whose unique key an open transaction holds is waited for, but not long: about 1 s, then the call fails
    ///   with `X_STORE_UNAVAILABLE`.
    /// - A write that the store refuses (an encoding, a constraint) answers [`Written::Refused`]; the rest lands.
    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> BoxFuture<'a, Result<Vec<Written>, Error>>;

    /// Moves due jobs to `ready`, at most `limit`, and says when the next is due.
    fn promote(&self, limit: u32) -> BoxFuture<'_, Result<Promoted, Error>>;

    /// Hands back what workers with lapsed leases held: under the same attempt, with one more crash.
    ///
    /// - A job that was asked to cancel ends as cancelled instead.
    /// - Needs no knowledge of the jobs' kinds, and decides no failure.
    fn rescue(&self) -> BoxFuture<'_, Result<Rescued, Error>>;

    /// Removes finished jobs whose retention has ended and unique keys whose period has.
    fn purge(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>>;

    /// Subscribes to hints that queues have work and that running jobs were asked to cancel.
    ///
    /// Hints may be late, doubled or lost; a poll is the guarantee.
    fn hints(&self, worker: WorkerId, queues: Vec<String>) -> BoxFuture<'_, Result<Box<dyn Hints>, Error>>;

    /// Cancels a job: a waiting one at once, a running one by asking its worker.
    ///
    /// - After it has answered, no new attempt of the job starts.
    /// - Its children that have not ended are cancelled the same way, and theirs.
    /// - A run that unwinds goes on with it: the answer is [`CancelAnswer::Asked`], nothing changes. So does one that
    ///   was asked to roll back.
    fn cancel(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>>;

    /// Cancels a job and has it undo its steps: a waiting one becomes ready and unwinds, a running one is asked.
    ///
    /// - A waiting job that has recorded nothing is cancelled as by [`cancel`](Self::cancel). A running one is asked, for
    ///   it may be about to record: let go before it has, it ends as cancelled; after, it becomes ready and unwinds.
    /// - The job ends as cancelled once its steps are undone. Until then the answer is [`CancelAnswer::Asked`].
    /// - Its children that have not ended are rolled back the same way; one that is past its pivot goes on.
    /// - A pivot that is recorded while the request is open ends the request: the run goes forward, or ends as cancelled
    ///   where it had been asked to cancel before.
    ///
    /// # Errors
    /// `X_JOB_STATE_REFUSED` for a run that is past its pivot.
    fn roll_back(&self, job: JobId) -> BoxFuture<'_, Result<CancelAnswer, Error>>;

    /// Lists what a run has recorded, by the order of starts: of a live or dead job, and of one in the history.
    ///
    /// - One query, however many steps there are.
    fn steps(&self, job: JobId) -> BoxFuture<'_, Result<Vec<StepRecord>, Error>>;

    /// Begins a transaction that a step runs in and that records it, bound to the run's tenant.
    fn begin_step(
        &self,
        worker: WorkerId,
        fence: Fence,
        tenant: Option<String>,
    ) -> BoxFuture<'_, Result<Box<dyn StepTransaction>, Error>>;

    /// Publishes events, in the caller's transaction if one is given, and makes the runs that wait for them ready.
    ///
    /// - Rolled back with the caller's transaction, it leaves nothing and wakes nobody.
    /// - An event whose id is stored already is answered as that one, and changes nothing: a publisher whose answer was
    ///   lost publishes again.
    /// - Answers in input order.
    fn publish<'a>(
        &'a self,
        events: &'a [NewEvent],
        tx: Option<Tx<'a>>,
    ) -> BoxFuture<'a, Result<Vec<Published>, Error>>;

    /// Finds the earliest event that a wait may take: published, not expired, not taken.
    fn find_event(&self, find: FindEvent) -> BoxFuture<'_, Result<Option<EventRecord>, Error>>;

    /// Lists the events of a name that have not expired, newest first, at most 1,000: for diagnosis.
    fn events<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<EventRecord>, Error>>;

    /// Removes expired events, at most `limit`. Answers how many.
    fn purge_events(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>>;

    /// Makes parked runs ready whose event or child's end could not wake them by itself. Answers how many.
    fn wake(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>>;

    /// Applies what an operator says about a run.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND`; `X_JOB_STATE_REFUSED` where the job's state does not allow it; `X_STEP_NOT_FOUND` if the run has
    /// no such step, or not in a state that can be answered for.
    fn operate(&self, job: JobId, operation: Operation) -> BoxFuture<'_, Result<(), Error>>;

    /// Makes a dead job ready again with its stored payload, its attempts and crashes at their start.
    ///
    /// - What it has recorded stays, as of attempt 0, so that it goes on where it failed; but a run that unwound begins
    ///   anew.
    /// - It takes the unique key again that its end or first claim had freed.
    ///
    /// # Errors
    /// `X_JOB_NOT_FOUND`; `X_JOB_STATE_REFUSED` for a job that is not dead; `X_JOB_DUPLICATE` if another job holds the
    /// key by now.
    fn requeue(&self, job: JobId) -> BoxFuture<'_, Result<(), Error>>;

    /// Finds a job wherever it is stored.
    fn find(&self, job: JobId) -> BoxFuture<'_, Result<Option<JobRecord>, Error>>;

    /// Lists jobs, newest first.
    fn list(&self, filter: ListFilter) -> BoxFuture<'_, Result<Vec<JobRecord>, Error>>;

    /// Counts the live jobs and the dead of each queue and kind, and says whether a live worker serves both.
    fn counts(&self) -> BoxFuture<'_, Result<Vec<KindCount>, Error>>;

    /// Reads the outline of a kind's body as the worker that began last had it; `None` if no worker ever knew the kind.
    fn outline<'a>(&'a self, kind: &'a str) -> BoxFuture<'a, Result<Option<Vec<StoredItem>>, Error>>;

    /// Lists the workers whose lease is current.
    fn workers(&self) -> BoxFuture<'_, Result<Vec<WorkerRecord>, Error>>;
}

/// Renews one worker's lease.
pub trait LeaseSession: Send {
    /// Renews the lease for another period and lists the worker's jobs that were asked to cancel.
    ///
    /// # Errors
    /// `X_WORKER_LOST` if the lease has lapsed: it cannot be renewed, the worker must stop its runs.
    fn renew(&mut self) -> BoxFuture<'_, Result<Renewed, Error>>;
}

/// An open transaction of a step. Dropped without a commit, it is rolled back.
pub trait StepTransaction: Send {
    /// The transaction, to enqueue and publish in.
    fn tx(&mut self) -> Tx<'_>;

    /// Records the step in the transaction, under the fence, and commits both.
    ///
    /// - [`Written::Stale`] and [`Written::Refused`]: everything was rolled back.
    /// - A record of a run that unwinds is refused: the decision came first.
    /// - A record with a child is refused: a child is spawned through [`commit`](Driver::commit).
    /// - Where the answer to the commit is lost, it looks whether the record landed, so that the answer is true.
    fn commit(self: Box<Self>, record: StepWrite) -> BoxFuture<'static, Result<Written, Error>>;
}

/// A stream of hints.
pub trait Hints: Send {
    /// Waits for the next hint. Reconnects by itself and gives [`Hint::All`] afterwards. Dropped half-way, it loses
    /// nothing.
    fn next(&mut self) -> BoxFuture<'_, Hint>;

    /// Whether hints were proven to arrive by a probe of the listener's own. While not, the worker polls more often.
    fn is_live(&self) -> bool;
}

/// The caller's open transaction, of the kind that the driver knows.
pub struct Tx<'a>(pub(crate) &'a mut (dyn Any + Send));

impl<'a> Tx<'a> {
    /// Wraps a driver's own transaction type.
    #[must_use]
    pub fn new<T: Any + Send>(transaction: &'a mut T) -> Self {
        Self(transaction)
    }

    /// The transaction, if it is of this type.
    #[must_use]
    pub fn downcast<T: Any>(self) -> Option<&'a mut T> {
        self.0.downcast_mut()
    }
}

/// A type that holds an open transaction: `sqlx::Transaction<'_, Postgres>`, `PgConnection`, the memory driver's
/// `Transaction`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an open transaction that a job can be written in",
    label = "not an open transaction",
    note = "on Postgres pass `&mut tx`, made by `pool.begin()`, or `&mut *connection`, of a connection that has begun \
            one; both of sqlx 0.9, as `jobs` uses it"
)]
pub trait JoinTx: Send {
    /// Borrows the transaction.
    fn tx(&mut self) -> Tx<'_>;
}

/// How long a worker's lease lasts and how often it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// How long a lease lasts from its last renewal. Default 30 s.
    pub duration: Duration,
    /// How often it is renewed. Default 10 s.
    pub beat: Duration,
}

impl Default for Lease {
    fn default() -> Self {
        Self { duration: Duration::from_secs(30), beat: Duration::from_secs(10) }
    }
}
