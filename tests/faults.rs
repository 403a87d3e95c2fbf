//! Faults of the network, of the server and of the data, and what must hold while they last and after them.
//!
//! Every time limit here is one that the documentation promises, or far above what a busy machine needs.

mod support;

#[path = "faults/jobs.rs"]
mod jobs_of_tests;
#[path = "faults/payload.rs"]
mod payload;
#[path = "faults/postgres/mod.rs"]
mod postgres;

/// The memory driver.
mod memory {
    use jobs::driver::{Driver, Memory};
    use std::sync::Arc;

    crate::payload::cases!(async { (Arc::new(Memory::new()) as Arc<dyn Driver>, ()) });
}
