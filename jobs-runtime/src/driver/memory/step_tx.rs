//! A transaction that a step runs in and that records it. Upstream: `mod`. Downstream: `commit`, `tx`.

use super::{Memory, commit, tx::Transaction};
use crate::{
    driver::{Fence, JoinTx, StepTransaction, StepWrite, Tx, WorkerId, Written},
    error::{Error, code},
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
        Box::pin(async move { Ok((*self).land(&record)) })
    }
}

impl Open {
    fn land(mut self, record: &StepWrite) -> Written {
        let memory = self.memory.clone();
        let (mut store, now) = memory.lock();
        let Some(mut row) = commit::take_held(&mut store, self.worker, &self.fence, now) else {
            return Written::Stale;
        };
        if record.child.is_some() {
            store.put(row);
            let detail = format!("step `{}` runs in a transaction, so it spawns no child", record.id.name);
            return Written::Refused(Error::new(code::STORE_FAILED, detail));
        }
        if let Some(error) = row.stage.refusal(record) {
            store.put(row);
            return Written::Refused(error);
        }
        row.record_step(record, now);
        store.put(row);
        self.transaction.land(&mut store, now);
        Written::Landed
    }
}
