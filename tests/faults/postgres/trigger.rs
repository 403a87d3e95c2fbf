//! Enqueues from SQL: by a trigger, and by callers in other languages.

use super::{driver, sql};
use crate::{
    jobs_of_tests::{Runs, knowing, note, work},
    support::{Db, eventually},
};
use jobs::Jobs;
use sqlx::PgPool;
use std::sync::Arc;

/// Starts a worker for a moment, so that the database knows the jobs.
async fn introduce(jobs: &Jobs) {
    work(jobs, &Runs::default(), 1).await.drain().await;
}

async fn refusal(pool: &PgPool, call: &str) -> String {
    let answer = sqlx::raw_sql(sqlx::AssertSqlSafe(format!("SELECT jobs.enqueue({call})"))).execute(pool).await;
    answer.expect_err("a refusal").to_string()
}

#[tokio::test]
async fn a_trigger_enqueues_in_the_statements_transaction() {
    let db = Db::new();
    let (pool, runs) = (db.pool(2).await, Runs::default());
    let jobs = knowing::<note>(&Arc::new(driver(&db).await));
    introduce(&jobs).await;
    sql(
        &pool,
        "CREATE TABLE orders (number int8);
         CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             PERFORM jobs.enqueue('note', to_json(NEW.number), enqueued_by => 'orders');
             RETURN NEW;
         END $$;
         CREATE TRIGGER told AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION told();",
    )
    .await;
    let worker = work(&jobs, &runs, 8).await;
    let mut tx = pool.begin().await.unwrap();
    sqlx::query("INSERT INTO orders SELECT generate_series(900, 999)").execute(&mut *tx).await.unwrap();
    tx.rollback().await.unwrap();
    sqlx::query("INSERT INTO orders SELECT generate_series(0, 99)").execute(&pool).await.unwrap();
    eventually("all of them run", async || (runs.count() == 100).then_some(())).await;
    assert!(runs.first(900).is_none(), "what was rolled back is not");
    worker.drain().await;
}

#[tokio::test]
async fn an_enqueue_from_sql_refuses_what_one_from_rust_refuses() {
    let db = Db::new();
    let pool = db.pool(1).await;
    let jobs = knowing::<note>(&Arc::new(driver(&db).await));
    introduce(&jobs).await;
    for (call, code) in [
        ("'nobody.knows', '1'", "X_JOB_UNKNOWN"),
        ("NULL, '1'", "X_JOB_UNKNOWN"),
        ("'note', NULL", "X_PAYLOAD_INVALID"),
        (r#"'note', '{"a": "\u0000"}'"#, "X_PAYLOAD_INVALID"),
        (r#"'note', '"\ud800"'"#, "X_PAYLOAD_INVALID"),
        ("'note', to_json(repeat('x', 1048577))", "X_PAYLOAD_TOO_LARGE"),
        ("'note', '1', queue => 'Odd Queue'", "X_QUEUE_NAME_INVALID"),
        ("'note', '1', queue => ''", "X_QUEUE_NAME_INVALID"),
        ("'note', '1', tenant => ' '", "X_TENANT_INVALID"),
        ("'note', '1', tenant => repeat('x', 129)", "X_TENANT_INVALID"),
        ("'note', '1', unique_key => ' '", "X_KEY_INVALID"),
        ("'note', '1', unique_key => repeat('x', 201)", "X_KEY_INVALID"),
        ("'note', '1', metadata => '[1]'", "X_METADATA_INVALID"),
        ("'note', '1', delay => '-1 hour'", "X_TIME_INVALID"),
        ("'note', '1', expires_after => '0'", "X_TIME_INVALID"),
        ("'note', '1', enqueued_by => repeat('x', 201)", "X_ACTOR_INVALID"),
    ] {
        let refusal = refusal(&pool, call).await;
        assert!(refusal.contains(code), "{call}: {refusal}");
    }
    let known: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs.records").fetch_one(&pool).await.unwrap();
    assert_eq!(known, 0);
    sql(&pool, "SELECT jobs.enqueue('not.yet.known', '1', queue => 'later')").await;
}
