//! For tests: the conformance suite of drivers, and what tests of jobs need.
//! Upstream: tests. Downstream: everything.

pub mod conformance;
mod eventually;

pub use eventually::eventually;
