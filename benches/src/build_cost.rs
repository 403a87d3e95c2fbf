//! Measures what the library costs a user's build. Builds crates of its own under `target/`.

use crate::{
    Outcome, RUNS,
    report::{Report, Subject},
};
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const JOBS: usize = 200;

/// Clean debug builds, and `cargo check` of a crate with many jobs.
pub(crate) fn measure(report: &mut Report) -> Outcome {
    let bare = Crate::new("bare", false, BARE)?;
    let user = Crate::new("user", true, &format!("{MAIN}\n{}", source(1, true)))?;
    for run in 1..=RUNS {
        eprintln!("clean builds, {run} of {RUNS}");
        let took = bare.clean_build()?;
        report.add("build", Subject::Limit, "tokio, sqlx, serde, schemars", "s", took.as_secs_f64());
        let took = user.clean_build()?;
        report.add("build", Subject::Jobs, "the same and jobs, default features", "s", took.as_secs_f64());
    }

    let none = Crate::new("none", true, MAIN)?;
    let shared = Crate::new("shared", true, &format!("{MAIN}\n{}", source(JOBS, false)))?;
    let own = Crate::new("own", true, &format!("{MAIN}\n{}", source(JOBS, true)))?;
    for of in [&none, &shared, &own] {
        of.check()?;
    }
    for _ in 0..RUNS {
        let base = none.check()?.as_secs_f64();
        let (one, each) = (shared.check()?.as_secs_f64(), own.check()?.as_secs_f64());
        report.add("build", Subject::Jobs, "cargo check, no job", "s to check", base);
        report.add("build", Subject::Jobs, "200 jobs of one input type add", "s more", one - base);
        report.add("build", Subject::Jobs, "200 jobs of an input type each add", "s more", each - base);
    }
    Ok(())
}

const BARE: &str = r#"
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Mail {
    to: String,
    cents: u64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:?}", schemars::schema_for!(Mail));
    let pool = sqlx::PgPool::connect("postgres://localhost").await?;
    let mail: sqlx::types::Json<Mail> = sqlx::query_scalar("SELECT payload FROM mail").fetch_one(&pool).await?;
    println!("{:?}", mail.0);
    Ok(())
}
"#;

const MAIN: &str = r#"
use jobs::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Mail {
    to: String,
    cents: u64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jobs = jobs::Jobs::connect("postgres://localhost").await?;
    jobs.worker().start().await?;
    Ok(())
}
"#;

/// So many jobs, of one input type or of one each.
fn source(jobs: usize, own_input: bool) -> String {
    let mut source = String::new();
    for n in 0..jobs {
        let input = if own_input { format!("Input{n}") } else { "Mail".to_owned() };
        if own_input {
            let _ = writeln!(
                source,
                "#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]\npub struct {input} {{ to: String, cents: u64 }}"
            );
        }
        let _ = writeln!(
            source,
            "/// Sends mail {n}.\n#[job(queue = \"mail\", tenant = none, timeout = \"30s\")]\n\
             pub async fn send_{n}(ctx: &Ctx, input: {input}) -> Result<(), std::io::Error> {{\n    \
             println!(\"{{}} {{:?}}\", ctx.attempt(), input);\n    Ok(())\n}}"
        );
    }
    source
}

/// A user's crate.
struct Crate {
    dir: PathBuf,
}

impl Crate {
    /// Writes the crate, with the versions and features that the library itself is built with.
    fn new(name: &str, with_jobs: bool, main: &str) -> Outcome<Self> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        let workspace = fs::read_to_string(repository.join("Cargo.toml"))?;
        let mut dependencies = String::new();
        for dependency in ["schemars", "serde", "sqlx", "tokio"] {
            let line = workspace.lines().find(|line| line.starts_with(&format!("{dependency} = ")));
            let line = line.ok_or_else(|| format!("the workspace does not depend on {dependency}"))?;
            // The library asks for this one feature beside those of the workspace.
            let line = if dependency == "tokio" { line.replacen("[\"", "[\"signal\", \"", 1) } else { line.to_owned() };
            let _ = writeln!(dependencies, "{line}");
        }
        if with_jobs {
            let _ = writeln!(dependencies, "jobs = {{ path = {:?} }}", repository.join("jobs"));
        }
        // A user's dependencies come from a registry and are not compiled incrementally, as those by path would be.
        let mut profiles = String::new();
        for package in ["jobs", "jobs-macros", "jobs-runtime"].iter().filter(|_| with_jobs) {
            let _ = writeln!(profiles, "[profile.dev.package.{package}]\nincremental = false");
        }
        let dir = repository.join("target/bench-build").join(name);
        fs::create_dir_all(dir.join("src"))?;
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}\n{profiles}"
        );
        fs::write(dir.join("Cargo.toml"), manifest)?;
        fs::write(dir.join("src/main.rs"), main)?;
        fs::copy(repository.join("Cargo.lock"), dir.join("Cargo.lock"))?;
        let made = Self { dir };
        // Now, so that no download is measured.
        made.cargo(&["fetch"])?;
        Ok(made)
    }

    fn clean_build(&self) -> Outcome<Duration> {
        let target = self.dir.join("target");
        if target.exists() {
            fs::remove_dir_all(&target)?;
        }
        let took = self.cargo(&["build"])?;
        fs::remove_dir_all(target)?;
        Ok(took)
    }

    /// Checks the crate itself again; its dependencies are checked already, but for the first time.
    fn check(&self) -> Outcome<Duration> {
        let main = self.dir.join("src/main.rs");
        fs::write(&main, fs::read(&main)?)?;
        self.cargo(&["check"])
    }

    fn cargo(&self, arguments: &[&str]) -> Outcome<Duration> {
        let mut cargo = Command::new("cargo");
        cargo.args(arguments).args(["--quiet", "--offline"]).current_dir(&self.dir).env_remove("CARGO_TARGET_DIR");
        if arguments == ["fetch"] {
            cargo = Command::new("cargo");
            cargo.args(["fetch", "--quiet"]).current_dir(&self.dir);
        }
        let start = Instant::now();
        let done = cargo.stdin(Stdio::null()).output()?;
        if !done.status.success() {
            return Err(format!("{cargo:?}: {}", String::from_utf8_lossy(&done.stderr)).into());
        }
        Ok(start.elapsed())
    }
}
