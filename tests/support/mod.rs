//! Lends tests what they need of the world around them: a database each, a server of their own to stop, a network that
//! fails, processes to kill.
//!
//! Include it with `#[path = "../tests/support/mod.rs"] mod support;`, or `mod support;` from a file in `tests/`.

#![allow(dead_code, unused_imports, unused_macros, reason = "each test program uses a part of it")]

mod bouncer;
mod cluster;
mod database;
mod eventually;
mod process;
mod proxy;
mod server;
mod time;

pub(crate) use bouncer::PgBouncer;
pub(crate) use cluster::Cluster;
pub(crate) use database::{Db, pool};
pub(crate) use eventually::{eventually, eventually_within};
pub(crate) use process::{Process, Role, role};
pub(crate) use proxy::{Fault, Proxy};
pub(crate) use time::shift;

/// Gives a database the current schema.
async fn migrate(url: &str) {
    use jobs::driver::{Driver, Migrate, pg::Pg};
    let driver = Pg::connect(url).await.expect("the driver connects");
    driver.migrate(Migrate::ApplyAll).await.expect("the schema is made");
    // A database that is connected to cannot become a template.
    driver.pool().close().await;
}
