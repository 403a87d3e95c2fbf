//! Workers in processes of their own, on a real Postgres: killed, stopped, blocked, drained, restarted under load.
//!
//! `chaos` is the kill test and its kin. With `JOBS_CHAOS=full`, as `./dev test chaos` sets it, they take their long form.

#[path = "../support/mod.rs"]
mod support;

mod crash;
mod scene;
mod worker;

mod postgres {
    mod aborted;
    mod chaos;
    mod clock;
    mod drained;
    mod killed;
    mod kinds;
    mod stopped;
}
