//! Events: published, waited for, purged; and how a run that waits is shown.

#[path = "../support/mod.rs"]
mod support;

mod fixtures;
mod publish;
mod purge;
mod timeline;
mod unwoken;
mod waits;
