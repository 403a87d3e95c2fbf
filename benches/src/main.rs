//! Measures the system beside what bare SQL can do on the same server in the same run.
//! Run by `./dev bench [NAME..] [--json FILE]`, which sets `DATABASE_URL`.

mod args;
mod build_cost;
mod conditions;
mod database;
mod driver;
mod enqueue;
mod events;
mod limit;
mod report;
mod steps;
mod subject;
mod work;

use args::Args;
use report::Report;
use std::{process::ExitCode, time::Duration};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How often each figure is taken; the table shows the median.
const RUNS: usize = 3;

/// The time between two measurements of an idle queue.
const PAUSE: Duration = Duration::from_millis(10);

/// The benchmarks and what they measure.
const BENCHES: &[(&str, &str)] = &[
    ("enqueue_1", "one job at a time, each acknowledged before the next; limit: INSERT"),
    ("enqueue_many", "1,000 jobs a call; limit: COPY"),
    ("drain", "20,000 jobs that do nothing, from the worker's start; limit: claim and acknowledge by plain SQL"),
    ("claims", "100,000 jobs that do nothing, claimed and completed by the driver alone; limit: the same by plain SQL"),
    ("latency", "from the enqueue's return to the body on an idle queue; limit: insert and notify, listen and claim"),
    ("steps", "1,000 jobs of 10 steps that do nothing; limit: single-row commits"),
    ("replay", "a wake-up of a run with 1,000 completed steps, and of one with 1"),
    ("events", "publications by 16 at once that wake a run each, and from there to the body; limit: that wake nobody"),
    ("idle", "statements of a worker with nothing to do"),
    ("build", "clean debug build of a user's crate; limit: the same crate on tokio, sqlx, serde and schemars alone"),
];

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1), BENCHES) {
        Ok(args) => args,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn run(args: &Args) -> Outcome {
    let mut report = Report::new(conditions::read().await?);
    println!("{}", report.conditions());
    for name in &args.names {
        match name.as_str() {
            "enqueue_1" => enqueue::one(&mut report).await?,
            "enqueue_many" => enqueue::many(&mut report).await?,
            "drain" => work::drain(&mut report).await?,
            "claims" => driver::claims(&mut report).await?,
            "latency" => work::latency(&mut report).await?,
            "steps" => steps::steps(&mut report).await?,
            "replay" => steps::replay(&mut report).await?,
            "events" => events::events(&mut report).await?,
            "idle" => work::idle(&mut report).await?,
            "build" => build_cost::measure(&mut report)?,
            other => return Err(format!("no benchmark is called {other}").into()),
        }
        report.print(name);
    }
    if let Some(file) = &args.json {
        std::fs::write(file, report.json())?;
    }
    Ok(())
}
