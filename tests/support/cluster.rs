//! Starts a Postgres server of a test's own, for tests that stop it. Upstream: `server`.
//!
//! Its folder holds a file that is locked for as long as the test's process lives. A folder whose lock is free belongs
//! to a process that has died: the next cluster to start stops that server and removes it.

use super::{database::Db, server};
use std::{
    env,
    fs::{self, DirBuilder, File},
    io::Write,
    os::unix::{
        fs::{DirBuilderExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const PREFIX: &str = "jobs-cluster-";

/// A server of a test's own. Stopped and removed with the value.
pub(crate) struct Cluster {
    dir: PathBuf,
    port: u16,
    password: String,
    _owner: File,
}

impl Cluster {
    /// Makes and starts a server with default settings, on a loopback port.
    ///
    /// # Panics
    /// If there are no server programs, or the server does not start.
    pub(crate) fn start() -> Self {
        remove_left_overs();
        let unique = uuid::Uuid::now_v7().simple().to_string();
        let dir = env::temp_dir().join(format!("{PREFIX}{unique}"));
        DirBuilder::new().mode(0o700).create(&dir).expect("the temporary folder is writable");
        // Under its name only once it is locked: nobody takes a cluster in the making for a left-over.
        let owner = File::create(dir.join("owner.new")).expect("the cluster's folder is writable");
        owner.lock().expect("a new file can be locked");
        fs::rename(dir.join("owner.new"), dir.join("owner")).expect("the cluster's folder is writable");
        let password = uuid::Uuid::now_v7().simple().to_string();
        writeln!(File::create(dir.join("password")).expect("writable"), "{password}").expect("writable");
        if let Some((user, group)) = server_user() {
            for path in [dir.clone(), dir.join("password")] {
                chown(path, Some(user), Some(group)).expect("root may give its files away");
            }
        }
        let mut init = program("initdb", &dir);
        init.args(["--username=postgres", "--auth=password", "--no-locale", "--encoding=UTF8", "--pwfile"]);
        run(init.arg(dir.join("password")));

        for _ in 0..20 {
            // Below the range that the kernel hands out to clients: free also after a stop.
            let port = 20_000 + (uuid::Uuid::now_v7().as_u128() % 12_000) as u16;
            if start(&dir, port) {
                return Self { dir, port, password, _owner: owner };
            }
        }
        panic!("the server did not start:\n{}", fs::read_to_string(dir.join("log")).unwrap_or_default());
    }

    /// The address of its maintenance database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres:{}@127.0.0.1:{}/postgres", self.password, self.port)
    }

    /// A database in it, with the current schema.
    pub(crate) fn database(&self) -> Db {
        Db::on(&self.url(), true)
    }

    /// Stops the server as a crash would: no checkpoint, no goodbye to its clients.
    pub(crate) fn stop_hard(&self) {
        stop(&self.dir);
    }

    /// Starts the stopped server again, on the same port; it recovers.
    ///
    /// # Panics
    /// If it does not start.
    pub(crate) fn start_again(&self) {
        assert!(start(&self.dir, self.port), "the server did not start again");
    }

    /// Stops the server hard and starts it again.
    pub(crate) fn crash(&self) {
        self.stop_hard();
        self.start_again();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        stop(&self.dir);
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn start(dir: &Path, port: u16) -> bool {
    let options = format!("-p {port} -k '{}' -c listen_addresses=127.0.0.1 -c max_connections=200", dir.display());
    let mut start = program("pg_ctl", dir);
    start.arg("--log").arg(dir.join("log")).args(["--wait", "--timeout=60", "--options", &options, "start"]);
    start.status().is_ok_and(|status| status.success())
}

fn stop(dir: &Path) {
    let _ = program("pg_ctl", dir).args(["--mode=immediate", "--wait", "stop"]).status();
}

/// A server program for the cluster in the folder, as a user that the server accepts.
fn program(name: &str, dir: &Path) -> Command {
    let mut command = Command::new(server::programs().join(name));
    command.arg("--pgdata").arg(dir.join("data")).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some((user, group)) = server_user() {
        command.uid(user).gid(group);
    }
    command
}

/// The user and group to run the server as: `postgres` or `nobody` if this is root, whom the server refuses.
pub(super) fn server_user() -> Option<(u32, u32)> {
    let id = |args: &[&str]| -> Option<u32> {
        let answer = Command::new("id").args(args).stderr(Stdio::null()).output().ok()?;
        String::from_utf8(answer.stdout).ok()?.trim().parse().ok()
    };
    if id(&["-u"]) != Some(0) {
        return None;
    }
    ["postgres", "nobody"].iter().find_map(|user| Some((id(&["-u", user])?, id(&["-g", user])?)))
}

fn run(command: &mut Command) {
    let done = command.stderr(Stdio::piped()).output().expect("the server programs start");
    assert!(done.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&done.stderr));
}

/// Stops and removes the clusters of dead processes.
fn remove_left_overs() {
    for entry in env::temp_dir().read_dir().into_iter().flatten().flatten() {
        let dir = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        // Locked: its test runs. Without the file: it is being made or removed.
        if File::open(dir.join("owner")).is_ok_and(|owner| owner.try_lock().is_ok()) {
            stop(&dir);
            let _ = fs::remove_dir_all(&dir);
        }
    }
}
