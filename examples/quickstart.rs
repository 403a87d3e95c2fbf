//! The whole story in a second: declare a job, enqueue it, see it fail, be retried, and complete.
//!
//! ```text
//! cargo run --example quickstart
//! DATABASE_URL=postgres://localhost/app cargo run --example quickstart     # the same on Postgres
//! ```

use jobs::prelude::*;
use std::time::{Duration, Instant};

/// What the job gets. It is stored as JSON.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct PlaceOrder {
    org: String,
    order: u32,
    cents: u64,
}

/// What a completed job returns. It is kept in the history.
#[derive(Debug, Serialize)]
struct Receipt {
    payment: String,
}

#[derive(Debug, thiserror::Error, JobError)]
enum OrderError {
    #[error("the bank did not answer")]
    BankSilent,
    /// the card was declined
    #[error("the card was declined")]
    #[job_error(code = "X_CARD_DECLINED", retry = terminal, caller_fix = "use another card")]
    Declined,
}

/// Charges an order.
#[job(
    queue = "orders",
    tenant = input.org,
    unique(by = [order], while = live),
    retry(max_attempts = 3, backoff = exponential("300ms", max = "10s")),
    timeout = "10s",
)]
async fn place_order(ctx: &Ctx, input: PlaceOrder) -> Result<Receipt, OrderError> {
    say("run", format!("order {} of {}, attempt {} of {}", input.order, input.org, ctx.attempt(), ctx.max_attempts()));
    // A bank that declines what is dear, and that answers only when asked a second time.
    if input.cents > 100_000 {
        return Err(OrderError::Declined);
    }
    if ctx.attempt() == 1 {
        say("fail", format!("order {}: {}; it is retried by itself", input.order, OrderError::BankSilent));
        return Err(OrderError::BankSilent);
    }
    Ok(Receipt { payment: format!("pay-{}", input.order) })
}

#[tokio::main]
async fn main() -> Result<(), jobs::Error> {
    let started = Instant::now();
    let jobs = match std::env::var("DATABASE_URL") {
        Ok(url) => Jobs::connect(&url).await?,
        Err(_) => Jobs::memory()?,
    };
    jobs.migrate(Migrate::ApplyAll).await?;
    say("store", jobs.driver().name());
    for job in jobs.registry().iter() {
        say("found", format!("`{}` for queue `{}`: {}", job.spec.name, job.spec.queue, job.spec.doc));
    }

    let order = |order, cents| PlaceOrder { org: "acme".to_owned(), order, cents };
    let cheap = place_order::enqueue(&jobs, order(7, 4_200)).await?;
    say("enqueue", format!("order 7 as job {}", cheap.id()));
    let again = place_order::enqueue(&jobs, order(7, 4_200)).await?;
    say(
        "enqueue",
        format!("order 7 again: {}", if again.is_inserted() { "a second job" } else { "it is the same job" }),
    );
    let dear = place_order::enqueue(&jobs, order(8, 900_000)).priority(10).await?;
    say("enqueue", format!("order 8 as job {}", dear.id()));

    let worker = jobs.worker().queue("orders", 10).start().await?;
    for job in [dear, cheap] {
        let record = settled(&jobs, job).await?;
        match (&record.output, &record.failure) {
            (Some(output), _) => say("done", format!("attempt {}: {output}", record.attempt)),
            (None, Some(failure)) => {
                say("dead", format!("attempt {}: {}", record.attempt, failure.operator));
                let caller = failure.for_caller(jobs.registry().codes());
                say("caller", format!("learns {} and: {}", caller.code, caller.caller_fix.unwrap_or_default()));
            }
            (None, None) => say("done", record.state),
        }
    }
    worker.drain().await;
    say("drained", format!("after {} ms, with nothing lost", started.elapsed().as_millis()));
    Ok(())
}

/// Waits until a job has settled.
async fn settled(jobs: &Jobs, job: Enqueued) -> Result<jobs::driver::JobRecord, jobs::Error> {
    loop {
        let record = jobs.find(job.id()).await?;
        if record.state.is_final() {
            return Ok(record);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn say(what: &str, text: impl std::fmt::Display) {
    println!("{what:>8}  {text}");
}
