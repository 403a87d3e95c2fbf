//! Each statement reads a few pages, however many events and waits are stored, also if it was planned when there was one.

use super::*;
use sqlx::{Connection, PgConnection};

/// As the driver's own connections.
const PINNED: &str =
    "SET search_path = pg_catalog; SET jit = off; SET enable_seqscan = off; SET enable_bitmapscan = off;
    SET enable_mergejoin = off; SET enable_nestloop = off; SET plan_cache_mode = force_generic_plan";
const NIL: &str = "'00000000-0000-0000-0000-000000000000', 100";
const EVENTS: u32 = 200_000;
const WAITS: u32 = 50_000;
/// A scan of the smallest index from end to end reads more.
const MAX_PAGES: u64 = 150;

const FILL: &str = "
    INSERT INTO jobs.events (id, published_at, expires_at, unseen, name, key, payload)
    SELECT gen_random_uuid(), now() - i * interval '1 second', now() + i * interval '1 second', false,
        'order.shipped', 'k' || i % 50000, '1'
    FROM generate_series(FROM_HERE, TO_HERE) AS i;
    INSERT INTO jobs.waiting (id, due_at, created_at, attempt, version, crashes, priority, kind, queue, payload, suspended)
    SELECT lpad(to_hex(i), 32, '0')::uuid, 'infinity', now(), 1, 1, 0, 0, 'a', 'q', '1', true
    FROM generate_series(FROM_HERE, least(TO_HERE, WAITS)) AS i;
    INSERT INTO jobs.waits (job, recheck, event, key, taken)
    SELECT lpad(to_hex(i), 32, '0')::uuid, false, 'order.paid', 'k' || i, '{}'
    FROM generate_series(FROM_HERE, least(TO_HERE, WAITS)) AS i;";

/// What a sweep has to do: a run that it can look at, one that is gone, an event that was not seen.
const TO_SWEEP: &str = "
    UPDATE jobs.waits SET recheck = true;
    INSERT INTO jobs.waits (job, recheck) VALUES (gen_random_uuid(), true);
    UPDATE jobs.events SET unseen = true;";

fn fill(from: u32, to: u32) -> String {
    let counted = FILL.replace("FROM_HERE", &from.to_string()).replace("TO_HERE", &to.to_string());
    counted.replace("WAITS", &WAITS.to_string())
}

/// A statement of the driver's, prepared on a connection of its own when one event and one wait were stored.
struct Statement {
    connection: PgConnection,
    arguments: String,
}

impl Statement {
    async fn prepare(db: &Db, settings: &str, sql: &str, arguments: &str) -> Self {
        let mut connection = PgConnection::connect(db.url()).await.expect("a connection");
        let prepare = format!("{settings}; PREPARE one AS {}", sql.replace("{schema}", "jobs"));
        sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut connection).await.expect("it is prepared");
        let mut statement = Self { connection, arguments: arguments.to_owned() };
        statement.pages().await;
        statement
    }

    /// How many pages it reads.
    async fn pages(&mut self) -> u64 {
        let sql = format!("BEGIN; EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE one({}); ROLLBACK", self.arguments);
        let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut self.connection).await.expect("it is explained");
        let plan: serde_json::Value = sqlx::Row::try_get(&rows[0], 0).expect("a plan");
        let root = &plan[0]["Plan"];
        ["Shared Hit Blocks", "Shared Read Blocks"].iter().map(|blocks| root[blocks].as_u64().expect("a count")).sum()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_statement_reads_more_than_it_must() {
    let db = Db::new();
    let driver = driver(&db).await;
    run(
        driver.pool(),
        "ALTER TABLE jobs.events SET (autovacuum_enabled = off); ALTER TABLE jobs.waits SET (autovacuum_enabled = off);
         ALTER TABLE jobs.waiting SET (autovacuum_enabled = off); ALTER TABLE jobs.ready SET (autovacuum_enabled = off)",
    )
    .await;
    run(driver.pool(), format!("{}{TO_SWEEP} ANALYZE jobs.events, jobs.waits, jobs.waiting", fill(1, 1))).await;
    let publish =
        "ARRAY[gen_random_uuid()], ARRAY['order.paid'], ARRAY['k1'], ARRAY[NULL], ARRAY['1'], ARRAY[60], false";
    let mut statements = vec![];
    for (name, settings, sql, arguments) in [
        ("a publish", "", include_str!("../../../jobs-runtime/src/driver/pg/sql/publish.sql"), publish),
        (
            "a publish of two, pinned",
            PINNED,
            include_str!("../../../jobs-runtime/src/driver/pg/sql/publish.sql"),
            "ARRAY[gen_random_uuid(), gen_random_uuid()], ARRAY['order.paid', 'b'], ARRAY['k1', 'c'], ARRAY[NULL, 't'], \
             ARRAY['1', '2'], ARRAY[60, 60], true",
        ),
        (
            "a find",
            PINNED,
            include_str!("../../../jobs-runtime/src/driver/pg/sql/find_event.sql"),
            "'order.shipped', 'k7', NULL, ARRAY[gen_random_uuid()], NULL",
        ),
        ("a sweep", PINNED, include_str!("../../../jobs-runtime/src/driver/pg/sql/wake.sql"), NIL),
        ("a purge", PINNED, include_str!("../../../jobs-runtime/src/driver/pg/sql/purge_events.sql"), "100"),
        (
            "a look",
            PINNED,
            include_str!("../../../jobs-runtime/src/driver/pg/sql/look.sql"),
            "ARRAY['q'], 'c', ARRAY[]::text[]",
        ),
        ("a promotion", PINNED, include_str!("../../../jobs-runtime/src/driver/pg/sql/promote.sql"), "100, 'c'"),
    ] {
        statements.push((name, Statement::prepare(&db, settings, sql, arguments).await));
    }
    run(driver.pool(), fill(2, EVENTS)).await;
    let mut read = vec![];
    for (name, statement) in &mut statements {
        // The first time it also reads the catalogs.
        statement.pages().await;
        read.push((*name, statement.pages().await));
    }
    assert!(read.iter().all(|(_, pages)| *pages < MAX_PAGES), "{read:?}");
}
