//! What every driver must do, as one suite that any driver can run: one file per area, each case a sentence.
//! Upstream: tests. Downstream: `driver`.
//!
//! A driver's own test file says how to make a [`Fixture`] and calls
//! [`conformance_suite!`](crate::conformance_suite); that generates one test per case.
//!
//! ```ignore
//! // tests/conformance.rs of an outside driver
//! mod mine {
//!     jobs::conformance_suite!(my_driver::TestStore::create().await);
//! }
//! ```

pub mod claim;
pub mod enqueue;
mod fixture;
mod hand;
mod memory;
mod suite;
pub mod transaction;

pub use fixture::{Fixture, OpenTx};
pub use hand::{HandWorker, KIND, QUEUE, job, keyed};
pub use memory::MemoryFixture;
