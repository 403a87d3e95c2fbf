//! Says under what conditions the figures were taken. Downstream: `report`.

use crate::{Outcome, database};
use sqlx::Connection;
use std::{fs, process::Command};

/// The machine and the server.
pub(crate) struct Conditions {
    pub(crate) machine: String,
    pub(crate) postgres: String,
}

/// Asks the machine and the server of `DATABASE_URL`.
pub(crate) async fn read() -> Outcome<Conditions> {
    let mut server = sqlx::PgConnection::connect(&database::server()?).await?;
    let version: String = sqlx::query_scalar("SHOW server_version").fetch_one(&mut server).await?;
    let settings: Vec<(String, String)> = sqlx::query_as(include_str!("conditions.sql")).fetch_all(&mut server).await?;
    let settings: Vec<String> = settings.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(Conditions { machine: machine(), postgres: format!("PostgreSQL {version} ({})", settings.join(", ")) })
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory =
        memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    let gib = memory.map_or(0, |kib: u64| kib.div_ceil(1024 * 1024));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    let rustc = Command::new("rustc").arg("--version").output().map(|out| out.stdout).unwrap_or_default();
    let rustc = String::from_utf8_lossy(&rustc);
    let rustc = rustc.split(' ').nth(1).unwrap_or("?");
    let cpu = cpu.trim_start_matches(['\t', ' ', ':']);
    format!("{cpu}, {cores} cores, {gib} GiB, load {load} at the start, Rust {rustc}")
}
