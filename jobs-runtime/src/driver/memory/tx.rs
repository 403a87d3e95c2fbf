//! A transaction of the memory driver: jobs and events that no one sees until it commits.
//! Upstream: the user's code. Downstream: `enqueue`, `events`.

use super::{Memory, keys::TxId, row::Row, store::Store};
use crate::{
    driver::{EventId, EventRecord, JoinTx, Tx},
    error::{Error, code},
};
use chrono::{DateTime, Utc};
use std::{collections::BTreeMap, sync::Arc};

/// An open transaction of a [`Memory`] driver.
///
/// - What is enqueued and published in it is unseen and wakes nobody until [`commit`](Transaction::commit).
/// - Dropped without one, it is rolled back and leaves nothing.
/// - A unique key that it took makes other enqueues of the key wait for its end.
#[derive(Debug)]
pub struct Transaction {
    memory: Memory,
    id: TxId,
    rows: Vec<Row>,
    events: BTreeMap<EventId, EventRecord>,
}

impl Transaction {
    pub(super) fn begin(memory: Memory) -> Self {
        let id = memory.lock().0.new_tx();
        Self { memory, id, rows: Vec::new(), events: BTreeMap::new() }
    }

    /// Makes everything that was enqueued and published in it visible at once.
    pub fn commit(mut self) {
        let memory = self.memory.clone();
        let (mut store, now) = memory.lock();
        self.land(&mut store, now);
    }

    /// Leaves nothing of what was enqueued and published in it, as dropping does.
    pub fn rollback(self) {}

    /// The transaction that a caller passed, if it is one of this store.
    pub(super) fn of<'a>(memory: &Memory, tx: Tx<'a>) -> Result<&'a mut Self, Error> {
        tx.downcast::<Self>().filter(|tx| Arc::ptr_eq(&tx.memory.0, &memory.0)).ok_or_else(|| {
            Error::new(code::TRANSACTION_FOREIGN, "the transaction is not one of this memory driver's own")
        })
    }

    /// Makes it visible under the caller's lock. Nothing is left in it.
    pub(super) fn land(&mut self, store: &mut Store, now: DateTime<Utc>) {
        store.keys.committed(self.id);
        store.teller.queues(self.rows.iter().map(|row| &*row.new.queue));
        for mut row in std::mem::take(&mut self.rows) {
            row.ready.0 = now;
            store.put(row);
        }
        for (_, event) in std::mem::take(&mut self.events) {
            store.publish(event, now);
        }
    }

    pub(super) fn id(&self) -> TxId {
        self.id
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn add(&mut self, rows: Vec<Row>) {
        self.rows.extend(rows);
    }

    pub(super) fn event(&self, id: EventId) -> Option<&EventRecord> {
        self.events.get(&id)
    }

    pub(super) fn add_event(&mut self, event: EventRecord) {
        self.events.insert(event.id, event);
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let mut store = self.memory.lock().0;
        store.keys.rolled_back(self.id);
        store.keys.waited(self.id);
        drop(store);
        self.memory.0.tx_ended.notify_waiters();
    }
}

impl JoinTx for Transaction {
    fn tx(&mut self) -> Tx<'_> {
        Tx::new(self)
    }
}
