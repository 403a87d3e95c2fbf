//! The worker on the memory driver and on a scripted one: start, run, drain, lease, commit pipeline, supervision.

#[path = "worker/act.rs"]
mod act;
#[path = "worker/runs.rs"]
mod runs;
