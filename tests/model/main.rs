//! Random histories on each driver against a reference model of some 350 lines: jobs and leases, runs and what they record.
//!
//! `JOBS_SEED` repeats a run, `JOBS_CASES` sets how many histories are played. A failure prints its seed and the
//! shortest history that shows it; that one is then kept in `kept`.

mod history;
mod kept;
#[path = "../conformance/pg.rs"]
mod pg;
mod play;
mod reference;
mod run;
#[path = "../support/mod.rs"]
mod support;

use history::{Call, histories};
use jobs::testing::conformance::Fixture;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use std::{cell::RefCell, collections::BTreeMap, future::Future, sync::Arc, time::SystemTime};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")))
}

/// What the histories of a run of some length must lead to: the write, what became of it, and the job after it.
const REACHED: &[&str] = &[
    "again Cancelled Some(Cancelled) Recorded",
    "again Landed Some(Ready) Unwinding",
    "cancel Asked",
    "cancel AtOnce",
    "finish Landed Some(Dead) Unwinding",
    "park Cancelled Some(Cancelled) Recorded",
    "park Landed Some(Ready) Recorded",
    "park Landed Some(Ready) Unwinding",
    "park Landed Some(Suspended) PastPivot",
    "park Landed Some(Suspended) Recorded",
    "park Landed Some(Suspended) Unwinding",
    "publish woke 0",
    "publish woke 1",
    "answer for an undo Done",
    "resolve Done",
    "resume Done",
    "roll back None Some(Running)",
    "roll back Some(Asked) Some(Ready)",
    "roll back Some(Asked) Some(Running)",
    "roll back Some(AtOnce) Some(Cancelled)",
    "spawn Cancelled",
    "spawn Landed",
    "spawn Refused",
    "step Landed Some(Running) PastPivot",
    "step Landed Some(Running) Recorded",
    "step Landed Some(Running) Unwinding",
    "step Stale Some(Ready) Recorded",
    "unwind Landed Some(Running) Unwinding",
];

/// Plays the histories that once showed a difference.
async fn replay<F: Fixture, M: Future<Output = Arc<F>>>(make: impl Fn() -> M) {
    for (what, history) in kept::histories() {
        let played = play::play(&*make().await, &history).await;
        assert!(played.is_ok(), "{what}: {played:?}");
    }
}

/// Plays random histories, each on a fresh store.
fn prove<F: Fixture, M: Future<Output = Arc<F>>>(cases: u32, shrink: u32, make: impl Fn() -> M) {
    let seed = number("JOBS_SEED").unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is past 1970");
        since.as_nanos() as u64
    });
    let cases = number("JOBS_CASES").map_or(cases, |cases| cases as u32);
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: shrink,
        ..Config::default()
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let reached = RefCell::new(BTreeMap::<String, u32>::new());
    let test = |history: Vec<Call>| {
        let played = runtime.block_on(async { play::play(&*make().await, &history).await });
        played
            .map_err(TestCaseError::fail)?
            .into_iter()
            .for_each(|what| *reached.borrow_mut().entry(what).or_default() += 1);
        Ok(())
    };
    match TestRunner::new(config).run(&histories(), test) {
        Ok(()) => {
            println!("{cases} histories match, seed {seed}");
            let reached = reached.borrow();
            let missed: Vec<_> = REACHED.iter().filter(|what| !reached.contains_key(**what)).collect();
            assert!(cases < 2_000 || missed.is_empty(), "no history led to {missed:?}, only to {reached:#?}");
        }
        Err(TestError::Fail(why, history)) => panic!("{why}\nhistory: {history:#?}\nrepeat it with JOBS_SEED={seed}"),
        Err(other) => panic!("{other}; JOBS_SEED={seed}"),
    }
}

mod memory {
    use jobs::testing::conformance::MemoryFixture;
    use std::sync::Arc;

    #[test]
    fn random_histories_match_the_model() {
        super::prove(2_000, 100_000, || async { Arc::new(MemoryFixture::new()) });
    }

    #[tokio::test]
    async fn histories_that_once_differed_match() {
        super::replay(|| async { Arc::new(MemoryFixture::new()) }).await;
    }
}

mod postgres {
    use crate::pg::PgFixture;
    use std::sync::Arc;
    use tokio::sync::OnceCell;

    #[test]
    fn random_histories_match_the_model() {
        // One database for all: making one takes longer than a history.
        let one = OnceCell::new();
        super::prove(150, 500, || async {
            let store: &Arc<PgFixture> = one.get_or_init(|| async { Arc::new(PgFixture::new().await) }).await;
            store.empty().await;
            Arc::clone(store)
        });
    }

    #[tokio::test]
    async fn histories_that_once_differed_match() {
        super::replay(|| async { Arc::new(PgFixture::new().await) }).await;
    }
}
