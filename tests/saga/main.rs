//! A job that failed for good undoes its steps.

#[path = "../support/mod.rs"]
mod support;

mod order;
mod replay;
mod world;
