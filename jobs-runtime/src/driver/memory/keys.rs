//! The unique keys: who holds each, until when, and which are not settled yet because their transaction is open.
//! Upstream: `enqueue`, `tx`, `store`. Downstream: nothing.

use crate::{clock, driver::NewJob, id::JobId, spec::Hold};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

/// The identity of an open transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TxId(pub(super) i64);

/// The table of unique keys.
#[derive(Debug, Default)]
pub(super) struct Keys {
    taken: BTreeMap<[u8; 32], Taken>,
    /// Which open transaction waits for which.
    waits: BTreeMap<TxId, TxId>,
}

#[derive(Debug)]
struct Taken {
    job: JobId,
    until: Option<DateTime<Utc>>,
    open: Option<TxId>,
}

impl Keys {
    /// The other open transaction that one of the jobs' keys depends on.
    pub(super) fn blocked_by<'a>(&self, jobs: impl IntoIterator<Item = &'a NewJob>, own: Option<TxId>) -> Option<TxId> {
        jobs.into_iter().filter_map(|job| self.taken.get(&job.unique?.key)?.open).find(|open| Some(*open) != own)
    }

    /// The job that holds the key now.
    pub(super) fn holder(&self, key: &[u8; 32], now: DateTime<Utc>) -> Option<JobId> {
        let taken = self.taken.get(key)?;
        taken.until.is_none_or(|until| until > now).then_some(taken.job)
    }

    /// Takes the job's key, if it has one.
    pub(super) fn take(&mut self, job: &NewJob, now: DateTime<Utc>, open: Option<TxId>) {
        if let Some(unique) = job.unique {
            let until = match unique.hold {
                Hold::For(period) => Some(clock::after(now, period)),
                Hold::Live | Hold::Queued | Hold::Forever => None,
            };
            self.taken.insert(unique.key, Taken { job: job.id, until, open });
        }
    }

    /// Frees what a first claim frees.
    pub(super) fn claimed(&mut self, job: &NewJob) {
        self.free(job, |hold| hold == Hold::Queued);
    }

    /// Frees what an end frees.
    pub(super) fn ended(&mut self, job: &NewJob) {
        self.free(job, |hold| matches!(hold, Hold::Queued | Hold::Live));
    }

    fn free(&mut self, job: &NewJob, frees: impl Fn(Hold) -> bool) {
        if let Some(unique) = job.unique.filter(|unique| frees(unique.hold))
            && self.taken.get(&unique.key).is_some_and(|taken| taken.job == job.id)
        {
            self.taken.remove(&unique.key);
        }
    }

    /// Settles the keys that a transaction took.
    pub(super) fn committed(&mut self, tx: TxId) {
        for taken in self.taken.values_mut().filter(|taken| taken.open == Some(tx)) {
            taken.open = None;
        }
    }

    /// Gives back the keys that a transaction took.
    pub(super) fn rolled_back(&mut self, tx: TxId) {
        self.taken.retain(|_, taken| taken.open != Some(tx));
    }

    /// Notes that a transaction waits for another. False if that one waits for the first already.
    pub(super) fn wait(&mut self, waiting: TxId, blocker: TxId) -> bool {
        let mut next = Some(blocker);
        while let Some(tx) = next {
            if tx == waiting {
                return false;
            }
            next = self.waits.get(&tx).copied();
        }
        self.waits.insert(waiting, blocker);
        true
    }

    /// Notes that a transaction no longer waits.
    pub(super) fn waited(&mut self, tx: TxId) {
        self.waits.remove(&tx);
    }

    /// Removes keys whose period has ended, at most `limit`.
    pub(super) fn purge(&mut self, now: DateTime<Utc>, limit: usize) -> u64 {
        let over = |taken: &Taken| taken.until.is_some_and(|until| until <= now);
        let ended: Vec<_> =
            self.taken.iter().filter(|(_, taken)| over(taken)).map(|(key, _)| *key).take(limit).collect();
        for key in &ended {
            self.taken.remove(key);
        }
        ended.len() as u64
    }
}
