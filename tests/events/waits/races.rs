//! An event at the very moment at which its run decides to go on without it.

use super::{Happened, happened, key, output, wait_a_moment, worker};
use crate::fixtures::{on_both, settled};
use futures_util::{StreamExt, stream};
use jobs::{Event, Jobs, State, driver::StepKind};
use std::time::Duration;

/// One run that waits for 5 ms, and its event at about that time. Says whether the run has taken it.
async fn round(jobs: &Jobs, n: u64) -> bool {
    let run = wait_a_moment::enqueue(jobs, key(n)).await.unwrap().id();
    tokio::time::sleep(Duration::from_micros(n * 7_919 % 20_000)).await;
    let published = happened(n).publish(jobs, n).await.expect("an event is never refused for what its run does");
    let record = settled(jobs, run).await;
    assert_eq!((record.state, record.attempt), (State::Completed, 1), "{record:?}");
    let output: Option<String> = output(&record);
    let records = jobs.driver().steps(run).await.unwrap();
    let waits: Vec<_> = records.iter().filter(|record| record.kind == StepKind::Wait).collect();
    assert_eq!(waits.len(), 1);
    // Either the run has it, or it ended without: what the record says is what the body got.
    assert_eq!(waits[0].event, output.as_ref().map(|_| published.id));
    assert!(output.is_none_or(|output| output == n.to_string()));
    waits[0].event.is_some()
}

#[tokio::test]
async fn an_event_as_the_run_gives_up_is_either_taken_or_left_and_never_both() {
    let (_db, both) = on_both().await;
    for (jobs, rounds) in both.into_iter().zip([1_000, 500]) {
        let worker = worker(&jobs).await;
        let taken: Vec<bool> = stream::iter(0..rounds).map(|n| round(&jobs, n)).buffer_unordered(8).collect().await;
        let (got, left) = (taken.iter().filter(|taken| **taken).count(), taken.iter().filter(|taken| !**taken).count());
        println!("{jobs:?}: {got} events taken, {left} left");
        assert!(got > 0 && left > 0, "the moments do not meet: {got} and {left}");
        let stored = jobs.events::<Happened>().await.unwrap().len();
        assert_eq!(stored as u64, rounds.min(1_000), "an event stays for who comes later");
        worker.drain().await;
    }
}
