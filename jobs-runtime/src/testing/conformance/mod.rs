//! What every driver must do, as one suite that any driver can run: one file per area, each case a sentence.
//! Upstream: tests. Downstream: `driver`.
//!
//! A driver's own test file says how to make a [`Fixture`] and calls
//! [`conformance_suite!`](crate::conformance_suite); that generates one test per case.
//!
//! ```text
//! // tests/conformance.rs of an outside driver
//! mod mine {
//!     jobs::conformance_suite!(my_driver::TestStore::create().await);
//! }
//! ```

pub mod answer;
pub mod cancel;
pub mod child_ends;
pub mod children;
pub mod claim;
mod crew;
pub mod enqueue;
pub mod events;
pub mod expiry;
pub mod fence;
mod fixture;
pub mod follow_up;
pub mod guard;
mod hand;
pub mod hints;
pub mod interleave;
pub mod lease;
mod memory;
pub mod mixed;
pub mod operate;
pub mod park;
pub mod payload;
pub mod promote;
mod recorded;
pub mod retention;
pub mod retry;
pub mod roll_back;
pub mod settle;
pub mod step_tx;
pub mod steps;
mod suite;
pub mod tangle;
pub mod transaction;
pub mod unique;
pub mod unique_race;
pub mod unwind;
pub mod wake;
pub mod worker_run;
pub mod worker_stop;

pub use fixture::{Fixture, OpenTx};
pub use hand::{HandWorker, KIND, QUEUE, job, keyed};
pub use memory::MemoryFixture;
