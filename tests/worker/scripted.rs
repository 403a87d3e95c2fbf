//! The memory driver, made to fail as a test says.

use futures_util::future::BoxFuture;
use jobs::{
    Error,
    driver::{
        Capability, Claim, Claimed, Driver, Fence, Hint, Hints, LeaseSession, Memory, NewWorker, Outlook, Promoted,
        Renewed, Rescued, WorkerId, Write, Written,
    },
    error::code,
    testing::Overlay,
};
use std::{
    any::Any,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::{Notify, Semaphore};

/// What goes wrong, and what was asked.
pub(crate) struct Script {
    /// So many next commits find the store away.
    pub(crate) commits_fail: AtomicU32,
    /// So many next commits fail as a whole, for a reason that is not the store's absence.
    pub(crate) commits_break: AtomicU32,
    /// So many next commits panic.
    pub(crate) commits_panic: AtomicU32,
    /// So many next commits land, and their answer is lost.
    pub(crate) commits_lost: AtomicU32,
    /// Which writes find the store away, and with them those that go together with them.
    pub(crate) stuck: Mutex<fn(&Write) -> bool>,
    /// Which writes are refused.
    pub(crate) refuse: Mutex<fn(&Write) -> bool>,
    /// Each commit takes a permit.
    pub(crate) gate: Semaphore,
    /// Told of each commit that comes to the gate.
    pub(crate) at_gate: Notify,
    /// How many writes each commit carried.
    pub(crate) batches: Mutex<Vec<usize>>,
    /// So many next claims happen, and their answer is lost.
    pub(crate) claims_lost: AtomicU32,
    /// Claims of more jobs find the store away.
    pub(crate) claims_at_most: AtomicU32,
    /// Each claim that gave something waits for a permit before it is answered.
    pub(crate) claim_gate: Semaphore,
    /// How many claims were asked.
    pub(crate) claims: AtomicU32,
    /// So many next looks panic.
    pub(crate) looks_panic: AtomicU32,
    /// How many looks were asked.
    pub(crate) looks: AtomicU32,
    /// Whether renewals find the store away.
    pub(crate) renewals_fail: AtomicBool,
    /// How long a renewal takes.
    pub(crate) renewal_takes: Mutex<Duration>,
    /// How many renewals landed.
    pub(crate) renewals: AtomicU32,
    /// So many next begins of a lease find the store away.
    pub(crate) begins_fail: AtomicU32,
    /// How many requests to cancel were told.
    pub(crate) cancels_told: AtomicU32,
    /// Whether a hint that something may have been lost is given in place of each request to cancel.
    pub(crate) cancels_lost: AtomicBool,
    /// Whether no hint is ever given.
    pub(crate) no_hints: AtomicBool,
    /// Whether unique keys are said to be missing.
    pub(crate) no_unique_keys: AtomicBool,
    /// Every other statement.
    pub(crate) others: AtomicU32,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            commits_fail: AtomicU32::new(0),
            commits_break: AtomicU32::new(0),
            commits_panic: AtomicU32::new(0),
            commits_lost: AtomicU32::new(0),
            stuck: Mutex::new(|_| false),
            refuse: Mutex::new(|_| false),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
            at_gate: Notify::new(),
            batches: Mutex::default(),
            claims_lost: AtomicU32::new(0),
            claims_at_most: AtomicU32::new(u32::MAX),
            claim_gate: Semaphore::new(Semaphore::MAX_PERMITS),
            claims: AtomicU32::new(0),
            looks_panic: AtomicU32::new(0),
            looks: AtomicU32::new(0),
            renewals_fail: AtomicBool::new(false),
            renewal_takes: Mutex::default(),
            renewals: AtomicU32::new(0),
            begins_fail: AtomicU32::new(0),
            cancels_told: AtomicU32::new(0),
            cancels_lost: AtomicBool::new(false),
            no_hints: AtomicBool::new(false),
            no_unique_keys: AtomicBool::new(false),
            others: AtomicU32::new(0),
        }
    }
}

/// The driver.
#[derive(Clone, Default)]
pub(crate) struct Scripted {
    memory: Memory,
    pub(crate) script: Arc<Script>,
}

fn takes_one(count: &AtomicU32) -> bool {
    count.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
}

fn away() -> Error {
    Error::new(code::STORE_UNAVAILABLE, "the script says that the store is away")
}

impl Scripted {
    async fn committed(&self, worker: WorkerId, writes: &[Write]) -> Result<Vec<Written>, Error> {
        let script = &self.script;
        script.at_gate.notify_one();
        script.gate.acquire().await.unwrap().forget();
        script.batches.lock().unwrap().push(writes.len());
        assert!(!takes_one(&script.commits_panic), "the script says so");
        let stuck = *script.stuck.lock().unwrap();
        if takes_one(&script.commits_fail) || writes.iter().any(stuck) {
            return Err(away());
        }
        if takes_one(&script.commits_break) {
            return Err(Error::new(code::STORE_FAILED, "the script says that the statement fails"));
        }
        let refuse = *script.refuse.lock().unwrap();
        let (refused, taken): (Vec<_>, Vec<_>) =
            writes.iter().cloned().enumerate().partition(|(_, write)| refuse(write));
        let (places, taken): (Vec<usize>, Vec<Write>) = taken.into_iter().unzip();
        let answers = self.memory.commit(worker, &taken).await?;
        if takes_one(&script.commits_lost) {
            return Err(away());
        }
        let mut all: Vec<(usize, Written)> = places.into_iter().zip(answers).collect();
        all.extend(refused.into_iter().map(|(at, _)| {
            (at, Written::Refused(Error::new(code::STORE_FAILED, "the script says that this write is refused")))
        }));
        all.sort_by_key(|(at, _)| *at);
        Ok(all.into_iter().map(|(_, written)| written).collect())
    }
}

