//! The hot statements have one plan, whatever the statistics say: a queue's are always wrong.

use super::{driver, run};
use crate::support::Db;
use jobs::{driver::Driver, testing::conformance::job};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

const SETTINGS: &str = "SET search_path = pg_catalog; SET jit = off; SET enable_seqscan = off;
    SET enable_bitmapscan = off; SET enable_mergejoin = off; SET enable_nestloop = off;
    SET plan_cache_mode = force_generic_plan";

/// The plan of a statement on tables that are full while their statistics say that they are empty.
async fn plan(statement: &str, arguments: &str) -> String {
    let db = Db::new();
    let driver = driver(&db).await;
    run(
        driver.pool(),
        "ALTER TABLE jobs.ready SET (autovacuum_enabled = off); ALTER TABLE jobs.running SET (autovacuum_enabled = off);
         ALTER TABLE jobs.waiting SET (autovacuum_enabled = off); ANALYZE jobs.ready, jobs.running, jobs.waiting",
    )
    .await;
    let jobs: Vec<_> = (0..5_000).map(|_| job()).collect();
    driver.enqueue(&jobs, None).await.expect("accepted");
    explain(&db, statement, arguments).await
}

/// The plan of a statement that is made, and kept, while the tables are as empty as a vacuum leaves them.
async fn plan_of_idle(statement: &str, arguments: &str) -> String {
    let db = Db::new();
    let driver = driver(&db).await;
    driver.enqueue(&[job()], None).await.expect("accepted");
    run(driver.pool(), "DELETE FROM jobs.ready").await;
    for table in ["ready", "running", "waiting", "dead", "history"] {
        run(driver.pool(), format!("VACUUM (ANALYZE) jobs.{table}")).await;
    }
    explain(&db, statement, arguments).await
}

async fn explain(db: &Db, statement: &str, arguments: &str) -> String {
    let mut connection = PgConnection::connect(db.url()).await.expect("a connection");
    let prepare = format!("{SETTINGS}; PREPARE hot AS {}", statement.replace("{schema}", "jobs"));
    sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut connection).await.expect("it is prepared");
    let explain = sqlx::query_scalar(AssertSqlSafe(format!("EXPLAIN (COSTS OFF) EXECUTE hot({arguments})")));
    let lines: Vec<String> = explain.fetch_all(&mut connection).await.expect("it is explained");
    lines.join("\n")
}

/// Every scan of a table of ours has an index condition, but for the indexes that are read in order up to a limit.
fn check(plan: &str, expected: &[&str]) {
    for words in expected {
        assert!(plan.contains(words), "`{words}` is missing in\n{plan}");
    }
    for words in ["Seq Scan on ready", "Seq Scan on running", "Seq Scan on waiting", "Bitmap", "Merge Join"] {
        assert!(!plan.contains(words), "`{words}` stands in\n{plan}");
    }
    assert!(!plan.contains("Sort Key: r.priority"), "the order comes from the index:\n{plan}");
}

