//! What happens when a job has settled: a follow-up job that no crash can lose, and a hook that may be lost.
//!
//! ```text
//! cargo run --example follow_up_jobs
//! ```

use jobs::prelude::*;
use std::time::Duration;

#[derive(Debug, Serialize, Deserialize)]
struct Charge {
    org: String,
    cents: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Charged {
    payment: String,
}

/// Charges a card. `then` is written in the statement that completes the job, `on_dead` in the one that buries it.
#[job(
    tenant = input.org,
    retry(max_attempts = 2, backoff = fixed("50ms")),
    then = send_receipt,
    on_dead = tell_support,
    on_settled = count,
)]
async fn charge(_ctx: &Ctx, input: Charge) -> Result<Charged, Failure> {
    if input.cents == 0 {
        return Err(Failure::terminal("there is nothing to charge"));
    }
    Ok(Charged { payment: format!("pay-{}", input.cents) })
}

/// Runs after the commit, at most once, for a few seconds at most: for metrics and caches, not for what must happen.
async fn count(_ctx: &Ctx, settled: Settled) -> Result<(), Failure> {
    println!("hook:     `{}` ended as {}", settled.job, settled.state);
    Ok(())
}

/// A receipt's input is made from what settled.
#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    org: String,
    payment: String,
}

impl From<Settled> for Receipt {
    fn from(settled: Settled) -> Self {
        let charged = settled.output.and_then(|output| output.decode::<Charged>().ok());
        Self {
            org: settled.tenant.unwrap_or_default(),
            payment: charged.map(|charged| charged.payment).unwrap_or_default(),
        }
    }
}

/// Sends a receipt.
#[job(tenant = input.org)]
async fn send_receipt(ctx: &Ctx, input: Receipt) -> Result<(), Failure> {
    println!("then:     a receipt for {} goes to {}", input.payment, ctx.tenant().unwrap_or("nobody"));
    Ok(())
}

/// Tells support. Its input is what settled, as it is.
#[job(tenant = input.tenant)]
async fn tell_support(_ctx: &Ctx, input: Settled) -> Result<(), Failure> {
    let failure = input.failure.map(|failure| failure.operator).unwrap_or_default();
    println!("on_dead:  job {} of {:?} died of: {failure}", input.id, input.tenant.unwrap_or_default());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), jobs::Error> {
    let jobs = Jobs::memory()?;
    let worker = jobs.worker().start().await?;
    for cents in [1_250, 0] {
        let job = charge::enqueue(&jobs, Charge { org: "acme".to_owned(), cents }).await?;
        println!("enqueued: a charge of {cents} as job {}", job.id());
    }
    // Two charges, one receipt, one message to support.
    loop {
        let records = jobs.list(Default::default()).await?;
        if records.len() == 4 && records.iter().all(|record| record.state.is_final()) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    worker.drain().await;
    println!("{}", jobs.registry());
    Ok(())
}
