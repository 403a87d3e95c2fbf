//! The memory driver's fixture: its manual clock is the store's.

use super::fixture::{Fixture, OpenTx};
use crate::{
    clock::Clock,
    driver::{Driver, JoinTx, Memory, MemoryTx, Tx},
};
use futures_util::future::BoxFuture;
use std::{sync::Arc, time::Duration};

/// A memory store on a manual clock.
#[derive(Debug)]
pub struct MemoryFixture(Memory);

impl MemoryFixture {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self(Memory::with_clock(Clock::manual()))
    }
}

impl Default for MemoryFixture {
    fn default() -> Self {
        Self::new()
    }
}

impl Fixture for MemoryFixture {
    fn driver(&self) -> Arc<dyn Driver> {
        Arc::new(self.0.clone())
    }

    fn second_handle(&self) -> BoxFuture<'_, Arc<dyn Driver>> {
        Box::pin(async { self.driver() })
    }

    fn advance(&self, by: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.0.clock().advance(by) })
    }

    fn begin(&self) -> BoxFuture<'_, Box<dyn OpenTx>> {
        Box::pin(async { Box::new(self.0.begin()) as Box<dyn OpenTx> })
    }
}

impl OpenTx for MemoryTx {
    fn tx(&mut self) -> Tx<'_> {
        JoinTx::tx(self)
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async { MemoryTx::commit(*self) })
    }

    fn rollback(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async { MemoryTx::rollback(*self) })
    }
}