impl Overlay for Scripted {
    fn under(&self) -> &dyn Driver {
        &self.memory
    }

    fn name(&self) -> &'static str {
        "scripted"
    }

    fn supports(&self, capability: Capability) -> bool {
        match capability {
            Capability::UniqueKeys if self.script.no_unique_keys.load(SeqCst) => false,
            capability => self.memory.supports(capability),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn start_worker(&self, worker: NewWorker) -> BoxFuture<'_, Result<WorkerId, Error>> {
        if takes_one(&self.script.begins_fail) {
            return Box::pin(async { Err(away()) });
        }
        self.memory.start_worker(worker)
    }

    fn lease_session(&self, worker: WorkerId) -> BoxFuture<'_, Result<Box<dyn LeaseSession>, Error>> {
        Box::pin(async move {
            let inner = self.memory.lease_session(worker).await?;
            Ok(Box::new(Session { inner, script: self.script.clone() }) as Box<dyn LeaseSession>)
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(async move {
            self.script.claims.fetch_add(1, SeqCst);
            let asked: u32 = claim.queues.iter().map(|(_, amount)| amount).sum();
            if asked > self.script.claims_at_most.load(SeqCst) {
                return Err(away());
            }
            let claimed = self.memory.claim(claim).await?;
            if !claimed.is_empty() {
                self.script.claim_gate.acquire().await.unwrap().forget();
            }
            if takes_one(&self.script.claims_lost) { Err(away()) } else { Ok(claimed) }
        })
    }

    fn look<'a>(&'a self, queues: &'a [String]) -> BoxFuture<'a, Result<Outlook, Error>> {
        self.script.looks.fetch_add(1, SeqCst);
        assert!(!takes_one(&self.script.looks_panic), "the script says so");
        self.memory.look(queues)
    }

    fn held(&self, worker: WorkerId) -> BoxFuture<'_, Result<Vec<Fence>, Error>> {
        self.script.others.fetch_add(1, SeqCst);
        self.memory.held(worker)
    }

    fn commit<'a>(&'a self, worker: WorkerId, writes: &'a [Write]) -> BoxFuture<'a, Result<Vec<Written>, Error>> {
        Box::pin(self.committed(worker, writes))
    }

    fn promote(&self, limit: u32) -> BoxFuture<'_, Result<Promoted, Error>> {
        self.script.others.fetch_add(1, SeqCst);
        self.memory.promote(limit)
    }

    fn rescue(&self) -> BoxFuture<'_, Result<Rescued, Error>> {
        self.script.others.fetch_add(1, SeqCst);
        self.memory.rescue()
    }

    fn purge(&self, limit: u32) -> BoxFuture<'_, Result<u64, Error>> {
        self.script.others.fetch_add(1, SeqCst);
        self.memory.purge(limit)
    }

    fn hints(&self, worker: WorkerId, queues: Vec<String>) -> BoxFuture<'_, Result<Box<dyn Hints>, Error>> {
        if self.script.no_hints.load(SeqCst) {
            return Box::pin(std::future::pending());
        }
        Box::pin(async move {
            let inner = self.memory.hints(worker, queues).await?;
            Ok(Box::new(Listener { inner, script: self.script.clone() }) as Box<dyn Hints>)
        })
    }
}

struct Listener {
    inner: Box<dyn Hints>,
    script: Arc<Script>,
}

impl Hints for Listener {
    fn next(&mut self) -> BoxFuture<'_, Hint> {
        Box::pin(async {
            let hint = self.inner.next().await;
            if matches!(hint, Hint::Cancel(_)) {
                self.script.cancels_told.fetch_add(1, SeqCst);
                if self.script.cancels_lost.load(SeqCst) {
                    return Hint::All;
                }
            }
            hint
        })
    }

    fn is_live(&self) -> bool {
        self.inner.is_live()
    }
}

struct Session {
    inner: Box<dyn LeaseSession>,
    script: Arc<Script>,
}

impl LeaseSession for Session {
    fn renew(&mut self) -> BoxFuture<'_, Result<Renewed, Error>> {
        Box::pin(async {
            let takes = *self.script.renewal_takes.lock().unwrap();
            tokio::time::sleep(takes).await;
            if self.script.renewals_fail.load(SeqCst) {
                return Err(away());
            }
            self.script.renewals.fetch_add(1, SeqCst);
            self.inner.renew().await
        })
    }
}
