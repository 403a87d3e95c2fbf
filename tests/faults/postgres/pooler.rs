//! A worker behind PgBouncer in transaction mode.

use crate::{
    jobs_of_tests::{Keyed, Runs, all_completed, gated, note, once},
    support::{Db, PgBouncer, eventually, pool},
};
use jobs::{Jobs, Registry, driver::pg::Pg, prelude::*};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Uses a tenant's transaction and fails its first attempt.
#[job(queue = "pooled", tenant = input.org, retry(max_attempts = 3, backoff = fixed("50ms")))]
async fn pooled(ctx: &Ctx, input: Pooled) -> Result<String, Failure> {
    ctx.progress(1, 2, "begun");
    let mut tx = ctx.tx().await?;
    let query = sqlx::query_scalar("SELECT current_setting('app.tenant') || $1::text").bind(input.number.to_string());
    let answer: String = query.persistent(false).fetch_one(&mut *tx).await?;
    ctx.jobs().enqueue::<note>(input.number).in_tx(&mut tx).await?;
    if ctx.attempt() == 1 && input.number.is_multiple_of(10) {
        return Err(Failure::retry("as told"));
    }
    tx.commit().await?;
    Ok(answer)
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Pooled {
    org: String,
    number: u64,
}

async fn behind(bouncer: &PgBouncer) -> Jobs {
    let pool = pool(bouncer.url(), 4).await;
    let driver = Pg::options().transaction_pooler(true).build(pool).unwrap();
    let registry = Registry::builder().job::<pooled>().job::<note>().job::<once>().job::<gated>().build().unwrap();
    Jobs::new(Arc::new(driver), registry)
}

#[tokio::test]
async fn three_workers_share_two_server_connections_behind_a_pooler() {
    const JOBS: u64 = 150;
    let db = Db::new();
    let bouncer = PgBouncer::before(db.url(), 2);
    let (jobs, runs) = (behind(&bouncer).await, Runs::default());
    assert_eq!(jobs.migrate(Migrate::ApplyAll).await.unwrap().applied, 0);
    let mut workers = Vec::new();
    for _ in 0..3 {
        let worker = behind(&bouncer).await.worker().state(runs.clone()).queue("pooled", 16);
        let worker = worker.state(crate::jobs_of_tests::Gate::closed());
        workers.push(worker.start().await.expect("a worker starts"));
    }
    let began = Instant::now();
    let inputs = (0..JOBS).map(|number| Pooled { org: format!("org{}", number % 3), number });
    let ids: Vec<_> = jobs.enqueue_many::<pooled>(inputs).await.unwrap().iter().map(Enqueued::id).collect();
    for caller in 0..10 {
        jobs.enqueue::<once>(Keyed { key: 1_000_000, caller }).delay("1h").await.expect("a unique enqueue");
    }
    all_completed(&jobs, &ids, Duration::from_secs(40)).await;
    eventually("the notes run", async || (runs.count() as u64 == JOBS).then_some(())).await;
    let took = began.elapsed();
    for (number, id) in ids.iter().enumerate().step_by(10) {
        let record = jobs.find(*id).await.unwrap();
        assert_eq!(record.output.unwrap().as_str(), format!("\"org{}{number}\"", number % 3));
        assert_eq!(record.attempt, 2, "its first attempt failed");
    }
    let running = jobs.enqueue::<gated>(5_000_000).await.unwrap().id();
    eventually("it runs", async || runs.first(5_000_000)).await;
    let waiting = jobs.enqueue::<note>(1).delay("1h").await.unwrap().id();
    jobs.cancel(waiting).await.expect("a waiting job is cancelled");
    jobs.cancel(running).await.expect("a running one is asked");
    for worker in workers {
        worker.drain().await;
    }
    println!("{JOBS} jobs by 3 workers behind a pooler with 2 server connections: {took:?}");
}

#[tokio::test]
async fn a_pooler_that_was_not_said_to_be_there_is_refused_at_the_start() {
    let db = Db::new();
    let bouncer = PgBouncer::before(db.url(), 2);
    let driver = Pg::new(pool(bouncer.url(), 2).await).unwrap();
    let jobs = Jobs::new(Arc::new(driver), Registry::builder().job::<note>().build().unwrap());
    let refusal = jobs.worker().state(Runs::default()).start().await.expect_err("a refusal");
    assert_eq!(refusal.code().name, "X_STORE_CONFIG_INVALID", "{refusal}");
    assert!(refusal.fix().contains("transaction_pooler(true)"), "{refusal}");
}
