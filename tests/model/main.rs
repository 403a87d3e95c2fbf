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
use std::{cell::RefCell, collections::BTreeMap, future::Future, sync::Arc, thread, time::SystemTime};

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
    "park Refused",
    "step Refused Some(Running) Unwinding",
    "step Landed Some(Running) PastPivot",
    "step Landed Some(Running) Recorded",
    "step Landed Some(Running) Unwinding",
    "step Stale Some(Ready) Recorded",
    "unwind Landed Some(Running) Unwinding",
];

/// Plays the histories that once showed a difference.
async fn replay<F: Fixture, M: Future<Output = Arc<F>>>(make: impl Fn() -> M) {
    for (what, history) in kept::histories() {
        let played = play::play(&*make().await, &history, 1).await;
        assert!(played.is_ok(), "{what}: {played:?}");
    }
}

/// How many histories are played at once.
const PLAYERS: u32 = 2;

/// How often the histories of a run led to what.
type Reached = BTreeMap<String, u32>;

/// Plays random histories, each on an empty store, and compares all that is stored after each so many calls. `next` makes
/// the store of the next history, perhaps of that of the last one.
fn prove<F: Fixture, M: Future<Output = Arc<F>>>(
    each: usize,
    shrink: u32,
    next: impl Fn(Option<Arc<F>>) -> M + Copy + Send,
) {
    let seed = number("JOBS_SEED").unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is past 1970");
        since.as_nanos() as u64
    });
    let cases = number("JOBS_CASES").map_or(2_000, |cases| cases as u32);
    let reached: Reached = thread::scope(|scope| {
        let players: Vec<_> = (0..PLAYERS)
            .map(|player| {
                let cases = cases / PLAYERS + u32::from(player < cases % PLAYERS);
                let seed = seed.wrapping_add(player.into());
                let config = Config {
                    cases,
                    rng_seed: RngSeed::Fixed(seed),
                    failure_persistence: None,
                    max_shrink_iters: shrink,
                    ..Config::default()
                };
                scope.spawn(move || play_many(config, each, seed, next))
            })
            .collect();
        let mut all = Reached::new();
        for player in players {
            let reached = player.join().unwrap_or_else(|why| std::panic::resume_unwind(why));
            reached.into_iter().for_each(|(what, times)| *all.entry(what).or_default() += times);
        }
        all
    });
    println!("{cases} histories match, seed {seed}");
    let missed: Vec<_> = REACHED.iter().filter(|what| !reached.contains_key(**what)).collect();
    assert!(cases < 2_000 || missed.is_empty(), "no history led to {missed:?}, only to {reached:#?}");
}

fn play_many<F: Fixture, M: Future<Output = Arc<F>>>(
    config: Config,
    each: usize,
    seed: u64,
    next: impl Fn(Option<Arc<F>>) -> M,
) -> Reached {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let (reached, last) = (RefCell::new(Reached::new()), RefCell::new(None));
    let test = |history: Vec<Call>| {
        let played = runtime.block_on(async {
            let store = next(last.take()).await;
            let played = play::play(&*store, &history, each).await;
            last.replace(Some(store));
            played
        });
        let led_to = played.map_err(TestCaseError::fail)?;
        led_to.into_iter().for_each(|what| *reached.borrow_mut().entry(what).or_default() += 1);
        Ok(())
    };
    match TestRunner::new(config).run(&histories(), test) {
        Ok(()) => reached.into_inner(),
        Err(TestError::Fail(why, history)) => {
            panic!("{why}\nhistory: {history:#?}\nrepeat it with JOBS_SEED={seed}: the first player's is the one given")
        }
        Err(other) => panic!("{other}; JOBS_SEED={seed}"),
    }
}

mod memory {
    use jobs::testing::conformance::MemoryFixture;
    use std::sync::Arc;

    #[test]
    fn random_histories_match_the_model() {
        super::prove(1, 100_000, |_| async { Arc::new(MemoryFixture::new()) });
    }

    #[tokio::test]
    async fn histories_that_once_differed_match() {
        super::replay(|| async { Arc::new(MemoryFixture::new()) }).await;
    }
}

mod postgres {
    use crate::pg::PgFixture;
    use std::sync::Arc;

    #[test]
    fn random_histories_match_the_model() {
        // One database for all of a player: making one takes longer than a history.
        super::prove(10, 500, |last: Option<Arc<PgFixture>>| async {
            let Some(store) = last else { return Arc::new(PgFixture::new().await) };
            store.empty().await;
            store
        });
    }

    #[tokio::test]
    async fn histories_that_once_differed_match() {
        super::replay(|| async { Arc::new(PgFixture::new().await) }).await;
    }
}
