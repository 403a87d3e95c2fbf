//! The list of the suite's cases, as a macro that makes a test of each.

/// Generates one test per case of the [conformance suite](crate::testing::conformance), in a module per area.
///
/// Takes an expression that makes a fresh [`Fixture`](crate::testing::conformance::Fixture); it may `await`. The
/// calling crate needs `tokio` with `macros` and `rt-multi-thread`.
///
/// # Examples
/// ```
/// mod memory {
///     jobs_runtime::conformance_suite!(jobs_runtime::testing::conformance::MemoryFixture::new());
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! conformance_suite {
    ($fixture:expr) => {
        $crate::__conformance_area!($fixture, enqueue: [
            answers_come_in_input_order,
            an_empty_batch_answers_nothing,
            ten_thousand_with_a_thousand_duplicates_insert_nine_thousand,
            a_refused_item_leaves_nothing_of_its_batch,
            a_job_keeps_all_that_it_was_enqueued_with,
            a_delayed_job_waits_for_its_time,
            an_absolute_time_in_the_past_is_ready_at_once,
            two_handles_share_one_store,
            concurrent_batches_lose_nothing,
        ]);
        $crate::__conformance_area!($fixture, transaction: [
            a_commit_leaves_its_jobs,
            a_rollback_leaves_nothing,
            a_dropped_transaction_leaves_nothing,
            an_open_transaction_is_unseen,
            enqueues_of_one_transaction_commit_together,
            a_foreign_transaction_is_refused,
        ]);
        $crate::__conformance_area!($fixture, claim: [
            claims_go_by_priority_then_by_readiness,
            a_retried_job_goes_behind_those_that_are_ready,
            claims_keep_to_their_queues_and_limits,
            a_claimed_job_is_running,
            unknown_kinds_stay_untouched,
            newer_versions_stay_untouched,
            two_claimers_never_share_a_job,
            each_claim_of_a_job_has_its_own_token,
            a_lapsed_worker_claims_nothing,
            a_worker_without_a_lease_claims_nothing,
        ]);
    };
}

/// Makes the tests of one area.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_area {
    ($fixture:expr, $area:ident: [$($case:ident),* $(,)?]) => {
        mod $area {
            #[allow(unused_imports, reason = "the fixture's expression may name what the caller imported")]
            use super::*;

            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let fixture = $fixture;
                    $crate::testing::conformance::$area::$case(&fixture).await;
                }
            )*
        }
    };
}
