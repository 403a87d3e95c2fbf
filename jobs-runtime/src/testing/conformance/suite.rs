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
        $crate::__conformance_area!($fixture, unique: [
            a_taken_key_answers_its_holder,
            a_key_twice_in_a_batch_is_inserted_once,
            a_key_twice_in_a_transaction_is_inserted_once,
            a_rejecting_job_is_refused,
            a_live_key_is_held_until_the_job_ends,
            a_cancel_frees_the_key,
            a_rescued_job_holds_its_key_until_it_ends,
            a_queued_key_is_free_from_the_first_claim,
            a_forever_key_outlives_its_job,
            a_period_holds_the_key_so_long,
            an_end_frees_only_its_own_key,
            a_requeue_takes_the_key_again_or_is_refused,
            jobs_that_share_a_key_never_block_a_claim,
        ]);
        $crate::__conformance_area!($fixture, unique_race: [
            of_64_concurrent_callers_one_inserts,
            of_64_callers_with_rollbacks_one_job_is_left,
            whichever_transaction_commits_its_job_is_left,
            a_caller_waits_for_the_holders_transaction,
            an_open_transaction_delays_no_other_key,
            transactions_that_wait_for_each_other_do_not_hang,
            batches_with_keys_in_any_order_never_deadlock,
            a_key_that_is_freed_while_it_is_asked_for_never_has_two_holders,
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
        $crate::__conformance_area!($fixture, lease: [
            a_claim_of_nothing_tells_whether_the_lease_is_held,
            thousands_of_held_jobs_are_handed_back_by_a_rescue_and_by_a_stop,
            a_renewal_extends_the_lease,
            a_lapsed_lease_is_not_renewed,
            an_open_session_finds_its_lease_lapsed,
            a_stopped_worker_hands_its_jobs_back_uncounted,
            a_rescue_keeps_the_attempt_and_counts_a_crash,
            crashes_add_up,
            a_rescue_leaves_live_workers_alone,
            concurrent_rescues_count_each_crash_once,
            a_rescue_decides_no_failure_of_kinds_unknown_to_it,
            a_reused_name_is_another_incarnation,
            a_worker_can_list_what_it_holds,
        ]);
        $crate::__conformance_area!($fixture, fence: [
            an_older_claim_of_the_same_worker_is_stale,
            another_attempt_is_stale,
            an_invented_token_is_stale,
            a_lapsed_lease_makes_writes_stale,
            a_rescued_job_is_lost_to_its_old_worker,
            a_reused_name_does_not_revive_a_claim,
            a_stopped_worker_writes_nothing,
            a_finished_job_is_never_written_again,
            a_job_that_left_the_store_is_not_revived,
            a_requeue_does_not_revive_old_claims,
            a_job_that_was_let_go_is_not_written,
            an_unknown_job_is_stale,
        ]);
        $crate::__conformance_area!($fixture, settle: [
            a_completed_job_keeps_its_output,
            each_end_is_recorded,
            writes_are_answered_in_input_order,
            a_thousand_writes_go_together,
            an_empty_commit_answers_nothing,
            writes_about_one_job_land_in_order,
            progress_is_kept_and_replaced,
            one_bad_write_does_not_stop_the_rest,
            hostile_failure_texts_are_kept,
        ]);
        $crate::__conformance_area!($fixture, follow_up: [
            an_end_writes_its_follow_up,
            a_job_that_keeps_nothing_writes_its_follow_up,
            a_follow_up_may_be_delayed,
            a_taken_key_never_fails_the_end,
            follow_ups_that_share_a_key_are_written_once,
            an_end_frees_its_key_for_its_follow_up,
            a_key_in_an_open_transaction_is_not_waited_for_long,
        ]);
        $crate::__conformance_area!($fixture, retry: [
            a_retry_counts_and_waits,
            a_retry_without_a_wait_is_ready_at_once,
            a_release_is_not_counted,
            an_end_without_a_failure_forgets_the_last,
            a_snooze_waits_uncounted,
            attempts_never_start_over,
            the_longest_wait_is_kept,
            a_time_past_the_limit_is_the_limit,
        ]);
        $crate::__conformance_area!($fixture, cancel: [
            a_ready_job_is_cancelled_at_once,
            a_waiting_job_is_cancelled_at_once,
            a_running_job_is_asked_to_stop,
            an_ended_job_says_how_it_ended,
            a_completion_beats_a_cancel_request,
            a_cancel_request_beats_a_retry,
            a_rescue_cancels_what_was_asked_to,
            a_stopping_worker_cancels_what_was_asked_to,
            a_request_ends_with_its_run,
            a_cancel_and_a_claim_never_both_win,
        ]);
        $crate::__conformance_area!($fixture, expiry: [
            a_job_in_time_is_not_expired,
            a_late_job_is_expired,
            an_expired_job_stays_expired_after_a_rescue,
            a_delayed_job_expires_from_its_start,
            a_started_job_never_expires,
            a_requeued_job_is_not_expired,
        ]);
        $crate::__conformance_area!($fixture, promote: [
            nothing_waits_and_nothing_is_due,
            what_is_due_is_moved_and_the_next_is_told,
            a_limit_is_kept,
            earlier_dues_are_moved_first,
            concurrent_promotions_move_each_job_once,
            a_look_misses_nothing,
        ]);
        $crate::__conformance_area!($fixture, retention: [
            a_finished_job_leaves_after_its_period,
            each_job_has_its_own_period,
            a_job_that_keeps_nothing_is_gone_at_once,
            a_dead_job_stays,
            a_cancelled_job_stays_for_the_default_period,
            live_jobs_are_never_purged,
        ]);
        $crate::__conformance_area!($fixture, payload: [
            a_payload_is_kept_byte_for_byte,
            outputs_metadata_and_follow_ups_are_kept_byte_for_byte,
            a_payload_of_a_mebibyte_is_kept,
            an_escaped_nul_is_kept_or_refused,
            random_numbers_come_back_bit_for_bit,
        ]);
        $crate::__conformance_area!($fixture, operate: [
            a_dead_job_is_requeued_from_the_start,
            a_requeue_of_another_state_is_refused,
            concurrent_requeues_start_it_over_once,
            a_job_is_found_in_every_state,
            a_list_pages_from_new_to_old,
            a_page_has_its_limits,
            a_list_is_filtered,
            counts_are_by_queue_kind_and_state,
            workers_are_listed_while_their_lease_is_current,
            the_outline_of_a_kind_is_kept,
        ]);
        $crate::__conformance_area!($fixture, steps: [
            a_fresh_run_has_recorded_nothing,
            a_record_is_read_back_whole,
            every_kind_and_status_is_kept,
            a_later_record_keeps_position_and_start,
            the_time_of_a_wait_is_no_news_once_it_has_ended,
            an_identity_has_one_record_and_one_compensation,
            steps_are_listed_by_the_order_of_their_starts,
            records_of_many_runs_go_together,
            a_record_before_an_end_is_kept,
            records_survive_drain_retry_and_rescue,
            an_end_keeps_the_records,
            a_job_that_keeps_nothing_leaves_no_records,
            the_stage_follows_the_records,
        ]);
        $crate::__conformance_area!($fixture, park: [
            a_parked_run_is_ready_when_it_is_due,
            a_park_that_is_due_is_ready_at_once,
            a_park_without_a_time_is_never_due,
            a_park_records_what_has_begun,
            a_park_forgets_crashes,
            a_parked_run_is_let_go,
            a_parked_run_holds_its_key,
            a_park_of_a_run_that_was_asked_to_cancel_ends_it,
            a_parked_run_is_cancelled_at_once,
            a_park_tells_its_reason,
            a_park_and_a_cancel_never_miss_each_other,
        ]);
        $crate::__conformance_area!($fixture, events: [
            an_event_is_found_by_its_name_and_key,
            an_event_of_a_tenant_is_seen_by_its_runs_alone,
            publications_are_answered_in_input_order,
            the_earliest_publication_is_found_first,
            a_taken_event_is_skipped,
            an_event_after_the_end_of_the_wait_is_not_found,
            an_expired_event_is_not_found,
            a_purge_leaves_what_has_not_expired,
            a_diagnosis_lists_the_newest_thousand,
            an_event_is_found_from_its_commit_on,
            an_event_that_commits_late_is_not_skipped,
            a_rolled_back_event_is_never_found,
            an_event_that_is_published_twice_is_one_event,
            a_transaction_of_another_store_is_refused,
        ]);
        $crate::__conformance_area!($fixture, wake: [
            an_event_wakes_the_runs_that_wait_for_it,
            an_event_of_a_tenant_wakes_its_runs_alone,
            a_run_is_woken_once,
            an_event_before_the_park_makes_it_ready_at_once,
            a_park_finds_only_what_the_run_may_take,
            a_taken_event_wakes_nobody,
            an_event_wakes_at_its_commit,
            an_event_wakes_a_thousand_runs,
            a_park_and_its_event_never_miss_each_other,
            a_time_and_two_events_wake_once,
        ]);
        $crate::__conformance_area!($fixture, children: [
            a_child_is_written_with_its_record,
            a_child_whose_key_is_taken_leaves_no_record,
            a_run_that_was_asked_to_cancel_spawns_nothing,
            a_cancel_reaches_grandchildren,
            a_cancel_of_a_running_parent_cancels_its_children,
            a_spawn_and_a_cancel_leave_no_live_child,
        ]);
        $crate::__conformance_area!($fixture, child_ends: [
            an_end_by_a_worker_is_told_to_the_parent,
            an_end_tells_the_last_failure,
            an_end_by_a_cancel_is_told_to_the_parent,
            an_end_by_a_rescue_or_a_stop_is_told_to_the_parent,
            a_child_that_ended_before_the_park_makes_it_ready_at_once,
            a_park_and_a_childs_end_never_miss_each_other,
            a_parent_that_waits_for_something_else_is_not_woken,
            a_parent_is_told_whatever_its_state,
            only_the_first_end_of_a_child_counts,
        ]);
        $crate::__conformance_area!($fixture, unwind: [
            a_decision_to_unwind_is_recorded,
            a_decision_records_the_steps_that_failed,
            an_unwinding_run_unwinds_until_it_ends,
            a_decision_forgets_crashes,
            a_decision_is_recorded_once,
            a_cancel_does_not_stop_an_unwinding,
            a_decision_meets_a_request_to_cancel,
            a_requeue_after_an_unwinding_begins_anew,
            a_requeue_without_an_unwinding_goes_on,
        ]);
        $crate::__conformance_area!($fixture, guard: [
            a_run_that_unwinds_records_no_step,
            a_step_that_commits_after_the_decision_leaves_nothing,
            a_run_that_unwinds_parks_without_new_records,
            a_decision_brings_its_own_records,
            a_childs_end_is_told_to_a_run_that_unwinds,
            other_runs_of_the_batch_record_their_steps,
        ]);
        $crate::__conformance_area!($fixture, mixed: [
            a_refused_item_leaves_the_rest_of_its_batch,
        ]);
        $crate::__conformance_area!($fixture, roll_back: [
            a_waiting_job_without_records_is_cancelled,
            a_waiting_run_with_records_unwinds,
            a_running_job_is_asked_to_roll_back,
            a_run_that_is_let_go_unwinds,
            a_run_that_lost_its_worker_unwinds,
            what_is_recorded_after_the_request_counts,
            a_run_past_its_pivot_is_refused,
            a_pivot_ends_the_request,
            a_roll_back_of_an_ended_job_changes_nothing,
            a_roll_back_stands_above_a_cancel,
            a_run_that_was_asked_to_roll_back_spawns_nothing,
            children_are_rolled_back_with_their_parent,
        ]);
        $crate::__conformance_area!($fixture, answer: [
            other_states_are_refused,
            a_parked_run_has_its_answers,
            a_dead_run_that_did_not_unwind_is_only_resolved,
            a_step_is_resolved_as_done,
            a_step_is_resolved_as_failed,
            a_failed_step_is_resolved_again,
            an_answer_that_does_not_fit_is_given_again,
            a_step_that_is_not_in_doubt_is_not_resolved,
            a_dead_run_unwinds_further,
            a_compensation_is_answered_for_once,
            concurrent_answers_count_once,
        ]);
        $crate::__conformance_area!($fixture, step_tx: [
            a_step_lands_with_its_record,
            a_dropped_step_leaves_nothing,
            a_stale_step_leaves_nothing,
            of_two_claims_the_newer_lands,
            a_refused_step_leaves_nothing,
            a_step_at_its_end_lands_despite_a_cancel,
            a_step_wakes_when_it_lands,
        ]);
        $crate::__conformance_area!($fixture, tangle: [
            whatever_the_order_every_run_ends,
        ]);
        $crate::__conformance_area!($fixture, hints: [
            an_enqueue_tells_its_queue,
            a_rolled_back_enqueue_wakes_nobody,
            a_cancel_tells_the_jobs_worker,
            what_becomes_ready_again_is_told,
            a_burst_is_coalesced,
            a_roll_back_tells_the_jobs_worker,
            a_parked_run_that_becomes_ready_is_told,
            a_step_that_lands_tells_its_queue,
        ]);
        $crate::__conformance_area!($fixture, interleave: [
            whatever_the_order_each_job_ends_once,
        ]);
        $crate::__conformance_area!($fixture, worker_run: [
            a_job_is_run_and_completed,
            two_workers_run_each_job_once,
            a_failing_job_has_its_attempts_and_is_dead,
            a_job_recovers_from_a_failure_and_a_panic,
            a_body_says_what_becomes_of_its_job,
            a_body_past_its_timeout_is_stopped,
            progress_is_written_before_the_end,
            an_end_runs_its_follow_up_and_its_hook,
            a_payload_of_another_tenant_is_refused,
            a_worker_without_a_needed_state_refuses_to_start,
            an_expired_job_is_not_started,
            an_unknown_kind_is_left_alone,
            an_unreadable_payload_is_kept_and_runs_after_a_fix,
        ]);
        $crate::__conformance_area!($fixture, worker_stop: [
            a_drain_hands_back_uncounted,
            another_worker_runs_what_was_handed_back,
            a_running_job_is_cancelled,
            a_dead_workers_job_runs_again_under_its_attempt,
            a_job_that_kills_its_workers_is_quarantined,
            a_worker_that_lost_its_lease_goes_on_as_another,
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
