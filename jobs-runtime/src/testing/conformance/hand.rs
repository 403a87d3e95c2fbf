//! A worker that the suite works by hand, and the jobs that it enqueues.

use crate::{
    driver::{
        Change, Claim, Claimed, Driver, Finish, KnownKind, Lease, NewJob, NewUnique, NewWorker, Overrides, Renewed,
        Reschedule, Start, WorkerId, Write, Written,
    },
    error::Error,
    failure::{RecordedFailure, Stop},
    id::JobId,
    json::JsonText,
    spec::{Hold, Keep, OnConflict},
    state::State,
};
use std::{sync::Arc, time::Duration};

/// The queue of the suite's jobs, unless a case says otherwise.
pub const QUEUE: &str = "mail";
/// The kind of the suite's jobs, unless a case says otherwise.
pub const KIND: &str = "mail.send";

/// A plain new job.
#[must_use]
pub fn job() -> NewJob {
    NewJob {
        id: JobId::new(),
        kind: KIND.to_owned(),
        version: 1,
        queue: QUEUE.to_owned(),
        tenant: None,
        priority: 0,
        start: Start::Now,
        payload: JsonText::trusted(r#"{"to":"a@example.com"}"#),
        unique: None,
        overrides: Overrides::default(),
        expires_after: None,
        metadata: None,
        trace: None,
        enqueued_by: None,
        parent: None,
    }
}

/// A new job with a unique key of the given number.
#[must_use]
pub fn keyed(number: u16, hold: Hold) -> NewJob {
    let mut key = [7; 32];
    key[..2].copy_from_slice(&number.to_be_bytes());
    NewJob { unique: Some(NewUnique { key, hold, on_conflict: OnConflict::Existing }), ..job() }
}

/// A job of the given kind in the given queue.
pub(super) fn of(queue: &str, kind: &str) -> NewJob {
    NewJob { queue: queue.to_owned(), kind: kind.to_owned(), ..job() }
}

/// A failure on record.
pub(super) fn failure(text: &str) -> RecordedFailure {
    RecordedFailure { code: "X_JOB_FAILED".to_owned(), operator: text.to_owned(), caller_fix: None, stop: None }
}

/// The end of a job in a state.
pub(super) fn finish(state: State) -> Finish {
    let failed = matches!(state, State::Dead | State::Dropped);
    Finish {
        state,
        output: None,
        failure: failed.then(|| RecordedFailure { stop: Some(Stop::Terminal), ..failure("it broke") }),
        keep: Keep::DEFAULT,
        follow_up: None,
    }
}

/// A reschedule to the given attempt.
pub(super) fn again(attempt: u32, delay: Duration) -> Reschedule {
    Reschedule { delay, attempt, failure: None, keep: Keep::DEFAULT }
}

/// A worker with a lease, whose every call is made by the case itself.
#[derive(Clone)]
pub struct HandWorker {
    /// The driver that it works through.
    pub driver: Arc<dyn Driver>,
    /// Its incarnation.
    pub id: WorkerId,
    pub(super) kinds: Arc<[KnownKind]>,
}

impl HandWorker {
    /// Starts a worker that knows [`KIND`], with the default lease of 30 s.
    pub async fn start(driver: Arc<dyn Driver>) -> Self {
        Self::knowing(driver, "hand", &[(KIND, 1)]).await
    }

    /// Starts a worker of a name that knows the given kinds up to the given versions.
    pub async fn knowing(driver: Arc<dyn Driver>, name: &str, kinds: &[(&str, u16)]) -> Self {
        let known = |(kind, version): &(&str, u16)| KnownKind {
            name: (*kind).to_owned(),
            version: *version,
            queue: QUEUE.to_owned(),
            outline: &[],
        };
        let kinds: Arc<[KnownKind]> = kinds.iter().map(known).collect();
        let worker = NewWorker {
            name: name.to_owned(),
            lease: Lease::default(),
            queues: vec![(QUEUE.to_owned(), 10)],
            kinds: kinds.to_vec(),
        };
        let id = driver.start_worker(worker).await.expect("a worker starts");
        Self { driver, id, kinds }
    }

    /// Claims at most so many jobs of [`QUEUE`].
    pub async fn claim(&self, limit: u32) -> Vec<Claimed> {
        self.try_claim(&[(QUEUE, limit)]).await.expect("a claim answers")
    }

    /// Claims from the given queues.
    ///
    /// # Errors
    /// The driver's.
    pub async fn try_claim(&self, queues: &[(&str, u32)]) -> Result<Vec<Claimed>, Error> {
        let queues = queues.iter().map(|(queue, limit)| ((*queue).to_owned(), *limit)).collect();
        self.driver.claim(Claim { worker: self.id, queues, kinds: Arc::clone(&self.kinds) }).await
    }

    /// Claims the one job that there is to claim.
    pub async fn claim_one(&self) -> Claimed {
        let mut claimed = self.claim(10).await;
        assert_eq!(claimed.len(), 1, "one job to claim");
        claimed.remove(0)
    }

    /// Writes one change about a claimed job.
    pub async fn write(&self, claimed: &Claimed, change: Change) -> Written {
        let written = self.commit(&[Write { fence: claimed.fence, change }]).await;
        written.into_iter().next().expect("one answer per write")
    }

    /// Writes changes together.
    pub async fn commit(&self, writes: &[Write]) -> Vec<Written> {
        let written = self.driver.commit(self.id, writes).await.expect("a commit answers");
        assert_eq!(written.len(), writes.len(), "one answer per write");
        written
    }

    /// Ends a claimed job in a state; it must land.
    pub async fn finish(&self, claimed: &Claimed, state: State) {
        let written = self.write(claimed, Change::Finish(finish(state))).await;
        assert!(matches!(written, Written::Landed), "the end lands, not {written:?}");
    }

    /// Lets a claimed job wait for its next attempt after a failure; it must land.
    pub async fn retry(&self, claimed: &Claimed, delay: Duration) {
        let reschedule = Reschedule { failure: Some(failure("try again")), ..again(claimed.fence.attempt + 1, delay) };
        let written = self.write(claimed, Change::Reschedule(reschedule)).await;
        assert!(matches!(written, Written::Landed), "the retry lands, not {written:?}");
    }

    /// Hands a claimed job back uncounted; it must land.
    pub async fn release(&self, claimed: &Claimed) {
        let reschedule = again(claimed.fence.attempt, Duration::ZERO);
        let written = self.write(claimed, Change::Reschedule(reschedule)).await;
        assert!(matches!(written, Written::Landed), "the release lands, not {written:?}");
    }

    /// Renews the lease.
    ///
    /// # Errors
    /// The driver's.
    pub async fn renew(&self) -> Result<Renewed, Error> {
        self.driver.lease_session(self.id).await?.renew().await
    }

    /// Ends the lease in order.
    pub async fn stop(&self) {
        self.driver.stop_worker(self.id).await.expect("a worker stops");
    }
}
