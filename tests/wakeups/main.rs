//! No wake-up is lost and none is doubled, however an event and the wait for it meet. The numbers are printed.
//!
//! A part of them by default; with `JOBS_WAKEUPS=full`, which `./dev test wakeups` sets, 20,000 pairs on Postgres and
//! 1,000,000 interleavings on the memory driver. `JOBS_SEED` chooses them.

mod interleavings;
mod pairs;
#[path = "../support/mod.rs"]
mod support;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")))
}

/// How many to play: all, or a part.
fn amount(full: u64, part: u64) -> u64 {
    let is_full = std::env::var("JOBS_WAKEUPS").is_ok_and(|value| value == "full");
    if is_full { full } else { part }
}

/// Numbers that a seed determines: SplitMix64.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn seeded(default: u64) -> (Self, u64) {
        let seed = number("JOBS_SEED").unwrap_or(default);
        (Self(seed), seed)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// The memory driver under the test's clock.
mod memory {
    #[tokio::test]
    async fn events_and_parks_meet_in_every_order() {
        super::interleavings::play(super::amount(1_000_000, 50_000)).await;
    }
}

/// The Postgres driver with a worker.
mod postgres {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn events_and_waits_meet_within_milliseconds() {
        super::pairs::play(super::amount(20_000, 1_000)).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn without_a_listener_a_parked_run_goes_on_within_a_poll() {
        super::pairs::without_a_listener().await;
    }
}
