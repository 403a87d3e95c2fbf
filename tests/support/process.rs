//! Starts processes that tests kill, stop and continue: the test program itself, in another role.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{self, Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

const ROLE: &str = "JOBS_TEST_ROLE";

/// A fn of the test program that runs in a process of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Role {
    test: &'static str,
    name: &'static str,
}

/// Declares, first in a test, what the test's child processes do: `let worker = role!("worker", worker_main);`.
/// In the child it runs the fn and does not return.
macro_rules! role {
    ($name:literal, $main:expr) => {{
        fn here() {}
        $crate::support::Role::declare(std::any::type_name_of_val(&here), $name, $main)
    }};
}
pub(crate) use role;

impl Role {
    /// What [`role!`] expands to. `here` is the path of a fn inside the test.
    pub(crate) fn declare(here: &'static str, name: &'static str, main: fn()) -> Self {
        if env::var(ROLE).is_ok_and(|role| role == name) {
            // libtest has begun a line with the test's name.
            println!();
            // A thread of its own, so that the role may start a runtime also where the test is async.
            let outcome = thread::spawn(main).join();
            process::exit(if outcome.is_ok() { 0 } else { 101 });
        }
        // `crate::module::test::{{closure}}::here`, as libtest names it: `module::test`.
        let test = here.trim_end_matches("::here").trim_end_matches("::{{closure}}");
        Self { test: test.split_once("::").map_or(test, |(_, path)| path), name }
    }

    /// Starts a process in this role, with these variables in its environment.
    pub(crate) fn start(self, variables: &[(&str, &str)]) -> Process {
        let mut child = Command::new(env::current_exe().expect("a test program knows its path"))
            .args(["--exact", self.test, "--nocapture", "--test-threads=1"])
            .env(ROLE, self.name)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test program starts again");
        let output = child.stdout.take().expect("its output is piped");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            // Goes on reading when nobody listens, so that the process never waits for its own output.
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Process { child, lines }
    }
}

/// A process that a test has started. Killed with the value.
pub(crate) struct Process {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Process {
    /// Its id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line of output that starts so, and gives the rest of it.
    ///
    /// # Panics
    /// If none came within 30 s or the process ended first.
    pub(crate) fn line(&self, start: &str) -> String {
        let limit = Instant::now() + Duration::from_secs(30);
        loop {
            let left = limit.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|why| panic!("process {}: no line `{start}…`: {why}", self.id()));
            if let Some(rest) = line.strip_prefix(start) {
                return rest.trim().to_owned();
            }
        }
    }

    /// The lines that it has written and nobody has read.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    /// Waits until it has closed its output, and gives all lines of it that nobody has read.
    pub(crate) fn rest(mut self) -> Vec<String> {
        let lines = self.lines.iter().collect();
        self.wait();
        lines
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(&mut self) -> ExitStatus {
        let _ = self.child.kill();
        self.wait()
    }

    /// Asks it to end: SIGTERM.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Stops it in its tracks: SIGSTOP.
    pub(crate) fn stop(&self) {
        self.signal("STOP");
    }

    /// Lets a stopped process go on: SIGCONT.
    pub(crate) fn resume(&self) {
        self.signal("CONT");
    }

    /// Whether it still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_none()
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("a child can be waited for")
    }

    fn signal(&self, signal: &str) {
        let id = self.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status().expect("`kill` is installed");
        assert!(sent.success(), "SIG{signal} did not reach process {id}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
