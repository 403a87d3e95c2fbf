//! Tenants under row-level security, as a role that is no superuser.

use super::sql;
use crate::{
    jobs_of_tests::{Runs, all_completed},
    support::{Db, eventually},
};
use jobs::{Jobs, Registry, driver::pg::Pg, prelude::*};
use sqlx::{PgPool, postgres::PgPoolOptions};
use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// A role without privileges of its own; the server keeps it.
const APP: &str = "jobs_test_app";

/// Makes the role that the application runs as, with what the library needs and no more.
pub(super) async fn app_role(admin: &PgPool) -> &'static str {
    let script = format!(
        "DO $$ BEGIN CREATE ROLE {APP}; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
         GRANT USAGE ON SCHEMA jobs TO {APP};
         GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA jobs TO {APP};
         GRANT USAGE ON ALL SEQUENCES IN SCHEMA jobs TO {APP};
         CREATE TABLE invoices (tenant text NOT NULL, number int8 NOT NULL);
         ALTER TABLE invoices ENABLE ROW LEVEL SECURITY;
         ALTER TABLE invoices FORCE ROW LEVEL SECURITY;
         CREATE POLICY own ON invoices
             USING (tenant = current_setting('app.tenant', true))
             WITH CHECK (tenant = current_setting('app.tenant', true));
         GRANT SELECT, INSERT ON invoices TO {APP};
         INSERT INTO invoices SELECT tenant, n FROM unnest(ARRAY['acme', 'bolt', '']) AS tenant, generate_series(1, 50) AS n;"
    );
    sql(admin, script).await;
    APP
}

