//! The conformance suite, run for each driver: a test's path begins with the driver's name.

#[path = "../support/mod.rs"]
mod support;

mod pg;

/// The memory driver.
mod memory {
    use jobs::testing::conformance::MemoryFixture;

    jobs::conformance_suite!(MemoryFixture::new());
}

/// The Postgres driver.
mod postgres {
    use crate::pg::PgFixture;

    jobs::conformance_suite!(PgFixture::new().await);
}
