//! Jobs that belong to tenants: resolved from the input, checked before the body, ambient while it runs.
//!
//! ```text
//! cargo run --example tenants
//! ```

use jobs::prelude::*;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Invoice {
    org: String,
    number: u32,
}

/// A store that keeps each tenant's rows apart and asks the run for its tenant.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<BTreeMap<String, Vec<u32>>>>);

impl Ledger {
    /// Writes a row of the tenant that the current run belongs to. No caller can name another one.
    fn write(&self, number: u32) -> Result<(), Failure> {
        let ctx = Ctx::current().ok_or_else(|| Failure::terminal("called outside of a job"))?;
        let tenant = ctx.tenant().ok_or_else(|| Failure::terminal("the job has no tenant"))?;
        let mut rows = self.0.lock().map_err(|_| Failure::retry("the ledger is poisoned"))?;
        rows.entry(tenant.to_owned()).or_default().push(number);
        Ok(())
    }
}

/// Books an invoice of a tenant. One number is booked once per tenant.
#[job(tenant = input.org, unique(by = [number], while = forever), needs(Ledger))]
async fn book_invoice(ctx: &Ctx, input: Invoice) -> Result<(), Failure> {
    ctx.state::<Ledger>()?.write(input.number)
}

/// Counts the tenants. It belongs to none, and says so.
#[job(tenant = none, needs(Ledger))]
async fn count_tenants(ctx: &Ctx, _input: ()) -> Result<usize, Failure> {
    Ok(ctx.state::<Ledger>()?.0.lock().map_err(|_| Failure::retry("the ledger is poisoned"))?.len())
}

#[tokio::main]
async fn main() -> Result<(), jobs::Error> {
    let jobs = Jobs::memory()?;
    let ledger = Ledger::default();
    let worker = jobs.worker().state(ledger.clone()).start().await?;

    let invoice = |org: &str, number| Invoice { org: org.to_owned(), number };
    let batch = [invoice("acme", 1), invoice("globex", 1), invoice("acme", 2), invoice("acme", 1)];
    let answers = book_invoice::enqueue_many(&jobs, batch.clone()).await?;
    for (invoice, answer) in batch.iter().zip(&answers) {
        let what = if answer.is_inserted() { "is queued" } else { "is known already" };
        println!("invoice {} of {}: {what}", invoice.number, invoice.org);
    }

    // A request of one tenant cannot queue work for another, whatever its input says.
    let session_tenant = "globex";
    match book_invoice::enqueue(&jobs, invoice("acme", 3)).tenant(session_tenant).await {
        Err(refusal) => println!("refused: {refusal}"),
        Ok(_) => unreachable!("the tenants differ"),
    }
    // Nor is a blank tenant one.
    if let Err(refusal) = book_invoice::enqueue(&jobs, invoice(" ", 3)).await {
        println!("refused: {refusal}");
    }

    wait(&jobs, &answers).await?;
    let counted = count_tenants::enqueue(&jobs, ()).await?;
    wait(&jobs, &[counted]).await?;
    let output = jobs.find(counted.id()).await?.output;
    println!("booked for {} tenants:", output.map(|text| text.to_string()).unwrap_or_default());
    for (tenant, numbers) in ledger.0.lock().iter().flat_map(|rows| rows.iter()) {
        println!("  {tenant}: {}", numbers.len());
    }
    worker.drain().await;
    Ok(())
}

/// Waits until jobs have settled.
async fn wait(jobs: &Jobs, answers: &[Enqueued]) -> Result<(), jobs::Error> {
    for answer in answers {
        while !jobs.find(answer.id()).await?.state.is_final() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    Ok(())
}