/// What the bodies saw.
#[derive(Debug, Clone, Default)]
struct Seen(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    own: AtomicU64,
    foreign: AtomicU64,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Invoice {
    org: String,
    number: i64,
}

/// Books an invoice and looks at all that it can see.
#[job(queue = "invoices", tenant = input.org, retry(max_attempts = 2, backoff = fixed("50ms")))]
async fn book(ctx: &Ctx, input: Invoice) -> Result<(), Failure> {
    ctx.state::<Runs>()?.add(input.number as u64);
    let mut tx = ctx.tx().await?;
    let tenants: Vec<String> = sqlx::query_scalar("SELECT tenant FROM invoices").fetch_all(&mut *tx).await?;
    let own = tenants.iter().filter(|tenant| Some(tenant.as_str()) == ctx.tenant()).count();
    let seen = &ctx.state::<Seen>()?.0;
    seen.own.fetch_add(own as u64, Ordering::Relaxed);
    seen.foreign.fetch_add((tenants.len() - own) as u64, Ordering::Relaxed);
    let insert = sqlx::query("INSERT INTO invoices VALUES ($1, $2)").bind(&input.org).bind(input.number);
    insert.execute(&mut *tx).await?;
    // Every third body forgets its transaction, and every seventh fails in it.
    match input.number {
        number if number % 7 == 0 && ctx.attempt() == 1 => Err(Failure::retry("as told")),
        number if number % 3 == 0 => Ok(()),
        _ => Ok(tx.commit().await?),
    }
}

/// Counts what a job without a tenant sees, and what one sees that crosses its tenant's bounds.
#[job(queue = "audits", tenant = none)]
async fn audit(ctx: &Ctx, _number: u64) -> Result<i64, Failure> {
    let mut tx = ctx.tx().await?;
    Ok(sqlx::query_scalar("SELECT count(*) FROM invoices WHERE tenant <> ''").fetch_one(&mut *tx).await?)
}

/// Leaves its tenant's bounds.
#[job(queue = "audits", tenant = input.org)]
async fn cross(ctx: &Ctx, input: Invoice) -> Result<String, Failure> {
    let _ = input;
    let mut tx = ctx.cross_tenant("a yearly report").tx().await?;
    Ok(sqlx::query_scalar("SELECT current_setting('app.tenant', true)").fetch_one(&mut *tx).await?)
}

async fn app_pool(db: &Db, size: u32) -> PgPool {
    let options: sqlx::postgres::PgConnectOptions = db.url().parse().unwrap();
    let options = options.options([("role", APP)]);
    PgPoolOptions::new().min_connections(size).max_connections(size).connect_with(options).await.unwrap()
}

async fn app(pool: &PgPool) -> Jobs {
    let registry = Registry::builder().job::<book>().job::<audit>().job::<cross>().build().unwrap();
    Jobs::new(Arc::new(Pg::new(pool.clone()).unwrap()), registry)
}

/// Every connection of the pool at once: the tenant that it remembers.
async fn remembered(pool: &PgPool, size: u32) -> Vec<String> {
    let mut held = Vec::new();
    for _ in 0..size {
        held.push(pool.acquire().await.unwrap());
    }
    let mut tenants = Vec::new();
    for connection in &mut held {
        let query = "SELECT coalesce(current_setting('app.tenant', true), '')";
        tenants.push(sqlx::query_scalar(query).fetch_one(&mut **connection).await.unwrap());
    }
    tenants
}

#[tokio::test]
async fn two_tenants_over_four_connections_never_see_each_other() {
    let db = Db::new();
    app_role(&db.pool(1).await).await;
    let pool = app_pool(&db, 4).await;
    let jobs = app(&pool).await;
    let is_superuser: bool =
        sqlx::query_scalar("SELECT current_setting('is_superuser')::bool").fetch_one(&pool).await.unwrap();
    assert!(!is_superuser);

    let (seen, runs) = (Seen::default(), Runs::default());
    let inputs =
        (0..1_000).map(|number| Invoice { org: if number % 2 == 0 { "acme" } else { "bolt" }.to_owned(), number });
    let ids: Vec<_> = jobs.enqueue_many::<book>(inputs).await.unwrap().iter().map(Enqueued::id).collect();
    let worker = jobs.worker().state(seen.clone()).state(runs.clone()).queue("invoices", 32).start().await.unwrap();
    all_completed(&jobs, &ids, Duration::from_secs(60)).await;

    let none = jobs.enqueue::<audit>(1).await.unwrap().id();
    all_completed(&jobs, &[none], Duration::from_secs(20)).await;
    assert_eq!(jobs.find(none).await.unwrap().output.unwrap().as_str(), "0", "no tenant sees nothing of theirs");
    worker.drain().await;

    let (own, foreign) = (seen.0.own.load(Ordering::Relaxed), seen.0.foreign.load(Ordering::Relaxed));
    println!("1,000 jobs of 2 tenants: {own} rows of their own read, {foreign} of others, {} run again", runs.again());
    assert_eq!(foreign, 0);
    assert!(own > 50_000);
    assert_eq!(remembered(&pool, 4).await, ["", "", "", ""]);
}

#[tokio::test]
async fn a_row_whose_tenant_was_tampered_with_is_dead_before_its_body() {
    let db = Db::new();
    let admin = db.pool(1).await;
    app_role(&admin).await;
    let jobs = app(&app_pool(&db, 2).await).await;
    let tampered = jobs.enqueue::<book>(Invoice { org: "acme".to_owned(), number: 1 }).await.unwrap().id();
    let stripped = jobs.enqueue::<book>(Invoice { org: "acme".to_owned(), number: 2 }).await.unwrap().id();
    let told = jobs.enqueue::<audit>(1).await.unwrap().id();
    for (id, tenant) in [(tampered, Some("bolt")), (stripped, None), (told, Some("bolt"))] {
        sqlx::query("UPDATE jobs.ready SET tenant = $2 WHERE id = $1")
            .bind(id.0)
            .bind(tenant)
            .execute(&admin)
            .await
            .unwrap();
    }
    let runs = Runs::default();
    let worker = jobs.worker().state(Seen::default()).state(runs.clone()).start().await.unwrap();
    for id in [tampered, stripped, told] {
        let record =
            eventually("the job ends", async || jobs.find(id).await.ok().filter(|record| record.state.is_final()));
        let record = record.await;
        assert_eq!((record.state, record.attempt), (State::Dead, 1));
        assert_eq!(record.failure.unwrap().code, "X_JOB_TENANT_MISMATCH");
    }
    assert_eq!(runs.count(), 0, "no body ran");
    worker.drain().await;
}

/// A log that is kept in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn leaving_the_bounds_of_a_tenant_is_logged() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    // All tasks of this test run on its own thread.
    let _logged = tracing::subscriber::set_default(subscriber);
    let db = Db::new();
    app_role(&db.pool(1).await).await;
    let jobs = app(&app_pool(&db, 2).await).await;
    let worker = jobs.worker().state(Seen::default()).state(Runs::default()).start().await.unwrap();
    let job = jobs.enqueue::<cross>(Invoice { org: "acme".to_owned(), number: 1 }).await.unwrap().id();
    all_completed(&jobs, &[job], Duration::from_secs(20)).await;
    worker.drain().await;
    assert_eq!(jobs.find(job).await.unwrap().output.unwrap().as_str(), "\"\"");
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let line = log.lines().find(|line| line.contains("jobs.tenant.crossed")).expect("it is logged");
    assert!(line.contains("a yearly report") && line.contains(&job.to_string()) && line.contains("acme"), "{line}");
}