#[tokio::test]
async fn a_claim_walks_the_index_in_its_order() {
    let sql = include_str!("../../jobs-runtime/src/driver/pg/sql/claim.sql");
    let plan = plan(sql, r#"1, ARRAY['mail'], ARRAY[500], '{"mail.send": 1}', 0"#).await;
    check(&plan, &["Index Scan using ready_order on ready", "Index Scan using ready_pkey on ready"]);
    assert!(plan.contains("Index Cond: (id = ANY ("), "{plan}");
}

#[tokio::test]
async fn ids_are_looked_for_by_the_primary_key_also_if_nothing_was_ready_when_it_was_planned() {
    let claim = include_str!("../../jobs-runtime/src/driver/pg/sql/claim.sql");
    let nil = "'00000000-0000-0000-0000-000000000000'::uuid";
    for (statement, arguments) in [
        (claim, r#"1, ARRAY['mail'], ARRAY[500], '{"mail.send": 1}', 0"#),
        (include_str!("../../jobs-runtime/src/driver/pg/sql/find.sql"), nil),
        // As a cancel has it.
        ("DELETE FROM {schema}.ready WHERE id = $1 AND stage < 3 RETURNING *", nil),
        ("UPDATE {schema}.ready SET stage = 3 WHERE id = $1 AND stage = 1", nil),
    ] {
        let plan = plan_of_idle(statement, arguments).await;
        assert!(plan.contains("using ready_pkey on ready"), "{plan}");
        assert_eq!(plan.matches("ready_order").count(), usize::from(statement == claim), "{plan}");
        assert!(!plan.contains("Sort Key: r.priority"), "the order comes from the index:\n{plan}");
    }
}

#[tokio::test]
async fn a_completion_probes_the_primary_key() {
    let sql = include_str!("../../jobs-runtime/src/driver/pg/sql/complete.sql");
    let plan = plan(sql, "1, ARRAY[]::uuid[], ARRAY[1], ARRAY[1]::int8[], NULL").await;
    check(&plan, &["Index Scan using running_pkey on running", "Index Cond: (id = ANY ($2))"]);
}

#[tokio::test]
async fn a_finish_joins_its_batch_by_hash() {
    let sql = include_str!("../../jobs-runtime/src/driver/pg/sql/finish.sql");
    let texts = "NULL::text[], NULL::text[], NULL::text[], NULL::text[], NULL::text[]";
    let plan = plan(sql, &format!("1, NULL::uuid[], NULL::int4[], NULL::int8[], NULL::int2[], {texts}, NULL")).await;
    check(&plan, &["Index Scan using running_pkey on running", "Index Cond: (id = ANY ($2))", "Hash Join"]);
}

#[tokio::test]
async fn a_promotion_reads_the_due_rows_alone() {
    let sql = include_str!("../../jobs-runtime/src/driver/pg/sql/promote.sql");
    let plan = plan(sql, "500, 'c'").await;
    check(&plan, &["Index Scan using waiting_due on waiting", "Index Cond: (due_at <= statement_timestamp())"]);
}

#[tokio::test]
async fn a_look_reads_one_row_of_each_queue() {
    let sql = include_str!("../../jobs-runtime/src/driver/pg/sql/look.sql");
    check(
        &plan(sql, "ARRAY['mail'], 'c', ARRAY[]::text[]").await,
        &["using ready_order on ready", "Index Cond: (queue = wanted.queue)"],
    );
}

#[tokio::test]
async fn a_record_probes_the_primary_keys() {
    let sql = include_str!("../../jobs-runtime/src/driver/pg/sql/record.sql");
    let arguments = "1, NULL::uuid[], NULL::int4[], NULL::int8[], NULL::text[], NULL::text[], NULL::int2[],
        NULL::int2[], NULL::int2[], NULL::int4[], NULL::int4[], NULL::boolean[], NULL::text[], NULL::text[],
        NULL::text[], NULL::text[], NULL::text[], NULL::timestamptz[], NULL::uuid[], NULL::float8[], NULL::uuid[],
        false";
    let plan = plan(sql, arguments).await;
    check(&plan, &["Index Scan using running_pkey on running", "Index Cond: (id = ANY ($2))", "Hash Join"]);
    assert_eq!(
        plan.matches("Scan using running_pkey").count(),
        2,
        "to lock the rows, and to raise their stages:\n{plan}"
    );
}

#[tokio::test]
async fn steps_are_read_by_their_run_and_the_history_is_left_alone() {
    let sql = include_str!("../../jobs-runtime/src/driver/pg/sql/steps.sql");
    let plan = plan(sql, "'00000000-0000-0000-0000-000000000000'").await;
    check(&plan, &["Index Scan using steps_pkey on steps", "Index Cond: (job = $1)", "One-Time Filter"]);
    assert!(!plan.contains("Seq Scan on history"), "{plan}");
}

#[tokio::test]
async fn a_renewal_reads_only_the_runs_that_were_asked() {
    let sql = include_str!("../../jobs-runtime/src/driver/pg/sql/renew.sql");
    check(&plan(sql, "1").await, &["Index Scan using running_asked on running", "Index Cond: (worker = $1)"]);
}
