//! A job that is written in the caller's own transaction: committed with the order, or not at all.
//!
//! ```text
//! DATABASE_URL=postgres://localhost/app cargo run --example transactional_enqueue
//! ```

use jobs::prelude::*;
use sqlx::{PgPool, Row};
use std::time::Duration;

#[derive(Debug, Serialize, Deserialize)]
struct Confirm {
    order: i64,
}

/// Confirms an order that is stored.
#[job(tenant = none, needs(PgPool), timeout = "10s")]
async fn confirm_order(ctx: &Ctx, input: Confirm) -> Result<String, Failure> {
    // The job can only run after the commit, so the order is there.
    let row = sqlx::query("SELECT item FROM example_orders WHERE id = $1")
        .bind(input.order)
        .fetch_one(ctx.state::<PgPool>()?)
        .await?;
    Ok(format!("order {}, {}, is confirmed", input.order, row.get::<String, _>("item")))
}

/// Stores an order and the job that confirms it, in one transaction.
async fn take_order(pool: &PgPool, jobs: &Jobs, item: &str, pay: bool) -> Result<Enqueued, Box<dyn std::error::Error>> {
    let mut tx = pool.begin().await?;
    let row = sqlx::query("INSERT INTO example_orders (item) VALUES ($1) RETURNING id")
        .bind(item)
        .fetch_one(&mut *tx)
        .await?;
    let order: i64 = row.get("id");
    let enqueued = confirm_order::enqueue(jobs, Confirm { order }).in_tx(&mut tx).await?;
    if !pay {
        // Dropped without a commit, the transaction takes the order and the job with it.
        return Err("the payment failed".into());
    }
    tx.commit().await?;
    Ok(enqueued)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Ok(url) = std::env::var("DATABASE_URL") else {
        println!(
            "This example shows a Postgres transaction, so it needs a database. `./dev pg` prints the URL of one:"
        );
        println!("  DATABASE_URL=\"$(./dev pg)\" cargo run --example transactional_enqueue");
        return Ok(());
    };
    let pool = PgPool::connect(&url).await?;
    sqlx::query("CREATE TABLE IF NOT EXISTS example_orders (id bigserial PRIMARY KEY, item text NOT NULL)")
        .execute(&pool)
        .await?;
    let jobs = Jobs::postgres(pool.clone())?;
    jobs.migrate(Migrate::ApplyAll).await?;

    let waiting = |jobs: Jobs| async move {
        jobs.counts().await.map(|counts| counts.iter().map(|count| count.jobs).sum::<u64>())
    };
    let before = waiting(jobs.clone()).await?;
    if let Err(error) = take_order(&pool, &jobs, "a lamp", false).await {
        println!("rolled back: {error}; {} jobs were added", waiting(jobs.clone()).await? - before);
    }
    let enqueued = take_order(&pool, &jobs, "a chair", true).await?;
    println!("committed:   job {}", enqueued.id());

    let worker = jobs.worker().state(pool.clone()).only::<confirm_order>().start().await?;
    let output = loop {
        let record = jobs.find(enqueued.id()).await?;
        if record.state.is_final() {
            break record.output;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    println!("done:        {}", output.map(|text| text.to_string()).unwrap_or_default());
    worker.drain().await;
    Ok(())
}
