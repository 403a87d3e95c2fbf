//! Kills a run at every point at which it can be killed, on both drivers, and looks what is left.
//!
//! A scenario is played once to count its points, then once for each of them; a point that is made anew joins by
//! itself. The numbers are printed.

mod oracle;
#[path = "../conformance/pg.rs"]
mod pg;
mod plain;
mod play;
mod replay;
mod saga;
#[path = "../support/mod.rs"]
mod support;
mod world;

/// The memory driver: time is the test's alone.
mod memory {
    use super::saga::{self, BUDGET, COMPENSATED, End, Sum};
    use jobs::testing::{Fault, conformance::MemoryFixture};

    #[tokio::test(start_paused = true)]
    async fn a_plain_job_is_run_whatever_dies() {
        super::plain::enumerate(&MemoryFixture::new()).await;
    }

    /// A crash, a drain and an absence of the store at every point of every end.
    #[tokio::test(start_paused = true)]
    async fn a_saga_is_hit_at_every_point() {
        let mut sum = Sum::default();
        for end in [End::Completes, End::Fails, End::RolledBack] {
            for fault in [Fault::Crash, Fault::Drain, Fault::Away] {
                sum.add(saga::enumerate(&MemoryFixture::new(), end, None, fault, 0, 1).await);
            }
        }
        sum.print();
    }

    /// A crash at every point, for each compensation and each number of its failures up to its budget.
    #[tokio::test(start_paused = true)]
    async fn a_saga_whose_compensations_fail_is_killed_at_every_point() {
        let mut sum = Sum::default();
        for step in COMPENSATED {
            for times in 1..=BUDGET {
                let failing = Some((step, times));
                sum.add(saga::enumerate(&MemoryFixture::new(), End::Fails, failing, Fault::Crash, 0, 1).await);
            }
        }
        sum.print();
    }

    #[tokio::test]
    async fn a_replay_of_a_thousand_steps_costs_one_read() {
        super::replay::costs_one_read(&MemoryFixture::new()).await;
    }

    /// The job may take its process down once: the next one unwinds, and stops at what nobody knows.
    #[tokio::test(start_paused = true)]
    async fn a_saga_whose_crash_budget_is_spent_unwinds_and_stops_at_an_unknown_step() {
        let mut sum = Sum::default();
        for fault in [Fault::Crash, Fault::Drain] {
            sum.add(saga::enumerate(&MemoryFixture::new(), End::Brittle, None, fault, 0, 1).await);
        }
        sum.print();
    }

    /// Two crashes, at points taken at random. `JOBS_CASES` sets how many pairs are played, `JOBS_SEED` which.
    #[tokio::test(start_paused = true)]
    async fn a_saga_is_killed_twice() {
        saga::pairs(&MemoryFixture::new(), 400).await;
    }
}

/// The Postgres driver.
mod postgres {
    use crate::{
        pg::PgFixture,
        saga::{self, BUDGET, COMPENSATED, End, Sum},
    };
    use jobs::testing::Fault;

    #[tokio::test]
    async fn a_plain_job_is_run_whatever_dies() {
        super::plain::enumerate(&PgFixture::new().await).await;
    }

    #[tokio::test]
    async fn a_replay_of_a_thousand_steps_costs_one_read() {
        super::replay::costs_one_read(&PgFixture::new().await).await;
    }

    #[tokio::test]
    async fn a_saga_whose_crash_budget_is_spent_unwinds_and_stops_at_an_unknown_step() {
        killed_at_every_point(End::Brittle).await;
    }

    /// Drains and an absent store, at every seventh point.
    #[tokio::test]
    async fn a_saga_is_drained_and_cut_off() {
        let store = PgFixture::new().await;
        let mut sum = Sum::default();
        for (first, end) in [End::Completes, End::Fails, End::RolledBack].into_iter().enumerate() {
            sum.add(saga::enumerate(&store, end, None, Fault::Drain, first, 7).await);
            sum.add(saga::enumerate(&store, end, None, Fault::Away, first + 3, 7).await);
        }
        sum.print();
    }

    async fn killed_at_every_point(end: End) {
        let mut sum = Sum::default();
        sum.add(saga::enumerate(&PgFixture::new().await, end, None, Fault::Crash, 0, 1).await);
        sum.print();
    }

    #[tokio::test]
    async fn a_saga_that_completes_is_killed_at_every_point() {
        killed_at_every_point(End::Completes).await;
    }

    #[tokio::test]
    async fn a_saga_that_fails_is_killed_at_every_point() {
        killed_at_every_point(End::Fails).await;
    }

    #[tokio::test]
    async fn a_saga_that_is_rolled_back_is_killed_at_every_point() {
        killed_at_every_point(End::RolledBack).await;
    }

    /// Each compensation and each number of its failures up to its budget, a crash at some points of each; between them
    /// they reach all. `JOBS_STRIDE=1` takes all points of each.
    #[tokio::test]
    async fn a_saga_whose_compensations_fail_is_killed_at_points_that_cover_all() {
        let store = PgFixture::new().await;
        let stride = std::env::var("JOBS_STRIDE").map_or(20, |stride| stride.parse().expect("a number"));
        let mut sum = Sum::default();
        for (first, step) in COMPENSATED.into_iter().enumerate() {
            for times in 1..=BUDGET {
                let first = first * BUDGET as usize + times as usize;
                let failing = Some((step, times));
                sum.add(saga::enumerate(&store, End::Fails, failing, Fault::Crash, first % stride, stride).await);
            }
        }
        sum.print();
    }
}
