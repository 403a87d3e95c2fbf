//! What a caller meets before anything runs: enqueue and its refusals, the registry, the record of a failure.

mod batch;
mod docs;
mod dynamic;
mod failing;
mod fixtures;
mod key;
mod on_both;
mod options;
mod payload;
mod postgres;
mod registry;
mod roundtrip;
#[path = "../support/mod.rs"]
mod support;
