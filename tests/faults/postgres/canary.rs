//! A password in the database's address reaches no error, no log line and no row.

use super::sql;
use crate::{
    jobs_of_tests::{Runs, all_completed, note},
    support::{Db, Fault, Proxy, eventually, role},
};
use jobs::{Jobs, Migrate, Registry, driver::pg::Pg, prelude::*};
use std::{error::Error as StdError, sync::Arc, time::Duration};

const CANARY: &str = "c4nary-9f2e";

/// Fails with a text that holds the address of its database.
#[job(queue = "leaks", tenant = none, retry(max_attempts = 2, backoff = fixed("10ms")))]
async fn leak(_: &Ctx, number: u64) -> Result<(), Failure> {
    Err(match number {
        0 => Failure::retry(format!("no answer from postgres://app:{CANARY}@db.internal:5432/shop?sslmode=require")),
        1 => Failure::retry(format!("connecting with host=db user=app password={CANARY} failed")),
        2 => Failure::from_error(std::io::Error::other(format!("postgresql://app:{CANARY}@[::1]/shop"))),
        3 => Failure::terminal("refused").caller_fix(format!("use postgres://app:{CANARY}@db/shop")),
        4 => panic!("at postgres://app:{CANARY}@db/shop"),
        _ => Failure::retry(format!("PGPASSWORD={CANARY} psql -h db")),
    })
}

/// Says an error in every way that it can be said.
fn say(what: &str, error: &(dyn StdError + 'static)) {
    println!("said {what}: {error} / {error:?} / {error:#?}");
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.for_each(|cause| println!("said {what}, cause: {cause} / {cause:?}"));
}

/// Runs with every log line on standard output.
#[tokio::main]
async fn all_that_can_be_said() {
    tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_ansi(false).init();
    let (url, server) = (std::env::var("CANARY_URL").unwrap(), std::env::var("SERVER_URL").unwrap());
    let (before, _) = url.rsplit_once('/').unwrap();
    let nobody = url.replace("://", "://nobody-");
    for (what, address) in [
        ("no database", format!("{before}/no_such_database")),
        ("no server", format!("postgres://app:{CANARY}@127.0.0.1:1/x")),
        ("no host", format!("postgres://app:{CANARY}@no-such-host.invalid/x")),
        ("no such user", nobody),
        ("no port", format!("postgres://app:{CANARY}@127.0.0.1:port/x")),
        ("no scheme", format!("app:{CANARY}@127.0.0.1")),
        ("no url", format!("host=127.0.0.1 password={CANARY}")),
    ] {
        match Jobs::connect(&address).await {
            Ok(_) => println!("said {what}: connected"),
            Err(error) => say(what, &error),
        }
    }
    let proxy = Proxy::before(&url);
    let driver = Arc::new(Pg::connect(proxy.url()).await.expect("the address is right"));
    println!("said {driver:?}");
    let registry = Registry::builder().job::<leak>().job::<note>().build().unwrap();
    let jobs = Jobs::new(Arc::clone(&driver) as Arc<dyn jobs::driver::Driver>, registry);
    println!("said {jobs:?} {:?}", Pg::options());
    jobs.migrate(Migrate::VerifyOnly).await.expect("the schema is there");
    let worker =
        jobs.worker().state(Runs::default()).on_error(|report| println!("said {report:?}")).start().await.unwrap();
    println!("said {worker:?} {driver:?}");
    let answers = jobs.enqueue_many::<leak>(0..6).await.unwrap();
    for answer in answers {
        let record =
            eventually("it ends", async || jobs.find(answer.id()).await.ok().filter(|job| job.state.is_final()));
        println!("said {:?}", record.await);
    }
    proxy.fail_all(Fault::CutAfter(0));
    let error = eventually("an outage", async || jobs.enqueue::<note>(1).await.err()).await;
    say("outage", &error);
    // Long enough for the worker's loops and its lease to say what they have to.
    tokio::time::sleep(Duration::from_secs(2)).await;
    proxy.fail_coming(Fault::None);
    let id = eventually("it is over", async || jobs.enqueue::<note>(2).await.ok()).await.id();
    all_completed(&jobs, &[id], Duration::from_secs(20)).await;
    worker.drain().await;
    let admin = sqlx::PgPool::connect(&server).await.unwrap();
    let _ = sqlx::raw_sql("DROP TABLE jobs.ready CASCADE").execute(&admin).await;
    say("no table", &jobs.enqueue::<note>(3).await.expect_err("its table is gone"));
    println!("done");
}

#[tokio::test]
async fn the_databases_password_is_in_no_error_no_log_and_no_row() {
    let role = role!("canary", all_that_can_be_said);
    let db = Db::new();
    let pool = db.pool(1).await;
    // Where the server asks for no password, any will do; where it does, the role has this one.
    let user = format!("canary_{}", Uuid::now_v7().simple());
    sql(&pool, format!("CREATE ROLE {user} LOGIN SUPERUSER PASSWORD '{CANARY}'")).await;
    let address = db.url().split_once('@').unwrap().1;
    let url = format!("postgres://{user}:{CANARY}@{address}");
    let process = role.start(&[("CANARY_URL", &url), ("SERVER_URL", db.url())]);
    let lines = tokio::task::spawn_blocking(move || process.rest()).await.unwrap();
    assert_eq!(lines.last().map(String::as_str), Some("done"), "{lines:#?}");
    sql(&pool, format!("DROP ROLE {user}")).await;

    let said = lines.iter().filter(|line| line.starts_with("said")).count();
    let leaks: Vec<_> = lines.iter().filter(|line| line.contains(CANARY)).collect();
    let logged = lines.iter().filter(|line| line.contains("event=\"jobs.")).count();
    println!("{} lines, {said} said by the test, {logged} events; {} hold the password", lines.len(), leaks.len());
    assert!(leaks.is_empty(), "{leaks:#?}");
    assert!(said > 20 && logged > 10, "{lines:#?}");
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs.dead AS d WHERE d::text LIKE '%' || $1 || '%'")
        .bind(CANARY)
        .fetch_one(&pool)
        .await
        .unwrap();
    let dead: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs.dead").fetch_one(&pool).await.unwrap();
    assert_eq!((rows, dead), (0, 6));
}
