//! Children: a run that spawns other jobs, waits for all of them, and goes on with what they gave.
//!
//! ```text
//! cargo run --example fan_out
//! ```

use jobs::{Child, prelude::*, timeline::StepState};
use std::time::Duration;

#[derive(Debug, Serialize, Deserialize)]
struct Book {
    org: String,
    chapters: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Chapter {
    org: String,
    text: String,
}

/// Counts the words of one chapter. Any worker may run it.
#[job(tenant = input.org, queue = "chapters", retry(max_attempts = 3, backoff = fixed("20ms")))]
async fn count_words(ctx: &Ctx, input: Chapter) -> Result<usize, Failure> {
    if input.text.is_empty() {
        return Err(Failure::terminal("the chapter is empty"));
    }
    if ctx.attempt() == 1 {
        // A child has its own attempts; its parent does not notice.
        return Err(Failure::retry("the library is closed"));
    }
    Ok(input.text.split_whitespace().count())
}

/// Counts the words of a book. While its children run it is parked, and takes no slot of its queue.
#[job(tenant = input.org, queue = "books")]
async fn count_book(ctx: &Ctx, input: Book) -> Result<usize, Failure> {
    let mut children: Vec<Child<count_words>> = Vec::new();
    for (number, text) in input.chapters.into_iter().enumerate() {
        let chapter = Chapter { org: input.org.clone(), text };
        children.push(spawn!(ctx, "chapter", key = number, count_words, chapter).await?);
    }
    let mut words = 0;
    for child in children {
        words += child.join().await?;
    }
    Ok(words)
}

async fn ended(jobs: &Jobs, job: jobs::JobId) -> Result<jobs::driver::JobRecord, jobs::Error> {
    loop {
        let record = jobs.find(job).await?;
        if record.state.is_final() {
            return Ok(record);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn book(chapters: &[&str]) -> Book {
    Book { org: "acme".to_owned(), chapters: chapters.iter().map(|text| (*text).to_owned()).collect() }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jobs = Jobs::memory()?;
    let worker = jobs.worker().queue("books", 1).queue("chapters", 4).start().await?;

    let counted = count_book::enqueue(&jobs, book(&["call me", "the carpet bag", "nantucket"])).await?;
    let record = ended(&jobs, counted.id()).await?;
    println!("{}: {} words", record.state, record.output.as_ref().map(ToString::to_string).unwrap_or_default());
    assert_eq!(record.output.ok_or("a completed job has its output")?.decode::<usize>()?, 6);
    let timeline = jobs.timeline(counted.id()).await?;
    for step in &timeline.steps {
        let child = step.record.as_ref().and_then(|record| record.child).ok_or("a spawn has its child")?;
        println!("  {} {}: job {child}, {:?}", step.name, step.key.as_deref().unwrap_or_default(), step.state);
        assert_eq!(jobs.find(child).await?.parent, Some(counted.id()));
    }
    assert!(timeline.steps.iter().all(|step| step.state == StepState::Done), "{timeline:?}");

    // A child that fails for good fails who joins it, with the child's id and failure.
    let failed = count_book::enqueue(&jobs, book(&["one", ""])).await?;
    let record = ended(&jobs, failed.id()).await?;
    let failure = record.failure.ok_or("a dead job has its failure")?;
    println!("{}: {}", record.state, failure.operator);
    assert_eq!((record.state, failure.code.as_str()), (State::Dead, "X_CHILD_FAILED"));

    worker.drain().await;
    Ok(())
}
