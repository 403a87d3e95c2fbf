//! A worker that is told to stop: short runs finish, long ones are handed back uncounted, nothing is lost.
//!
//! ```text
//! cargo run --example graceful_shutdown
//! ```
//! A service writes `worker.run_until_signal().await` instead: SIGTERM and Ctrl-C begin the same drain.

use jobs::{CancelReason, prelude::*};
use std::time::{Duration, Instant};

#[derive(Debug, Serialize, Deserialize)]
struct Render {
    film: String,
    frames: u64,
}

/// Renders a film, 20 ms a frame. It looks at the wish to stop between two frames, so that it ends within the grace.
#[job(queue = "render", tenant = none)]
async fn render(ctx: &Ctx, input: Render) -> Result<(), Failure> {
    for frame in 1..=input.frames {
        if ctx.is_cancelled() {
            let why = ctx.cancel_reason();
            println!("  {} stops at frame {frame} of {} ({why:?})", input.film, input.frames);
            return match why {
                // Whatever a body returns when it was interrupted, the run is handed back and counts as no attempt.
                Some(CancelReason::Drain) => Err(Failure::retry("interrupted")),
                _ => Err(Failure::cancel("somebody asked for it")),
            };
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        ctx.progress(frame, input.frames, "rendering");
    }
    println!("  {} is done in attempt {}", input.film, ctx.attempt());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), jobs::Error> {
    let jobs = Jobs::memory()?;
    let film = |film: &str, frames| Render { film: film.to_owned(), frames };
    let films = [film("short", 8), film("medium", 15), film("long", 60), film("next", 5)];
    let enqueued = render::enqueue_many(&jobs, films).await?;

    println!("a worker begins three films, and is told to stop after 100 ms");
    let worker = jobs.worker().queue("render", 3).drain_grace("250ms").start().await?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let asked = Instant::now();
    worker.drain().await;
    println!("it has stopped after {} ms:", asked.elapsed().as_millis());
    report(&jobs, &enqueued).await?;

    println!("another worker takes over");
    let worker = jobs.worker().start().await?;
    for job in &enqueued {
        while !jobs.find(job.id()).await?.state.is_final() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    worker.drain().await;
    report(&jobs, &enqueued).await
}

async fn report(jobs: &Jobs, enqueued: &[Enqueued]) -> Result<(), jobs::Error> {
    for job in enqueued {
        let record = jobs.find(job.id()).await?;
        let input: Render = record
            .payload
            .decode()
            .map_err(|error| jobs::Error::new(jobs::error::code::PAYLOAD_UNREADABLE, error.to_string()))?;
        println!("  {:<7} {:<10} attempt {}", input.film, record.state.as_str(), record.attempt);
    }
    Ok(())
}
