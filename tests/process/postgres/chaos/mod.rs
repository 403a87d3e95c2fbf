//! The kill test and the rolling restarts: short in every test run, long with `JOBS_CHAOS=full`.

mod kills;
mod load;
mod rolling;

use std::env;

/// Whether the long forms shall run.
fn is_full() -> bool {
    env::var("JOBS_CHAOS").is_ok_and(|form| form == "full")
}
