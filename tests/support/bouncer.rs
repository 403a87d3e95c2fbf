//! Starts a PgBouncer in transaction mode in front of a test's database.

use super::{cluster::server_user, server};
use std::{
    env,
    fs::{self, DirBuilder},
    net::TcpStream,
    os::unix::{
        fs::{DirBuilderExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A pooler of a test's own. Stopped and removed with the value.
pub(crate) struct PgBouncer {
    dir: PathBuf,
    url: String,
    process: Child,
}

impl PgBouncer {
    /// A pooler in front of the database that the URL names, with so many connections to the server.
    ///
    /// # Panics
    /// If it is not installed or does not start: a test that needs it never passes without.
    pub(crate) fn before(url: &str, connections: u32) -> Self {
        let program = [PathBuf::from("/usr/sbin/pgbouncer"), PathBuf::from("pgbouncer")]
            .into_iter()
            .find(|program| Command::new(program).arg("--version").output().is_ok())
            .expect("this test needs PgBouncer: run ./dev setup");
        let dir = env::temp_dir().join(format!("jobs-bouncer-{}", uuid::Uuid::now_v7().simple()));
        DirBuilder::new().mode(0o700).create(&dir).expect("the temporary folder is writable");
        for _ in 0..20 {
            // Below the range that the kernel hands out to clients.
            let port = 20_000 + (uuid::Uuid::now_v7().as_u128() % 12_000) as u16;
            fs::write(dir.join("ini"), configuration(url, connections, port)).expect("the folder is writable");
            let mut process = start(&program, &dir);
            let limit = Instant::now() + Duration::from_secs(10);
            while process.try_wait().expect("a child can be asked").is_none() && Instant::now() < limit {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    let (_, database) = url.rsplit_once('/').expect("a URL names a database");
                    let url = format!("postgres://anybody@127.0.0.1:{port}/{database}");
                    return Self { dir, url, process };
                }
                thread::sleep(Duration::from_millis(20));
            }
            let _ = process.kill();
            let _ = process.wait();
        }
        panic!("PgBouncer did not start:\n{}", fs::read_to_string(dir.join("log")).unwrap_or_default());
    }

    /// The URL of the database behind the pooler.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn configuration(url: &str, connections: u32, port: u16) -> String {
    let (host, server_port) = server::address(url).rsplit_once(':').unwrap_or((server::address(url), "5432"));
    let user = url.split("://").nth(1).and_then(|rest| rest.split_once('@')).map_or("postgres", |(user, _)| user);
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let password = if password.is_empty() { String::new() } else { format!(" password='{password}'") };
    format!(
        "[databases]\n* = host={host} port={server_port} user={user}{password}\n\
         [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
         pool_mode = transaction\ndefault_pool_size = {connections}\nmax_client_conn = 200\n\
         ignore_startup_parameters = extra_float_digits\nserver_reset_query =\n"
    )
}

/// It refuses to run as root.
fn start(program: &Path, dir: &Path) -> Child {
    let log = fs::File::create(dir.join("log")).expect("the folder is writable");
    let mut command = Command::new(program);
    command.arg(dir.join("ini")).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    if let Some((user, group)) = server_user() {
        for path in [dir.to_owned(), dir.join("ini")] {
            chown(path, Some(user), Some(group)).expect("root may give its files away");
        }
        command.uid(user).gid(group);
    }
    command.spawn().expect("PgBouncer starts")
}
