//! The conformance suite, run for each driver: a test's path begins with the driver's name.

/// The memory driver.
mod memory {
    use jobs::testing::conformance::MemoryFixture;

    jobs::conformance_suite!(MemoryFixture::new());
}
