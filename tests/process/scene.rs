//! A database, the workers on it, and what can be asked about the jobs in it. Upstream: `worker`, `support`.

use crate::{
    support::{Db, Process, Role, eventually_within, pool},
    worker::Task,
};
use chrono::{DateTime, Utc};
use jobs::{Job, JobId, Jobs, State};
use sqlx::PgPool;
use std::{
    env, fs,
    ops::{Deref, DerefMut},
    path::PathBuf,
    time::{Duration, Instant},
};

/// Longer than whatever a busy machine makes of a fraction of a second.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Every entry of a body: what, by which process, when.
const LOG: &str = "
    CREATE TABLE log (
        id bigserial PRIMARY KEY,
        n int4 NOT NULL,
        job uuid NOT NULL,
        attempt int4 NOT NULL,
        crashes int4 NOT NULL,
        pid int4 NOT NULL,
        event text NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp()
    )";

/// A database with a log, a client of it, and the role of its workers.
pub(crate) struct Scene {
    pub(crate) pool: PgPool,
    pub(crate) jobs: Jobs,
    pub(crate) db: Db,
    role: Role,
}

impl Scene {
    /// A scene in a database of the shared server.
    pub(crate) async fn new(role: Role) -> Self {
        Self::on(Db::new(), role).await
    }

    /// A scene in the given database.
    pub(crate) async fn on(db: Db, role: Role) -> Self {
        let pool = pool(db.url(), 4).await;
        sqlx::raw_sql(LOG).execute(&pool).await.expect("the log's table is made");
        let jobs = Jobs::connect(db.url()).await.expect("the client connects");
        Self { pool, jobs, db, role }
    }

    /// A worker to be started.
    pub(crate) fn worker(&self) -> Setting<'_> {
        let gate = env::temp_dir().join(format!("jobs-gate-{}", uuid::Uuid::now_v7().simple()));
        let mut setting = Setting { scene: self, gate: Gate(gate), variables: Vec::new() };
        setting = setting.set("JOBS_URL", self.db.url()).set("LOG_URL", self.db.url());
        let gate = setting.gate.0.display().to_string();
        setting.set("GATE", gate)
    }

    /// Enqueues tasks, and gives their ids.
    pub(crate) async fn enqueue<J: Job<Input = Task>>(&self, tasks: impl IntoIterator<Item = Task>) -> Vec<JobId> {
        let answers = self.jobs.enqueue_many::<J>(tasks).await.expect("the tasks are enqueued");
        answers.iter().map(jobs::Enqueued::id).collect()
    }

    /// Asks the database for a number.
    pub(crate) async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(&self.pool).await.expect("a number")
    }

    /// How many entries of this kind a process has written, or all processes.
    pub(crate) async fn logged(&self, event: &str, pid: Option<u32>) -> i64 {
        sqlx::query_scalar("SELECT count(*) FROM log WHERE event = $1 AND ($2 IS NULL OR pid = $2)")
            .bind(event)
            .bind(pid.map(|pid| pid as i32))
            .fetch_one(&self.pool)
            .await
            .expect("a number")
    }

    /// Waits until a process has written so many entries of this kind.
    pub(crate) async fn wait_for(&self, event: &str, worker: &Worker, count: i64) {
        let what = format!("{count} × `{event}` of process {}", worker.id());
        eventually_within(PATIENCE, &what, async || {
            (self.logged(event, Some(worker.id())).await >= count).then_some(())
        })
        .await;
    }

    /// Waits until a query gives this number.
    pub(crate) async fn wait_until(&self, limit: Duration, query: &'static str, number: i64) {
        let what = format!("{number} = {query}");
        eventually_within(limit, &what, async || (self.count(query).await == number).then_some(())).await;
    }

    /// Waits until no job is live any more.
    pub(crate) async fn wait_for_all(&self, limit: Duration) {
        self.wait_until(limit, LIVE, 0).await;
    }

    /// What became of the jobs that have ended.
    pub(crate) async fn tally(&self) -> Tally {
        let row: (i64, i64, i64, i64, i64) = sqlx::query_as(TALLY)
            .bind(State::Completed as i16)
            .fetch_one(&self.pool)
            .await
            .expect("the ended jobs are counted");
        Tally { completed: row.0, dead: row.1, other: row.2, twice: row.3, retried: row.4 }
    }

    /// How many seconds passed from a moment to the first start of each of the jobs after it, in order of length.
    pub(crate) async fn waits(&self, jobs: &[JobId], from: DateTime<Utc>) -> Vec<f64> {
        let ids: Vec<_> = jobs.iter().map(|job| job.0).collect();
        sqlx::query_scalar(
            "SELECT extract(epoch FROM min(at) - $1)::float8 AS wait
            FROM log
            WHERE event = 'start'
                AND job = ANY ($2)
                AND at > $1
            GROUP BY job
            ORDER BY wait",
        )
        .bind(from)
        .bind(ids)
        .fetch_all(&self.pool)
        .await
        .expect("the log is read")
    }

    /// Every row about a job, with the transaction that wrote it: any write shows.
    pub(crate) async fn rows(&self) -> Vec<String> {
        sqlx::query_scalar(ROWS).fetch_all(&self.pool).await.expect("the rows are read")
    }

    /// The database's clock.
    pub(crate) async fn now(&self) -> DateTime<Utc> {
        self.jobs.driver().now().await.expect("the store tells its time")
    }
}

