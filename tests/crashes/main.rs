//! Kills a run at every point at which it can be killed, on both drivers, and looks what is left.
//!
//! A scenario is played once to count its points, then once for each of them; a point that is made anew joins by
//! itself. The numbers are printed.

mod oracle;
#[path = "../conformance/pg.rs"]
mod pg;
mod plain;
mod play;
mod saga;
#[path = "../support/mod.rs"]
mod support;
mod world;

/// The memory driver: time is the test's alone.
mod memory {
    use super::saga::{self, End, Sum};
    use jobs::testing::{Fault, conformance::MemoryFixture};

    #[tokio::test(start_paused = true)]
    async fn a_plain_job_is_run_whatever_dies() {
        super::plain::enumerate(&MemoryFixture::new()).await;
    }

    /// Both faults at every point of every end.
    #[tokio::test(start_paused = true)]
    async fn a_saga_is_hit_at_every_point() {
        let mut sum = Sum::default();
        for end in [End::Completes, End::Fails, End::RolledBack] {
            for fault in [Fault::Crash, Fault::Away] {
                sum.add(saga::enumerate(&MemoryFixture::new(), end, None, fault, 1).await);
            }
        }
        sum.print();
    }

    /// Both faults at every point, for each compensation and each number of its failures up to its budget.
    #[tokio::test(start_paused = true)]
    async fn a_saga_whose_compensations_fail_is_hit_at_every_point() {
        let mut sum = Sum::default();
        for step in saga::COMPENSATED {
            for times in 0..=saga::BUDGET {
                for fault in [Fault::Crash, Fault::Away] {
                    let failing = Some((step, times));
                    sum.add(saga::enumerate(&MemoryFixture::new(), End::Fails, failing, fault, 1).await);
                }
            }
        }
        sum.print();
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
