//! Migrations: many processes at once, newer and older schemas, weak roles, hostile search paths.

use super::{driver, migrate, run};
use crate::support::{Db, pool};
use jobs::{
    driver::{Driver, Migrate, pg::Pg},
    error::code,
};
use sqlx::PgPool;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_processes_migrate_at_once() {
    let db = Db::empty();
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let pool = db.pool(1).await;
        running.spawn(async move { Pg::new(pool).unwrap().migrate(Migrate::ApplyAll).await });
    }
    let answers = running.join_all().await;
    let applied: Vec<_> = answers.into_iter().map(|answer| answer.expect("each succeeds").applied).collect();
    assert_eq!(applied.iter().filter(|count| **count > 0).count(), 1, "one applied all: {applied:?}");
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let db = Db::new();
    let driver = driver(&db).await;
    run(driver.pool(), "INSERT INTO jobs.migrations (version, name) VALUES (999, 'later')").await;
    for mode in [Migrate::ApplyAll, Migrate::VerifyOnly] {
        let refused = driver.migrate(mode).await.expect_err("a newer schema is refused");
        assert_eq!(refused.code(), code::SCHEMA_NEWER);
        assert!(refused.detail().contains("999"), "{refused}");
    }
}

#[tokio::test]
async fn verify_only_changes_nothing() {
    let db = Db::empty();
    let driver = driver(&db).await;
    let refused = driver.migrate(Migrate::VerifyOnly).await.expect_err("there is no schema");
    assert_eq!(refused.code(), code::SCHEMA_MISSING);
    let made: bool = sqlx::query_scalar("SELECT to_regnamespace('jobs') IS NOT NULL")
        .fetch_one(driver.pool())
        .await
        .expect("the catalogs answer");
    assert!(!made);
    migrate(&driver).await;
    let verified = driver.migrate(Migrate::VerifyOnly).await.expect("the schema is right");
    assert_eq!(verified.applied, 0);
    run(driver.pool(), "DELETE FROM jobs.migrations").await;
    let refused = driver.migrate(Migrate::VerifyOnly).await.expect_err("nothing is applied");
    assert_eq!(refused.code(), code::SCHEMA_MISSING);
}

#[tokio::test]
async fn a_call_without_a_schema_says_what_to_do() {
    let db = Db::empty();
    let driver = driver(&db).await;
    let refused = driver.counts().await.expect_err("there are no tables");
    assert_eq!(refused.code(), code::SCHEMA_MISSING);
    assert!(refused.fix().contains("migrate"), "{refused}");
}

#[tokio::test]
async fn two_schemas_live_in_one_database() {
    let db = Db::new();
    let other = Pg::options().schema("Other_1").build(db.pool(1).await).expect("a name");
    migrate(&other).await;
    assert_eq!(other.migrate(Migrate::VerifyOnly).await.expect("it is there").applied, 0);
}

#[tokio::test]
async fn an_odd_schema_name_is_refused() {
    let db = Db::empty();
    let pool = db.pool(1).await;
    for name in ["", "1st", "a\"b", "a b", "pg_jobs", "jobs'; DROP TABLE x; --", &"x".repeat(51)] {
        let refused = Pg::options().schema(name).build(pool.clone()).expect_err("no schema name");
        assert_eq!(refused.code(), code::STORE_CONFIG_INVALID, "{name}");
    }
}

/// A login role of the test's own, which goes with it.
struct Role {
    name: String,
    admin: PgPool,
}

impl Role {
    async fn create(db: &Db) -> Self {
        let role = Self { name: format!("{}_role", db.name()), admin: db.pool(1).await };
        run(&role.admin, format!("CREATE ROLE {} LOGIN PASSWORD 'hush'", role.name)).await;
        role
    }

    async fn pool(&self, db: &Db) -> PgPool {
        let (scheme, address) = db.url().split_once("://").expect("a URL");
        let host = address.rsplit_once('@').map_or(address, |(_, host)| host);
        pool(&format!("{scheme}://{}:hush@{host}", self.name), 2).await
    }

