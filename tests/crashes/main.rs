//! Kills a run at every point at which it can be killed, on both drivers, and looks what is left.
//!
//! A scenario is played once to count its points, then once for each of them; a point that is made anew joins by
//! itself. The numbers are printed.

#[path = "../conformance/pg.rs"]
mod pg;
mod plain;
mod play;
#[path = "../support/mod.rs"]
mod support;

/// The memory driver: time is the test's alone.
mod memory {
    use jobs::testing::conformance::MemoryFixture;

    #[tokio::test(start_paused = true)]
    async fn a_plain_job_is_run_whatever_dies() {
        super::plain::enumerate(&MemoryFixture::new()).await;
    }
}

/// The Postgres driver.
mod postgres {
    use crate::pg::PgFixture;

    #[tokio::test]
    async fn a_plain_job_is_run_whatever_dies() {
        super::plain::enumerate(&PgFixture::new().await).await;
    }
}
