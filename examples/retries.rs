//! What an error can ask for: a retry, a retry after a given time, no retry, a later run that counts as no attempt.
//!
//! ```text
//! cargo run --example retries
//! ```

use jobs::prelude::*;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Weather {
    /// Fails twice, then works.
    Flaky,
    /// Says when to come again.
    Busy,
    /// Never works.
    Down,
    /// Refuses for good.
    Refused,
    /// Panics.
    Panics,
    /// Is not there yet: no failure.
    NotYet,
}

#[derive(Debug, thiserror::Error, JobError)]
enum GatewayError {
    #[error("the connection was reset")]
    Reset,
    #[error("too many requests")]
    #[job_error(retry = after("150ms"))]
    Busy,
    /// the gateway refused the invoice
    #[error("the gateway refused the invoice: unknown tax id")]
    #[job_error(retry = terminal, code = "X_INVOICE_REFUSED", caller_fix = "check the tax id")]
    Refused,
}

/// Sends an invoice through a gateway.
#[job(tenant = none, retry(max_attempts = 3, backoff = exponential("100ms", max = "1s")))]
async fn send_invoice(ctx: &Ctx, input: Weather) -> Result<&'static str, Failure> {
    match input {
        Weather::Flaky if ctx.attempt() < 3 => Err(GatewayError::Reset)?,
        Weather::Busy if ctx.attempt() < 2 => Err(GatewayError::Busy)?,
        Weather::Down => Err(GatewayError::Reset)?,
        Weather::Refused => Err(GatewayError::Refused)?,
        Weather::Panics => panic!("index out of bounds: the len is 0"),
        // Asks for a later run without counting an attempt, until the job is 200 ms old.
        Weather::NotYet if age(ctx) < Duration::from_millis(200) => {
            return Err(Failure::snooze(Duration::from_millis(100)));
        }
        _ => {}
    }
    Ok("sent")
}

fn age(ctx: &Ctx) -> Duration {
    (chrono::Utc::now() - ctx.created_at()).to_std().unwrap_or_default()
}

#[tokio::main]
async fn main() -> Result<(), jobs::Error> {
    std::panic::set_hook(Box::new(|_| {})); // The panic is on the job's record; the example needs no second copy.
    let jobs = Jobs::memory()?;
    let started = Instant::now();
    let cases = [Weather::Flaky, Weather::Busy, Weather::Down, Weather::Refused, Weather::Panics, Weather::NotYet];
    let enqueued = send_invoice::enqueue_many(&jobs, cases).await?;
    // A call can differ from the declaration.
    let hurried = send_invoice::enqueue(&jobs, Weather::Flaky).max_attempts(1).await?;

    let reported = |report: &jobs::Report| println!("reported to on_error: {} ({})", report.text, report.code);
    let worker = jobs.worker().on_error(reported).start().await?;
    let mut records = Vec::new();
    for job in enqueued.iter().chain([&hurried]) {
        records.push(settled(&jobs, *job).await?);
    }
    worker.drain().await;

    println!("\n{:<20} {:<10} attempt  last failure", "weather", "state");
    for (case, record) in
        cases.iter().map(|case| format!("{case:?}")).chain(["Flaky, one attempt".to_owned()]).zip(records)
    {
        let failure = record.failure.map_or("none".to_owned(), |failure| match failure.stop {
            Some(stop) => format!("{} ({stop:?})", failure.operator),
            None => failure.operator,
        });
        println!("{case:<20} {:<10} {:<8} {failure}", record.state.as_str(), record.attempt);
    }

    // A dead job is kept for an operator: with the cause mended, it runs again with its stored payload.
    let dead = jobs.list(jobs::driver::ListFilter { state: Some(State::Dead), ..Default::default() }).await?;
    for job in &dead {
        jobs.requeue(job.id).await?;
    }
    println!("\n{} dead jobs were requeued; after {} ms", dead.len(), started.elapsed().as_millis());
    Ok(())
}

/// Waits until a job has settled.
async fn settled(jobs: &Jobs, job: Enqueued) -> Result<jobs::driver::JobRecord, jobs::Error> {
    loop {
        let record = jobs.find(job.id()).await?;
        if record.state.is_final() {
            return Ok(record);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