    async fn remove(self) {
        run(&self.admin, format!("DROP OWNED BY {0}; DROP ROLE {0}", self.name)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_that_cannot_create_works_on_a_schema_that_is_there() {
    use jobs::testing::conformance::{HandWorker, job};
    let db = Db::new();
    let role = Role::create(&db).await;
    let name = &role.name;
    run(
        &role.admin,
        format!(
            "GRANT USAGE ON SCHEMA jobs TO {name};
             GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA jobs TO {name};
             GRANT USAGE ON ALL SEQUENCES IN SCHEMA jobs TO {name}"
        ),
    )
    .await;
    let driver = std::sync::Arc::new(Pg::new(role.pool(&db).await).expect("the driver is built"));
    assert_eq!(driver.migrate(Migrate::ApplyAll).await.expect("nothing to do").applied, 0);
    driver.enqueue(&[job()], None).await.expect("an enqueue");
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = worker.claim_one().await;
    worker.finish(&claimed, jobs::State::Completed).await;
    driver.purge(1_000).await.expect("a purge");
    worker.stop().await;
    role.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_that_may_not_truncate_purges_row_by_row() {
    use jobs::testing::conformance::{HandWorker, job};
    let db = Db::new();
    let role = Role::create(&db).await;
    let name = &role.name;
    run(
        &role.admin,
        format!(
            "GRANT USAGE ON SCHEMA jobs TO {name};
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA jobs TO {name};
             GRANT USAGE ON ALL SEQUENCES IN SCHEMA jobs TO {name}"
        ),
    )
    .await;
    let driver = std::sync::Arc::new(Pg::new(role.pool(&db).await).expect("the driver is built"));
    driver.enqueue(&[job()], None).await.expect("an enqueue");
    let worker = HandWorker::start(driver.clone()).await;
    worker.finish(&worker.claim_one().await, jobs::State::Completed).await;
    worker.stop().await;
    crate::support::shift(&role.admin, std::time::Duration::from_secs(8 * 86_400)).await;
    assert_eq!(driver.purge(1_000).await.expect("a purge"), 1);
    role.remove().await;
}

#[tokio::test]
async fn a_role_that_may_not_migrate_is_told_so() {
    let db = Db::empty();
    let role = Role::create(&db).await;
    let refused = Pg::new(role.pool(&db).await).unwrap().migrate(Migrate::ApplyAll).await.expect_err("it may not");
    assert!(refused.fix().contains("role"), "{refused}");
    assert!(!format!("{refused:?}").contains("hush"), "no secret: {refused:?}");
    role.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_of_the_same_names_on_the_search_path_change_nothing() {
    use jobs::testing::conformance::{HandWorker, job};
    let db = Db::new();
    let admin = db.pool(1).await;
    run(
        &admin,
        format!(
            "CREATE TABLE public.ready (id int); CREATE TABLE public.workers (id int);
             CREATE FUNCTION public.statement_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz';
             CREATE FUNCTION public.unnest(uuid[]) RETURNS SETOF uuid LANGUAGE sql AS 'SELECT NULL::uuid WHERE false';
             CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT 1 / 0';
             ALTER DATABASE {} SET search_path = public, pg_catalog",
            db.name()
        ),
    )
    .await;
    let driver = std::sync::Arc::new(driver(&db).await);
    driver.enqueue(&[job()], None).await.expect("an enqueue");
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = worker.claim_one().await;
    worker.finish(&claimed, jobs::State::Completed).await;
}

/// The first release's tables with a row in each, as it would have left them.
#[tokio::test]
async fn rows_of_the_first_release_stay_and_go_on() {
    use jobs::{
        JobId, State,
        driver::Stage,
        testing::conformance::{HandWorker, KIND, QUEUE},
    };
    let db = Db::empty();
    let driver = std::sync::Arc::new(driver(&db).await);
    let fill = |sql: &str| sql.replace("{schema}", "jobs");
    run(driver.pool(), "CREATE SCHEMA jobs").await;
    run(driver.pool(), fill(include_str!("../../jobs-runtime/src/driver/pg/sql/migrate_ledger.sql"))).await;
    run(driver.pool(), fill(include_str!("../../jobs-runtime/migrations/0001_core.sql"))).await;
    let id = |last: u32| format!("018f0000-0000-7000-8000-{last:012}");
    let common = "created_at, attempt, version, crashes, priority, kind, queue, payload";
    let values = format!("now(), 1, 1, 0, 0, '{KIND}', '{QUEUE}', '{{\"n\": 1}}'");
    run(
        driver.pool(),
        format!(
            "INSERT INTO jobs.migrations (version, name) VALUES (1, 'core');
             INSERT INTO jobs.workers (id, lease_until, lease, started_at, name, queues, kinds, versions)
             VALUES (7, now() - interval '1 second', interval '30 seconds', now(), 'old', '[]', '{{}}', '{{}}');
             INSERT INTO jobs.ready (id, ready_at, {common}) VALUES ('{}', now(), {values});
             INSERT INTO jobs.running (id, worker, token, claimed_at, ready_at, cancel_requested, {common})
             VALUES ('{}', 7, 1, now(), now(), true, {values});
             INSERT INTO jobs.waiting (id, due_at, {common}) VALUES ('{}', now() + interval '1 hour', {values});
             INSERT INTO jobs.dead (id, finished_at, {common}) VALUES ('{}', now(), {values});
             INSERT INTO jobs.history (id, finished_at, purge_at, slot, state, {common})
             VALUES ('{}', now(), now() + interval '2 hours', 32, 4, {values})",
            id(1),
            id(2),
            id(3),
            id(4),
            id(5),
        ),
    )
    .await;
    let migrated = driver.migrate(Migrate::ApplyAll).await.expect("the schema is upgraded");
    assert_eq!(migrated.applied + 1, migrated.version);
    let states = [State::Ready, State::Running, State::Delayed, State::Dead, State::Completed];
    for (last, state) in (1..).zip(states) {
        let job: JobId = id(last).parse().expect("an id");
        let record = driver.find(job).await.expect("a find answers").expect("it is still there");
        assert_eq!((record.state, record.stage, record.parent, record.parked), (state, Stage::Fresh, None, None));
        assert_eq!(record.cancel_requested, state == State::Running);
        assert_eq!(driver.steps(job).await.expect("its steps"), []);
    }
    let rescued = driver.rescue().await.expect("a rescue answers");
    assert_eq!((rescued.workers, rescued.cancelled), (1, 1), "the request is still known");
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = worker.claim_one().await;
    assert_eq!(claimed.fence.job.to_string(), id(1));
    worker.finish(&claimed, State::Completed).await;
    driver.requeue(id(4).parse().expect("an id")).await.expect("it is requeued");
    assert_eq!(worker.claim_one().await.fence.job.to_string(), id(4));
}
