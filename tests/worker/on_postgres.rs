//! The worker on Postgres: what only a real store shows.

use crate::{
    act::{Act, Acts, Log, ended, enqueue, in_state, jobs_on},
    support::Db,
};
use jobs::{
    Ctx, Failure, Job, Jobs, Registry, State,
    driver::{Driver, Lease, Migrate, pg::Pg},
    spec::JobSpec,
};
use sqlx::{Connection, PgConnection};
use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

async fn pg(db: &Db) -> Arc<Pg> {
    let pg = Pg::connect(db.url()).await.unwrap();
    pg.migrate(Migrate::ApplyAll).await.unwrap();
    Arc::new(pg)
}

/// What was logged.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl io::Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Tells the tenant's setting, inside and outside of its bounds.
struct Tenants;

impl Job for Tenants {
    type Input = String;
    type Output = (String, String);
    const SPEC: JobSpec = JobSpec::new("tenants");

    fn tenant(input: &String) -> Option<String> {
        Some(input.clone())
    }

    fn run(ctx: &Ctx, _: String) -> Pin<Box<dyn Future<Output = Result<Self::Output, Failure>> + Send + '_>> {
        Box::pin(async {
            let asked = "SELECT current_setting('app.tenant', true)";
            let (mut own, mut any) = (ctx.tx().await?, ctx.cross_tenant("to see").tx().await?);
            let own: String = sqlx::query_scalar(asked).fetch_one(&mut *own).await?;
            let any: String = sqlx::query_scalar(asked).fetch_one(&mut *any).await?;
            Ok((own, any))
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_run_retried_and_cancelled_on_postgres() {
    let db = Db::new();
    let (jobs, log) = (jobs_on(pg(&db).await), Log::default());
    let worker = jobs.worker().state(log.clone()).start().await.unwrap();
    let many = jobs.enqueue_many::<Acts>((0..500).map(|_| Act::Ok)).await.unwrap();
    let dead = enqueue(&jobs, Act::Fail).await;
    let snoozed = enqueue(&jobs, Act::Snooze(50)).await;
    let hung = enqueue(&jobs, Act::UntilCancelled(false)).await;
    in_state(&jobs, hung, State::Running).await;
    jobs.cancel(hung).await.unwrap();
    assert_eq!(ended(&jobs, hung).await.state, State::Cancelled);
    assert_eq!(ended(&jobs, dead).await.attempt, 3);
    assert_eq!(ended(&jobs, snoozed).await.attempt, 1);
    for job in many {
        assert_eq!(ended(&jobs, job.id()).await.state, State::Completed);
    }
    worker.drain().await;
    assert!(jobs.workers().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_has_transactions_of_its_tenant_and_of_none() {
    let db = Db::new();
    let registry = Registry::builder().job::<Tenants>().build().unwrap();
    let jobs = Jobs::new(pg(&db).await, registry);
    let worker = jobs.worker().start().await.unwrap();
    let job = jobs.enqueue::<Tenants>("acme".to_owned()).await.unwrap().id();
    assert_eq!(ended(&jobs, job).await.output.unwrap().as_str(), r#"["acme",""]"#);
    worker.drain().await;
}

#[tokio::test]
async fn security_that_does_not_hold_for_the_role_is_warned_of_once() {
    let db = Db::new();
    let jobs = Jobs::new(pg(&db).await, Registry::builder().build().unwrap());
    let pool = db.pool(1).await;
    for statement in ["CREATE TABLE invoices (org text)", "ALTER TABLE invoices ENABLE ROW LEVEL SECURITY"] {
        sqlx::query(statement).execute(&pool).await.unwrap();
    }
    let said = Said::default();
    let writer = said.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _here = tracing::subscriber::set_default(subscriber);
    let ctx = Ctx::for_test(&jobs).tenant("acme").build();
    for _ in 0..2 {
        ctx.tx().await.unwrap().rollback().await.unwrap();
    }
    let said = String::from_utf8(said.0.lock().unwrap().clone()).unwrap();
    assert_eq!(said.matches("jobs.tenant.unguarded").count(), 1, "{said}");
    assert!(said.contains("invoices"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_whose_connections_are_all_killed_goes_on() {
    let db = Db::new();
    let (jobs, log) = (jobs_on(pg(&db).await), Log::default());
    let lease = Lease { duration: Duration::from_secs(5), beat: Duration::from_secs(1) };
    let worker = jobs.worker().state(log.clone()).lease(lease).start().await.unwrap();
    let running = enqueue(&jobs, Act::Sleep(1_500)).await;
    in_state(&jobs, running, State::Running).await;
    let mut admin = PgConnection::connect(db.url()).await.unwrap();
    for _ in 0..3 {
        sqlx::query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .execute(&mut admin)
        .await
        .unwrap();
        let job = crate::support::eventually("an enqueue gets through", || async {
            jobs.enqueue::<Acts>(Act::Ok).await.ok().map(|enqueued| enqueued.id())
        })
        .await;
        assert_eq!(ended(&jobs, job).await.state, State::Completed);
    }
    let record = ended(&jobs, running).await;
    assert_eq!((record.state, record.attempt, record.crashes), (State::Completed, 1, 0));
    worker.drain().await;
}
