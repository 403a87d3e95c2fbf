//! A transaction that a step runs in and that records it. Upstream: `mod`. Downstream: `commit`, `tx`.

use super::{Memory, commit, enqueue, tx::Transaction};
use crate::{
    driver::{Fence, JoinTx, StepTransaction, StepWrite, Tx, WorkerId, Written},
    error::Error,
};
use futures_util::future::BoxFuture;

pub(super) struct Open {
    pub(super) memory: Memory,
    pub(super) worker: WorkerId,
    pub(super) fence: Fence,
    pub(super) transaction: Transaction,
}

impl StepTransaction for Open {
    fn tx(&mut self) -> Tx<'_> {
        self.transaction.tx()
    }

    fn commit(self: Box<Self>, record: StepWrite) -> BoxFuture<'static, Result<Written, Error>> {
        Box::pin(self.land(record))
    }
}

impl Open {
    async fn land(mut self: Box<Self>, record: StepWrite) -> Result<Written, Error> {
        let memory = self.memory.clone();
        let child = record.child.as_deref();
        let (mut store, now) = enqueue::lock_settled(&memory, child, Some(self.transaction.id())).await?;
        let Some(mut row) = commit::take_held(&mut store, self.worker, &self.fence, now) else {
            return Ok(Written::Stale);
        };
        let written = commit::step_and_child(&mut store, &mut row, &record, now);
        store.put(row);
        if matches!(written, Written::Landed) {
            self.transaction.land(&mut store, now);
        }
        Ok(written)
    }
}
