//! The kill tests of jobs and of sagas, the rolling restarts and the blocked runtime: short in every test run, long with
//! `JOBS_CHAOS=full`. With `JOBS_CHAOS=extreme` the kill test takes a quarter of an hour.

mod blocked;
mod kills;
mod load;
mod rolling;
mod sagas;

use std::env;

/// Whether the long forms shall run.
fn is_full() -> bool {
    env::var("JOBS_CHAOS").is_ok_and(|form| form == "full")
}
