//! Names the log events, `jobs.<area>.<what>`, each of which stands in the field `event` of its record.
//! (Not called `log`: the macros of `tracing` bring a module of that name into the scope of their fields.)

macro_rules! events {
    ($($constant:ident = $name:literal, $what:literal;)*) => {
        $(
            #[doc = $what]
            pub const $constant: &str = $name;
        )*
        /// Every event's name, in the order of this file.
        pub const ALL: &[&str] = &[$($constant),*];
    };
}

events! {
    WORKER_STARTED = "jobs.worker.started", "A worker began; says what the registry found.";
    WORKER_QUEUE_UNNAMED = "jobs.worker.queue-unnamed", "A worker serves queues that no registered job names.";
    WORKER_DRAINING = "jobs.worker.draining", "A worker stopped claiming.";
    WORKER_STOPPED = "jobs.worker.stopped", "A worker ended.";
    WORKER_LOOP_FAILED = "jobs.worker.loop-failed", "A background loop failed or panicked and begins again.";
    LEASE_RENEWAL_FAILED = "jobs.lease.renewal-failed", "A renewal failed and is tried again.";
    LEASE_LOST = "jobs.lease.lost", "A worker cancelled its runs because its lease was not renewed in time.";
    CLAIM_FAILED = "jobs.claim.failed", "A claim failed and is tried again.";
    CLAIM_RECONCILED = "jobs.claim.reconciled", "Jobs whose claim's answer was lost went back.";
    CLAIM_ISOLATED = "jobs.claim.isolated", "A job on its last life went back, since another one runs here.";
    ROW_UNREADABLE = "jobs.row.unreadable", "A stored value or row could not be read and was left out.";
    COMMIT_FAILED = "jobs.commit.failed", "A flush failed and is tried again.";
    COMMIT_REFUSED = "jobs.commit.refused", "The store refused one write.";
    ATTEMPT_STARTED = "jobs.attempt.started", "A body began.";
    ATTEMPT_COMPLETED = "jobs.attempt.completed", "A job completed.";
    ATTEMPT_FAILED = "jobs.attempt.failed", "An attempt failed and another follows.";
    ATTEMPT_SNOOZED = "jobs.attempt.snoozed", "A body asked to run again later.";
    ATTEMPT_INTERRUPTED = "jobs.attempt.interrupted", "A drain handed a run back uncounted.";
    RUN_PARKED = "jobs.run.parked", "A body was let go of until something happens.";
    RUN_STUCK = "jobs.run.stuck", "A run is parked that cannot go on by itself.";
    RUN_UNREADABLE = "jobs.run.unreadable", "A run went back because the store did not tell what is recorded of it.";
    RUN_DROP_PANICKED = "jobs.run.drop-panicked", "A body panicked while it was let go of.";
    ATTEMPT_ABANDONED = "jobs.attempt.abandoned", "A body ignored its cancellation past the grace.";
    ATTEMPT_STALE = "jobs.attempt.stale", "The job belonged to another claim by then: nothing was written.";
    UNWIND_STARTED = "jobs.unwind.started", "A job that failed for good, or is rolled back, begins to undo its steps.";
    UNWIND_RETRIED = "jobs.unwind.retried", "Undoing a step failed; it is tried again.";
    UNWIND_COMPLETED = "jobs.unwind.completed", "A job has undone its steps.";
    UNWIND_FAILED = "jobs.unwind.failed", "A job could not undo all of its steps.";
    JOB_DEAD = "jobs.job.dead", "A job failed for good.";
    JOB_DROPPED = "jobs.job.dropped", "A job failed for good and is not kept.";
    JOB_CANCELLED = "jobs.job.cancelled", "A job ended as cancelled.";
    JOB_EXPIRED = "jobs.job.expired", "A job was not started in time.";
    JOB_QUARANTINED = "jobs.job.quarantined", "A job took its process down as often as its budget allows.";
    SETTLED_HOOK_FAILED = "jobs.settled.hook-failed", "An `on_settled` hook failed.";
    FOLLOW_UP_FAILED = "jobs.settled.follow-up-failed", "A follow-up job could not be built.";
    TENANT_UNGUARDED = "jobs.tenant.unguarded", "Row-level security does not hold for the role of the pool.";
    TENANT_CROSSED = "jobs.tenant.crossed", "A body left its tenant's bounds on purpose.";
    RESCUE_DONE = "jobs.rescue.done", "Jobs of lapsed workers are ready again.";
    PURGE_DONE = "jobs.purge.done", "Finished jobs left the history.";
    EVENT_UNREADABLE = "jobs.event.unreadable", "A wait skipped an event that it cannot take: it does not decode, or is another tenant's.";
    EVENTS_PURGED = "jobs.events.purged", "Expired events were removed.";
    REPORTER_FAILED = "jobs.report.failed", "The reporter itself panicked.";
}
