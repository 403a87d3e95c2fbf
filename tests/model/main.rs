//! Random histories on each driver against a reference model of less than 200 lines.
//!
//! `JOBS_SEED` repeats a run, `JOBS_CASES` sets how many histories are played. A failure prints its seed and the
//! shortest history that shows it.

mod history;
#[path = "../conformance/pg.rs"]
mod pg;
mod play;
mod reference;
#[path = "../support/mod.rs"]
mod support;

use history::{Call, histories};
use jobs::testing::conformance::Fixture;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use std::{future::Future, time::SystemTime};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")))
}

/// Plays random histories, each on a fresh store.
fn prove<F: Fixture, M: Future<Output = F>>(cases: u32, make: impl Fn() -> M) {
    let seed = number("JOBS_SEED").unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is past 1970");
        since.as_nanos() as u64
    });
    let cases = number("JOBS_CASES").map_or(cases, |cases| cases as u32);
    let config = Config { cases, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let test = |history: Vec<Call>| {
        let played = runtime.block_on(async { play::play(&make().await, &history).await });
        played.map_err(TestCaseError::fail)
    };
    match TestRunner::new(config).run(&histories(), test) {
        Ok(()) => {}
        Err(TestError::Fail(why, history)) => panic!("{why}\nhistory: {history:#?}\nrepeat it with JOBS_SEED={seed}"),
        Err(other) => panic!("{other}; JOBS_SEED={seed}"),
    }
}

mod memory {
    use jobs::testing::conformance::MemoryFixture;

    #[test]
    fn random_histories_match_the_model() {
        super::prove(600, || async { MemoryFixture::new() });
    }
}

mod postgres {
    use crate::pg::PgFixture;

    #[test]
    fn random_histories_match_the_model() {
        super::prove(24, PgFixture::new);
    }
}
