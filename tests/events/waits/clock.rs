//! Waits and lifetimes under a clock that the test moves.

use super::{happened, key, wait_three_days};
use jobs::{Outcome, State, prelude::*, testing::Harness, timeline::StepState};

fn harness() -> Harness {
    Harness::new().expect("the jobs of this program fit together")
}

#[tokio::test]
async fn a_wait_that_times_out_gives_none() {
    let app = harness();
    let run = app.run::<wait_three_days>(key(1)).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("71h");
    assert!(app.drain().await.is_empty());
    app.clock().advance("1h");
    assert_eq!(app.drain().await.len(), 1);
    assert_eq!(app.output::<Option<String>>(run.job).await, None);
    let shown = app.jobs().timeline(run.job).await.unwrap();
    assert_eq!(shown.step("first").unwrap().state, StepState::TimedOut);
    // What comes then is nobody's.
    happened("late").publish(app.jobs(), 1).await.unwrap();
    assert!(app.drain().await.is_empty());
    assert_eq!(app.state_of(run.job).await, State::Completed);
}

#[tokio::test]
async fn an_event_before_the_end_of_the_wait_is_taken_also_by_a_run_that_resumes_long_after() {
    let app = harness();
    let run = app.run::<wait_three_days>(key(1)).await;
    app.clock().advance("71h");
    happened("in time").publish(app.jobs(), 1).await.unwrap();
    app.clock().advance("5d");
    happened("too late").publish(app.jobs(), 1).await.unwrap();
    app.drain().await;
    assert_eq!(app.output::<Option<String>>(run.job).await.as_deref(), Some("in time"));
}

#[tokio::test]
async fn an_event_that_has_expired_is_not_found() {
    let app = harness();
    happened("over").publish(app.jobs(), 1).ttl("1h").await.unwrap();
    happened("still there").publish(app.jobs(), 1).ttl("3h").await.unwrap();
    app.clock().advance("1h");
    let run = app.run::<wait_three_days>(key(1)).await;
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(app.output::<Option<String>>(run.job).await.as_deref(), Some("still there"));
    let next = app.run::<wait_three_days>(key(1)).await;
    assert_eq!(
        app.output::<Option<String>>(next.job).await.as_deref(),
        Some("still there"),
        "each run takes for itself"
    );
    app.clock().advance("2h");
    assert_eq!(app.run::<wait_three_days>(key(1)).await.outcome, Outcome::Parked);
}

#[tokio::test]
async fn a_wait_of_days_is_shown_with_its_event_and_its_end() {
    let app = harness();
    let run = app.run::<wait_three_days>(key(1)).await;
    let shown = app.jobs().timeline(run.job).await.unwrap();
    let until = shown.job.due_at;
    let StepState::Waiting(waits) = &shown.step("first").unwrap().state else { panic!("{shown:?}") };
    let text = serde_json::to_value(waits).unwrap();
    assert_eq!((text["event"].as_str(), text["event_key"].as_str()), (Some("thing.happened"), Some("1")));
    assert_eq!(text["until"], serde_json::to_value(until).unwrap());
}
