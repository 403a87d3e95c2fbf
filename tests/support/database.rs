//! Gives each test a database of its own: a clone of a template that is migrated once per schema.
//! Upstream: `server`.
//!
//! A thread of its own holds an advisory lock on the database's name for as long as the test lives. A database whose
//! lock is free belongs to a process that has died: the next test to start removes it.

use super::server;
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool, postgres::PgPoolOptions};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    process,
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// A database of a test's own. Dropped with the value, also when the test panics.
pub(crate) struct Db {
    url: String,
    name: String,
    done: Option<mpsc::Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

impl Db {
    /// A database with the current schema.
    pub(crate) fn new() -> Self {
        Self::on(&server::url(), true)
    }

    /// A database with nothing in it, for tests of the migrations.
    pub(crate) fn empty() -> Self {
        Self::on(&server::url(), false)
    }

    /// A database on this server.
    pub(crate) fn on(server: &str, migrated: bool) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unique = uuid::Uuid::now_v7().simple().to_string();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("jobs_test_{}_{count}_{}", process::id(), &unique[24..]);
        let url = server::with_database(server, &name);

        let (ready, is_ready) = mpsc::channel();
        let (done, is_done) = mpsc::channel();
        let keeper = thread::spawn({
            let (server, name) = (server.to_owned(), name.clone());
            move || keep(&server, &name, migrated, &ready, &is_done)
        });
        if is_ready.recv().is_err() {
            let why = keeper.join().expect_err("the thread ends early by a panic alone");
            std::panic::resume_unwind(why);
        }
        Self { url, name, done: Some(done), keeper: Some(keeper) }
    }

    /// Its address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A pool of at most this many connections, for the database.
    pub(crate) async fn pool(&self, size: u32) -> PgPool {
        pool(&self.url, size).await
    }
}

impl Drop for Db {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// A pool of at most this many connections.
pub(crate) async fn pool(url: &str, size: u32) -> PgPool {
    PgPoolOptions::new()
        .max_connections(size)
        .acquire_timeout(Duration::from_secs(20))
        .connect(url)
        .await
        .expect("the test's database answers")
}

#[tokio::main(flavor = "current_thread")]
async fn keep(server: &str, name: &str, migrated: bool, ready: &mpsc::Sender<()>, done: &mpsc::Receiver<()>) {
    let mut admin = PgConnection::connect(server).await.expect("the server of DATABASE_URL answers");
    remove_left_overs(&mut admin).await;
    lock(&mut admin, name).await;
    let template = if migrated { template(&mut admin, server).await } else { "template0".to_owned() };
    run(&mut admin, format!("CREATE DATABASE {name} TEMPLATE {template}")).await.expect("the test's database is made");
    let _ = ready.send(());
    // Ends with an error when the test drops its side.
    let _ = done.recv();
    // A server that the test has stopped takes the database with it.
    let _ = run(&mut admin, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
}

/// The template of the current schema, made if it is missing. One process makes it, the others wait.
async fn template(admin: &mut PgConnection, server: &str) -> String {
    let template = template_name();
    if exists(admin, &template).await {
        return template;
    }
    lock(admin, &template).await;
    if !exists(admin, &template).await {
        // Under its final name only once it is complete: a process that dies half-way leaves no broken template.
        let draft = format!("{template}_draft");
        run(admin, format!("DROP DATABASE IF EXISTS {draft} WITH (FORCE)")).await.expect("an old draft goes");
        run(admin, format!("CREATE DATABASE {draft} TEMPLATE template0")).await.expect("the template is made");
        super::migrate(&server::with_database(server, &draft)).await;
        run(admin, format!("ALTER DATABASE {draft} RENAME TO {template}")).await.expect("the template is named");
    }
    sqlx::query("SELECT pg_advisory_unlock(hashtextextended($1, 0))")
        .bind(&template)
        .execute(admin)
        .await
        .expect("the template is unlocked");
    template
}

/// The name says which schema it is: by the text of its migrations.
fn template_name() -> String {
    let mut hasher = DefaultHasher::new();
    let mut files: Vec<_> = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations"))
        .read_dir()
        .expect("the migrations are there")
        .map(|file| file.expect("the migrations are listed").path())
        .collect();
    files.sort();
    for file in files {
        std::fs::read(file).expect("a migration is readable").hash(&mut hasher);
    }
    format!("jobs_template_{:016x}", hasher.finish())
}

async fn exists(admin: &mut PgConnection, name: &str) -> bool {
    let query = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)");
    query.bind(name).fetch_one(admin).await.expect("databases are listed")
}

async fn lock(admin: &mut PgConnection, name: &str) {
    sqlx::query("SELECT pg_advisory_lock(hashtextextended($1, 0))").bind(name).execute(admin).await.expect("a lock");
}

/// Removes the databases of dead processes, and templates of other schemas that are older than a day.
async fn remove_left_overs(admin: &mut PgConnection) {
    let only_one = "SELECT pg_try_advisory_lock(hashtextextended('jobs_test_left_overs', 0))";
    if !sqlx::query_scalar::<_, bool>(only_one).fetch_one(&mut *admin).await.expect("a lock is tried") {
        return;
    }
    let of_the_dead = r"
        SELECT datname::text
        FROM pg_database
        WHERE datname LIKE 'jobs\_test\_%'
          AND pg_try_advisory_lock(hashtextextended(datname, 0))";
    let mut names: Vec<String> = sqlx::query_scalar(of_the_dead).fetch_all(&mut *admin).await.expect("a list");
    let of_old_schemas = r"
        SELECT datname::text
        FROM pg_database
        WHERE datname LIKE 'jobs\_template\_%'
          AND datname <> $1
          AND (pg_stat_file('base/' || oid || '/PG_VERSION', true)).modification < now() - interval '1 day'";
    // Only a superuser may ask for a file's age; others keep old templates.
    let old = sqlx::query_scalar(of_old_schemas).bind(template_name()).fetch_all(&mut *admin).await;
    names.extend(old.unwrap_or_default());
    for name in names {
        let _ = run(admin, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
    }
    sqlx::query("SELECT pg_advisory_unlock_all()").execute(admin).await.expect("the locks are given back");
}

async fn run(connection: &mut PgConnection, statement: String) -> sqlx::Result<()> {
    // The names are this file's own.
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await.map(|_| ())
}