/// What became of the jobs that have ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) completed: i64,
    pub(crate) dead: i64,
    /// Dropped, cancelled or expired.
    pub(crate) other: i64,
    /// Jobs with more than one end.
    pub(crate) twice: i64,
    /// Jobs with more than one attempt.
    pub(crate) retried: i64,
}

impl Tally {
    /// So many completed at their first attempt, and nothing else.
    pub(crate) fn all_well(completed: i64) -> Self {
        Self { completed, dead: 0, other: 0, twice: 0, retried: 0 }
    }
}

const ROWS: &str = "
    SELECT r::text || r.xmin::text FROM jobs.history AS r
    UNION ALL SELECT r::text || r.xmin::text FROM jobs.dead AS r
    UNION ALL SELECT r::text || r.xmin::text FROM jobs.ready AS r
    UNION ALL SELECT r::text || r.xmin::text FROM jobs.waiting AS r
    UNION ALL SELECT r::text || r.xmin::text FROM jobs.running AS r
    ORDER BY 1";

const TALLY: &str = "
    WITH ended AS (
        SELECT id, state, attempt FROM jobs.history
        UNION ALL
        SELECT id, NULL, attempt FROM jobs.dead
    )
    SELECT
        count(*) FILTER (WHERE state = $1),
        count(*) FILTER (WHERE state IS NULL),
        count(*) FILTER (WHERE state <> $1),
        count(*) - count(DISTINCT id),
        count(*) FILTER (WHERE attempt > 1)
    FROM ended";

/// How many jobs have not ended.
pub(crate) const LIVE: &str = "
    SELECT (SELECT count(*) FROM jobs.ready)
        + (SELECT count(*) FROM jobs.running)
        + (SELECT count(*) FROM jobs.waiting)";

/// A file whose existence lets held bodies go on.
struct Gate(PathBuf);

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A worker to be started: what its environment says.
pub(crate) struct Setting<'a> {
    scene: &'a Scene,
    gate: Gate,
    variables: Vec<(&'static str, String)>,
}

impl Setting<'_> {
    /// Sets a variable that `worker::main` reads.
    pub(crate) fn set(mut self, name: &'static str, value: impl ToString) -> Self {
        self.variables.push((name, value.to_string()));
        self
    }

    /// Sets the lease, in milliseconds.
    pub(crate) fn lease(self, millis: u64) -> Self {
        self.set("LEASE", millis)
    }

    /// Starts it, without waiting for it to be ready.
    pub(crate) fn spawn(self) -> Worker {
        let variables: Vec<(&str, &str)> = self.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Worker { process: self.scene.role.start(&variables), gate: self.gate, incarnation: 0 }
    }

    /// Starts it and waits until it runs.
    pub(crate) fn start(self) -> Worker {
        let mut worker = self.spawn();
        worker.incarnation = worker.line("ready").parse().expect("a worker's id");
        worker
    }
}

/// A worker's process. Killed with the value.
pub(crate) struct Worker {
    process: Process,
    gate: Gate,
    /// The id of its first lease, once it was waited for.
    pub(crate) incarnation: i64,
}

impl Worker {
    /// Lets the bodies go on that it holds, and those to come.
    pub(crate) fn open_gate(&self) {
        fs::write(&self.gate.0, "").expect("the temporary folder is writable");
    }

    /// Waits for its end, at most so long, and gives its exit code.
    pub(crate) async fn ended(&mut self, limit: Duration) -> Option<i32> {
        let start = Instant::now();
        while self.process.is_running() {
            assert!(start.elapsed() < limit, "process {} did not end within {limit:?}", self.process.id());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.process.wait().code()
    }
}

impl Deref for Worker {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

impl DerefMut for Worker {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.process
    }
}
