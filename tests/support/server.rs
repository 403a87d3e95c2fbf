//! Finds the Postgres that tests run on. Downstream: `database`, `cluster`.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The address of the server that tests make their databases on.
///
/// # Panics
/// If `DATABASE_URL` is not set: a test that needs Postgres never passes without one.
pub(crate) fn url() -> String {
    env::var("DATABASE_URL")
        .ok()
        .filter(|url| !url.is_empty())
        .expect("this test needs PostgreSQL and DATABASE_URL is not set: run ./dev test")
}

/// The folder of the server programs.
///
/// # Panics
/// If there is none: a test that stops its server never passes without one.
pub(crate) fn programs() -> PathBuf {
    let named = env::var_os("JOBS_PG_BIN").map(PathBuf::from);
    let debian = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
    let mut found: Vec<_> = debian.map(|version| version.path().join("bin")).collect();
    found.sort_by_key(|dir| dir.to_string_lossy().chars().filter_map(|c| c.to_digit(10)).fold(0, |n, d| n * 10 + d));
    let asked = Command::new("pg_config").arg("--bindir").output().ok();
    let asked = asked.and_then(|out| String::from_utf8(out.stdout).ok()).map(|dir| PathBuf::from(dir.trim()));
    named
        .into_iter()
        .chain(found.into_iter().rev())
        .chain(asked)
        .find(|dir| dir.join("initdb").exists())
        .expect("this test needs the PostgreSQL server programs: run ./dev setup, then ./dev test")
}

/// The URL with another database.
pub(crate) fn with_database(url: &str, database: &str) -> String {
    let (address, options) = url.split_once('?').map_or((url, String::new()), |(a, o)| (a, format!("?{o}")));
    let authority = address.find("://").map_or(0, |at| at + 3);
    let end = address[authority..].find('/').map_or(address.len(), |at| authority + at);
    format!("{}/{database}{options}", &address[..end])
}

/// The host and port of the URL.
pub(crate) fn address(url: &str) -> &str {
    let authority = url.split("://").nth(1).unwrap_or(url).split(['/', '?']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}
