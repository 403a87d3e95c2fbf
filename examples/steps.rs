//! Steps: what is done is kept, so that a failure later in the body does not do it again.
//!
//! ```text
//! cargo run --example steps
//! ```

use jobs::prelude::*;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
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

/// How often each thing was done.
#[derive(Default)]
struct Shop {
    held: AtomicU32,
    charged: AtomicU32,
    posted: AtomicU32,
}

impl Shop {
    async fn charge(&self, cents: u64, key: &str) -> Result<Payment, std::io::Error> {
        println!("  charges {cents} cents, under the key {key}");
        self.charged.fetch_add(1, SeqCst);
        Ok(Payment { id: format!("pay-{cents}") })
    }

    async fn post(&self) -> Result<(), std::io::Error> {
        let before = self.posted.fetch_add(1, SeqCst);
        println!("  takes the parcel to the post, the {}. time", before + 1);
        if before < 2 { Err(std::io::Error::other("the post is closed")) } else { Ok(()) }
    }
}

/// Holds stock, charges, posts. A step that is done gives what it gave: it does not run again.
#[job(tenant = input.org, needs(Arc<Shop>), retry(max_attempts = 5, backoff = fixed("50ms")))]
async fn place_order(ctx: &Ctx, input: Order) -> Result<String, Failure> {
    println!("attempt {}", ctx.attempt());
    let shop: &Arc<Shop> = ctx.state()?;

    step!(ctx, "hold stock", async {
        println!("  holds stock");
        shop.held.fetch_add(1, SeqCst);
        Ok(())
    })
    .await?;

    // The key is the same each time that this step runs: a bank that takes it charges once, whatever happens between.
    let payment: Payment =
        step!(ctx, "charge", async { shop.charge(input.cents, &ctx.idempotency_key("charge")).await }).await?;

    // The run is parked meanwhile, and holds nothing.
    sleep!(ctx, "let it settle", "100ms").await;

    step!(ctx, "post", async { shop.post().await }).await?;
    Ok(payment.id)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jobs = Jobs::memory()?;
    let shop = Arc::new(Shop::default());
    let order = place_order::enqueue(&jobs, Order { org: "acme".to_owned(), cents: 4_200 }).await?;
    let worker = jobs.worker().state(shop.clone()).start().await?;
    let record = loop {
        let record = jobs.find(order.id()).await?;
        if record.state.is_final() {
            break record;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    worker.drain().await;

    println!("{} after {} attempts:", record.state, record.attempt);
    for step in jobs.timeline(order.id()).await?.steps {
        println!("  {:<14} {:?}", step.name, step.state);
    }
    assert_eq!((record.state, record.attempt), (State::Completed, 3));
    let done = [&shop.held, &shop.charged, &shop.posted].map(|count| count.load(SeqCst));
    assert_eq!(done, [1, 1, 3], "held and charged once, posted until it went well");
    Ok(())
}
