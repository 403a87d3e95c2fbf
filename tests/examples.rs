//! The examples run to their ends, as their headers say, and each holds what it asserts.

#[path = "support/mod.rs"]
mod support;

use std::{path::Path, process::Command};

/// Those that need a person, or a signal, to end.
const SERVE: [&str; 1] = ["web_app"];

macro_rules! examples {
    ($($name:ident)*) => {
        const RUN: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*
    };
}

examples! {
    quickstart
    retries
    transactional_enqueue
    tenants
    graceful_shutdown
    follow_up_jobs
    steps
    approval
    fan_out
    exactly_once
    saga
    unknown_step
}

/// With a database of its own, for those that need one.
fn run(example: &str) {
    let db = support::Db::new();
    let ran = Command::new(env!("CARGO"))
        .args(["run", "--offline", "--quiet", "--package", "jobs", "--all-features", "--example", example])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("DATABASE_URL", db.url())
        .output()
        .expect("cargo starts");
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said}");
    assert!(!said.trim().is_empty(), "it shows nothing");
}

#[test]
fn every_example_runs_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for file in std::fs::read_dir(folder).expect("the examples stand there") {
        let path = file.expect("an entry is readable").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        assert!(RUN.contains(&name) || SERVE.contains(&name), "{name} is not run");
    }
}
