//! `jobs.enqueue(..)`: jobs from SQL, from triggers, from other languages.

use super::{driver, run};
use crate::support::Db;
use jobs::{
    JobId, State,
    driver::{Driver, pg::Pg},
    testing::conformance::{HandWorker, KIND, QUEUE},
};
use sqlx::AssertSqlSafe;
use std::sync::Arc;
use uuid::Uuid;

async fn enqueue(driver: &Pg, arguments: &str) -> Result<JobId, sqlx::Error> {
    let sql = format!("SELECT jobs.enqueue({arguments})");
    sqlx::query_scalar::<_, Uuid>(AssertSqlSafe(sql)).fetch_one(driver.pool()).await.map(JobId)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_from_sql_finds_its_queue_and_is_claimed() {
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    let worker = HandWorker::start(driver.clone()).await;
    let arguments = format!(r#"'{KIND}', '{{"big": 18446744073709551615}}', tenant => 'acme', priority => -3"#);
    let id = enqueue(&driver, &arguments).await.expect("accepted");
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.fence.job, &*claimed.queue, claimed.priority), (id, QUEUE, -3));
    assert_eq!(claimed.payload.as_str(), r#"{"big": 18446744073709551615}"#);
    assert_eq!(id.0.get_version_num(), 7, "{id:?}");
    worker.finish(&claimed, State::Completed).await;
}

#[tokio::test]
async fn a_delayed_job_from_sql_waits() {
    let db = Db::new();
    let driver = driver(&db).await;
    let id = enqueue(&driver, "'a', '1', queue => 'q', delay => interval '1 hour'").await.expect("accepted");
    let record = driver.find(id).await.expect("a find").expect("it is stored");
    assert_eq!((record.state, (record.due_at.unwrap() - record.created_at).num_minutes()), (State::Delayed, 60));
}

#[tokio::test]
async fn a_trigger_enqueues_in_its_transaction() {
    let db = Db::new();
    let driver = driver(&db).await;
    run(
        driver.pool(),
        "CREATE TABLE public.orders (id int8);
         CREATE FUNCTION public.on_order() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             PERFORM jobs.enqueue('order.place', json_build_object('order', NEW.id), queue => 'orders');
             RETURN NEW;
         END $$;
         CREATE TRIGGER place AFTER INSERT ON public.orders FOR EACH ROW EXECUTE FUNCTION public.on_order()",
    )
    .await;
    run(driver.pool(), "BEGIN; INSERT INTO public.orders VALUES (1); ROLLBACK").await;
    run(driver.pool(), "INSERT INTO public.orders VALUES (2)").await;
    let listed = driver.list(Default::default()).await.expect("a list");
    assert_eq!(listed.iter().map(|job| job.payload.as_str()).collect::<Vec<_>>(), [r#"{"order" : 2}"#]);
}

#[tokio::test]
async fn a_unique_key_from_sql_is_held_while_its_job_lives() {
    let db = Db::new();
    let driver = driver(&db).await;
    let arguments = "'a', '1', queue => 'q', unique_key => 'k'";
    let first = enqueue(&driver, arguments).await.expect("accepted");
    assert_eq!(enqueue(&driver, arguments).await.expect("accepted"), first);
    let other = enqueue(&driver, &format!("{arguments}, tenant => 't'")).await.expect("accepted");
    assert_ne!(other, first, "keys are per tenant");
    driver.cancel(first).await.expect("cancelled");
    assert_ne!(enqueue(&driver, arguments).await.expect("accepted"), first);
}

#[tokio::test]
async fn what_the_client_refuses_is_refused_with_a_fix() {
    let db = Db::new();
    let driver = driver(&db).await;
    for (arguments, code) in [
        ("'nobody.knows.it', '1'", "X_JOB_UNKNOWN"),
        ("'No Name', '1', queue => 'q'", "X_JOB_UNKNOWN"),
        ("'a', '1', queue => 'Q!'", "X_QUEUE_NAME_INVALID"),
        (r#"'a', '"\u0000"', queue => 'q'"#, "X_PAYLOAD_INVALID"),
        ("'a', NULL, queue => 'q'", "X_PAYLOAD_INVALID"),
        ("'a', to_json(repeat('x', 1048576)), queue => 'q'", "X_PAYLOAD_TOO_LARGE"),
        ("'a', '1', queue => 'q', tenant => ' '", "X_TENANT_INVALID"),
        ("'a', '1', queue => 'q', unique_key => repeat('k', 201)", "X_KEY_INVALID"),
        ("'a', '1', queue => 'q', metadata => '[]'", "X_METADATA_INVALID"),
        ("'a', '1', queue => 'q', delay => interval '-1 s'", "X_TIME_INVALID"),
        ("'a', '1', queue => 'q', delay => interval '200 years'", "X_TIME_INVALID"),
        ("'a', '1', queue => 'q', priority => 40000", "X_PAYLOAD_INVALID"),
    ] {
        let refused = enqueue(&driver, arguments).await.expect_err(arguments).to_string();
        assert!(refused.contains(code), "{arguments}: {refused}");
    }
    let backslash = r#"'a', '"\\u0000"', queue => 'q'"#;
    enqueue(&driver, backslash).await.expect("an escaped backslash is no NUL");
}

#[tokio::test]
async fn the_database_explains_every_parameter() {
    let db = Db::new();
    let driver = driver(&db).await;
    let explained: Option<String> = sqlx::query_scalar("SELECT obj_description('jobs.enqueue'::regproc)")
        .fetch_one(driver.pool())
        .await
        .expect("the catalogs answer");
    let explained = explained.expect("there is a comment");
    let names: Vec<String> =
        sqlx::query_scalar("SELECT unnest(proargnames) FROM pg_proc WHERE oid = 'jobs.enqueue'::regproc")
            .fetch_all(driver.pool())
            .await
            .expect("the catalogs answer");
    assert_eq!(names.len(), 10, "{names:?}");
    for name in names {
        assert!(explained.contains(&format!("\n{name} ")), "{name} is not explained in: {explained}");
    }
}
