//! The worker on the memory driver and on a scripted one: start, run, drain, lease, commit pipeline, supervision.

#[path = "worker/act.rs"]
mod act;
#[path = "worker/claims.rs"]
mod claims;
#[path = "worker/commit.rs"]
mod commit;
#[path = "worker/drain.rs"]
mod drain;
#[path = "worker/first_reason.rs"]
mod first_reason;
#[path = "worker/isolation.rs"]
mod isolation;
#[path = "worker/lease.rs"]
mod lease;
#[path = "worker/loops.rs"]
mod loops;
#[path = "worker/on_postgres.rs"]
mod on_postgres;
#[path = "worker/runs.rs"]
mod runs;
#[path = "worker/scripted.rs"]
mod scripted;
#[path = "worker/settled.rs"]
mod settled;
#[path = "worker/start.rs"]
mod start;
#[path = "support/mod.rs"]
mod support;
