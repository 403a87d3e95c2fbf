//! A step that takes effect exactly once: its statements and its record are one transaction. It needs Postgres.
//!
//! ```text
//! DATABASE_URL=postgres://localhost/app cargo run --example exactly_once
//! ```

use jobs::prelude::*;
use sqlx::PgPool;
use std::time::Duration;

#[derive(Debug, Serialize, Deserialize)]
struct Transfer {
    from: String,
    to: String,
    cents: i64,
    /// How many attempts die after the money has moved.
    deaths: u32,
}

/// Moves money. Whatever fails after the step, and wherever its worker dies, the money moves once.
#[job(tenant = none, retry(max_attempts = 5, backoff = fixed("20ms")))]
async fn transfer(ctx: &Ctx, input: Transfer) -> Result<i64, Failure> {
    let left: i64 = step_tx!(ctx, "move money", async |tx| {
        let mut left = 0;
        for (account, change) in [(&input.from, -input.cents), (&input.to, input.cents)] {
            let balance =
                sqlx::query_scalar("UPDATE example_accounts SET cents = cents + $2 WHERE account = $1 RETURNING cents")
                    .bind(account)
                    .bind(change)
                    .fetch_one(tx.pg()?)
                    .await?;
            if account == &input.from {
                left = balance;
            }
        }
        // A job that is enqueued with `.in_tx(tx)`, or an event that is published so, is part of it, too.
        tell_owner::enqueue(ctx.jobs(), input.to.clone()).in_tx(tx).await?;
        Ok(left)
    })
    .await?;
    if ctx.attempt() <= input.deaths {
        return Err(Failure::retry("something else went wrong"));
    }
    Ok(left)
}

/// Tells the owner of an account that money has come.
#[job(tenant = none)]
async fn tell_owner(_ctx: &Ctx, _account: String) -> Result<(), Failure> {
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Ok(url) = std::env::var("DATABASE_URL") else {
        println!(
            "This example shows a Postgres transaction, so it needs a database. `./dev pg` prints the URL of one:"
        );
        println!("  DATABASE_URL=\"$(./dev pg)\" cargo run --example exactly_once");
        return Ok(());
    };
    let pool = PgPool::connect(&url).await?;
    sqlx::query("CREATE TABLE IF NOT EXISTS example_accounts (account text PRIMARY KEY, cents bigint NOT NULL)")
        .execute(&pool)
        .await?;
    let jobs = Jobs::postgres(pool.clone())?;
    jobs.migrate(Migrate::ApplyAll).await?;

    // Accounts of this run's own: 10 that give 100 cents each, and one that takes.
    let run = Uuid::now_v7();
    let account = |name: &str| format!("{run} {name}");
    let givers: Vec<String> = (0..10).map(|number| account(&number.to_string())).collect();
    for name in givers.iter().cloned().chain([account("all")]) {
        sqlx::query("INSERT INTO example_accounts (account, cents) VALUES ($1, 100)").bind(name).execute(&pool).await?;
    }
    let transfers = givers.iter().enumerate().map(|(number, from)| Transfer {
        from: from.clone(),
        to: account("all"),
        cents: 100,
        deaths: number as u32 % 4,
    });
    let enqueued = transfer::enqueue_many(&jobs, transfers).await?;

    let worker = jobs.worker().only::<transfer>().only::<tell_owner>().start().await?;
    let mut attempts = 0;
    for job in &enqueued {
        let record = loop {
            let record = jobs.find(job.id()).await?;
            if record.state.is_final() {
                break record;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        assert_eq!(record.state, State::Completed, "{:?}", record.failure);
        attempts += record.attempt;
    }
    worker.drain().await;

    let balance = |name: String| {
        sqlx::query_scalar::<_, i64>("SELECT cents FROM example_accounts WHERE account = $1")
            .bind(name)
            .fetch_one(&pool)
    };
    println!("10 transfers of 100 cents in {attempts} attempts: {} cents have come", balance(account("all")).await?);
    assert!(attempts > 10, "some attempts failed after the money had moved");
    assert_eq!(balance(account("all")).await?, 1_100);
    for giver in givers {
        assert_eq!(balance(giver).await?, 0);
    }
    Ok(())
}
