//! A listener that is killed, that goes silent, and that hears what is not meant for it.

use super::{driver, processes, sql};
use crate::{
    jobs_of_tests::{Runs, knowing, note, start_delay, work},
    support::{Db, Fault, Proxy, eventually, eventually_within, pool},
};
use jobs::{
    Jobs,
    driver::{Driver, Hint, WorkerId, pg::Pg},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// What a job waits at most for its start without hints: the poll, and what a busy machine adds.
const POLL: Duration = Duration::from_secs(6);
/// Until a listener listens again.
const RELISTEN: Duration = Duration::from_secs(30);

async fn listener_other_than(pool: &sqlx::PgPool, old: &[i32]) -> i32 {
    eventually_within(RELISTEN, "a new listener", async || {
        processes(pool, "jobs:listen").await.into_iter().find(|pid| !old.contains(pid))
    })
    .await
}

#[tokio::test]
async fn a_terminated_listener_delays_no_job_and_listens_again() {
    let db = Db::new();
    let (admin, runs) = (db.pool(2).await, Runs::default());
    let jobs = knowing::<note>(&Arc::new(driver(&db).await));
    let worker = work(&jobs, &runs, 4).await;
    let (mut old, mut delays) = (Vec::new(), Vec::new());
    for round in 0..10 {
        let pid = listener_other_than(&admin, &old).await;
        sql(&admin, format!("SELECT pg_terminate_backend({pid})")).await;
        old.push(pid);
        delays.push(start_delay(&jobs, &runs, round, POLL).await);
    }
    delays.sort();
    println!("10 terminated listeners: start delay median {:?}, longest {:?}", delays[5], delays[9]);
    worker.drain().await;
}

#[tokio::test]
async fn a_listener_that_lost_its_connection_says_to_look_at_everything() {
    let db = Db::new();
    let admin = db.pool(1).await;
    let driver = driver(&db).await;
    let mut hints = driver.hints(WorkerId(1), vec!["notes".to_owned()]).await.unwrap();
    assert_eq!(hints.next().await, Hint::All, "proven by its probe");
    assert!(hints.is_live());
    let pid = listener_other_than(&admin, &[]).await;
    sql(&admin, format!("SELECT pg_terminate_backend({pid})")).await;
    let killed = Instant::now();
    assert_eq!(tokio::time::timeout(RELISTEN, hints.next()).await, Ok(Hint::All));
    assert!(hints.is_live());
    println!("a terminated listener was proven again after {:?}", killed.elapsed());
}

#[tokio::test]
async fn a_listener_whose_connection_went_silent_is_replaced_and_no_job_waits_longer_than_a_poll() {
    let db = Db::new();
    let (admin, runs) = (db.pool(2).await, Runs::default());
    let proxy = Proxy::before(db.url());
    let jobs = knowing::<note>(&Arc::new(driver(&db).await));
    let behind = knowing::<note>(&Arc::new(Pg::new(pool(proxy.url(), 2).await).unwrap()));
    let worker = work(&behind, &runs, 4).await;
    let silent = listener_other_than(&admin, &[]).await;
    start_delay(&jobs, &runs, 0, POLL).await;

    proxy.fail_named("jobs:listen", Fault::BlackHole);
    let began = Instant::now();
    let (mut delays, mut relistened) = (Vec::new(), None);
    for number in 1.. {
        delays.push(start_delay(&jobs, &runs, number, POLL).await);
        let pids = processes(&admin, "jobs:listen").await;
        if relistened.is_none() && pids.iter().any(|pid| *pid != silent) {
            relistened = Some(began.elapsed());
        }
        if relistened.is_some() || began.elapsed() > RELISTEN {
            break;
        }
    }
    let relistened = relistened.expect("it listens again within 30 s");
    let after = start_delay(&jobs, &runs, u64::MAX, POLL).await;
    println!(
        "a silent listener: {} jobs, longest start delay {:?}; listened again after {relistened:?}; then {after:?}",
        delays.len(),
        delays.iter().max().unwrap(),
    );
    worker.drain().await;
}

#[tokio::test]
async fn what_others_send_on_our_channel_does_no_harm() {
    let db = Db::new();
    let (admin, runs) = (db.pool(1).await, Runs::default());
    let jobs: Jobs = knowing::<note>(&Arc::new(driver(&db).await));
    let worker = work(&jobs, &runs, 4).await;
    let listener = listener_other_than(&admin, &[]).await;
    start_delay(&jobs, &runs, 0, POLL).await;

    sql(&admin, "SELECT pg_notify('jobs:jobs', repeat('x', 7900)) FROM generate_series(1, 20)").await;
    sql(&admin, "SELECT pg_notify('jobs:jobs', repeat('q', 7999))").await;
    sql(&admin, "SELECT pg_notify('jobs:jobs', 'x' || n) FROM generate_series(1, 10000) AS n").await;
    sql(&admin, "SELECT pg_notify('jobs:jobs', 'qnotes' || n) FROM generate_series(1, 1000) AS n").await;
    for text in ["", "q", "p", "c", "c1:", "c1:no-job", "c99999999999999999999:x", "qnotes", "\u{1f600}", "q\u{7f}"] {
        sqlx::query("SELECT pg_notify('jobs:jobs', $1)").bind(text).execute(&admin).await.unwrap();
    }
    let delay = start_delay(&jobs, &runs, 1, POLL).await;
    println!("after 11,030 foreign notifications: start delay {delay:?}");
    eventually("every hint is read", async || runs.first(1)).await;
    assert_eq!(processes(&admin, "jobs:listen").await, [listener], "it kept its connection");
    worker.drain().await;
}
