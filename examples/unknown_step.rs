//! A `once` step is killed in the middle: nobody knows whether it took effect, so it does not run again. A person finds
//! out and answers.
//!
//! ```text
//! cargo run --example unknown_step
//! ```

use jobs::{
    Outcome, Resolution,
    prelude::*,
    testing::{Harness, Rig},
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

#[derive(Debug, Serialize, Deserialize)]
struct Order {
    org: String,
    cents: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Payment {
    id: String,
}

/// Stands for a bank that takes the money and never answers.
#[derive(Clone, Default)]
struct Bank {
    charges: Arc<AtomicU32>,
}

impl Bank {
    async fn charge(&self, cents: u64) -> Result<Payment, Failure> {
        println!("  the bank charges {cents} cents, and does not answer");
        self.charges.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }
}

/// Charges once, whatever happens.
#[job(tenant = input.org)]
async fn charge_order(ctx: &Ctx, input: Order) -> Result<String, Failure> {
    let bank: Bank = ctx.state::<Bank>()?.clone();
    let paid: Payment = step!(ctx, "charge", once, async { bank.charge(input.cents).await }).await?;
    compensate!(ctx, "charge", [paid], async move |_ctx| {
        println!("  refunded {}", paid.id);
        Ok(())
    });
    step!(ctx, "receipt", async {
        println!("  a receipt for {}", paid.id);
        Ok(())
    })
    .await?;
    Ok(paid.id)
}

/// A job whose process was killed within its step, and what the next process makes of it.
async fn killed(app: &Harness, bank: &Bank) -> Result<jobs::JobId, Box<dyn std::error::Error>> {
    let order = Order { org: "acme".to_owned(), cents: 4_200 };
    let job = charge_order::enqueue(app.jobs(), order).await?.id();
    let charged = bank.charges.load(Ordering::SeqCst);
    let process = Rig::of(app.jobs()).state(bank.clone()).start().await?;
    tokio::select! {
        ended = process.next() => return Err(format!("the bank answered: {ended:?}").into()),
        () = async { while bank.charges.load(Ordering::SeqCst) == charged { tokio::task::yield_now().await } } => {}
    }
    drop(process); // It ends as one that is killed: its lease lapses, another process takes the job over.
    app.clock().advance("2h");
    app.jobs().driver().rescue().await?;

    let run = app.attempt(job).await;
    println!("  {}: {}", run.outcome, run.error.map_or_else(String::new, |error| error.operator));
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("7d");
    assert!(app.drain().await.is_empty(), "no time makes it run again");
    Ok(job)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bank = Bank::default();
    let app = Harness::new()?.state(bank.clone());

    println!("Killed while it charges; the bank's books show the payment:");
    let job = killed(&app, &bank).await?;
    app.jobs().resolve_step(job, "charge", Resolution::done(&Payment { id: "P-1".to_owned() })?).await?;
    app.drain().await;
    assert_eq!(app.output::<String>(job).await, "P-1");

    println!("Killed again; the bank's books show nothing:");
    let job = killed(&app, &bank).await?;
    app.jobs().resolve_step(job, "charge", Resolution::Failed("the bank knows of no payment".to_owned())).await?;
    app.drain().await;
    let record = app.find(job).await;
    println!("  the job is {}: {}", record.state, record.failure.map_or_else(String::new, |failure| failure.operator));
    assert_eq!(record.state, State::Dead);

    println!("Killed again, and the order is to be undone: that waits for the answer, too:");
    let job = killed(&app, &bank).await?;
    app.jobs().roll_back(job).await?;
    app.drain().await;
    let failure = app.find(job).await.failure.ok_or("a dead job has its failure")?;
    println!("  {}", failure.operator);
    assert_eq!(failure.code, "X_JOB_COMPENSATION_FAILED");
    app.jobs().resolve_step(job, "charge", Resolution::done(&Payment { id: "P-3".to_owned() })?).await?;
    app.jobs().resume(job).await?;
    app.drain().await;
    assert_eq!(app.state_of(job).await, State::Cancelled);

    assert_eq!(bank.charges.load(Ordering::SeqCst), 3, "each order was charged once");
    Ok(())
}
