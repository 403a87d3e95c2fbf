//! A transaction of the memory driver: jobs that no one sees until it commits.
//! Upstream: the user's code. Downstream: `enqueue`.

use super::{Memory, keys::TxId, row::Row};
use crate::driver::{JoinTx, Tx};
use std::sync::Arc;

/// An open transaction of a [`Memory`] driver.
///
/// - What is enqueued in it is unseen and wakes nobody until [`commit`](Transaction::commit).
/// - Dropped without one, it is rolled back and leaves nothing.
/// - A unique key that it took makes other enqueues of the key wait for its end.
#[derive(Debug)]
pub struct Transaction {
    memory: Memory,
    id: TxId,
    rows: Vec<Row>,
}

impl Transaction {
    pub(super) fn begin(memory: Memory) -> Self {
        let id = memory.lock().0.new_tx();
        Self { memory, id, rows: Vec::new() }
    }

    /// Makes everything that was enqueued in it visible at once.
    pub fn commit(mut self) {
        let memory = self.memory.clone();
        let (mut store, now) = memory.lock();
        store.keys.committed(self.id);
        memory.0.teller.queues(self.rows.iter().map(|row| &*row.new.queue));
        for mut row in std::mem::take(&mut self.rows) {
            row.ready.0 = now;
            store.put(row);
        }
    }

    /// Leaves nothing of what was enqueued in it, as dropping does.
    pub fn rollback(self) {}

    pub(super) fn is_of(&self, memory: &Memory) -> bool {
        Arc::ptr_eq(&self.memory.0, &memory.0)
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
