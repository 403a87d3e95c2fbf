//! A step's transaction with a point before and after its commit.

use super::Incarnation;
use crate::{
    driver::{StepTransaction, StepWrite, Tx, Written},
    error::Error,
};
use futures_util::future::BoxFuture;

struct Faulty {
    life: Incarnation,
    under: Box<dyn StepTransaction>,
}

pub(super) fn faulty(life: Incarnation, under: Box<dyn StepTransaction>) -> Box<dyn StepTransaction> {
    Box::new(Faulty { life, under })
}

impl StepTransaction for Faulty {
    fn tx(&mut self) -> Tx<'_> {
        self.under.tx()
    }

    fn commit(self: Box<Self>, record: StepWrite) -> BoxFuture<'static, Result<Written, Error>> {
        Box::pin(async move {
            let Self { life, under } = *self;
            let name = format!("commit of transaction {}", record.id.name);
            life.call(&name, async { under.commit(record).await }).await
        })
    }
}
