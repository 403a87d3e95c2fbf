//! For tests: run jobs in place, move the clock, assert what is enqueued; and the conformance suite of drivers.
//! Upstream: tests. Downstream: everything.

mod act;
mod clock;
pub mod conformance;
mod enqueued;
mod eventually;
mod faults;
mod harness;
mod overlay;
mod replays;
mod rig;
mod session;

pub use act::{Act, Acts, Starts};
pub use clock::TestClock;
pub use enqueued::{Waiting, assert_enqueued, enqueued, refute_enqueued};
pub use eventually::eventually;
pub use faults::{Fault, Faults, Incarnation};
pub use harness::Harness;
pub use overlay::Overlay;
pub use replays::assert_replays;
pub use rig::{Rig, RigBuilder};
