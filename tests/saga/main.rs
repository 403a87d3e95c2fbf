//! A job that failed for good undoes its steps.

#[path = "../support/mod.rs"]
mod support;

mod budget;
mod children;
mod deploys;
mod ends;
mod logged;
mod on_postgres;
mod order;
mod races;
mod renamed;
mod replay;
mod roll_back;
mod stops;
mod unfit;
mod world;
