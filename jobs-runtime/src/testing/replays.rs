//! Asserts that recorded runs fit the code of today. Upstream: tests. Downstream: `replay`.

use crate::{
    client::Jobs,
    replay::{Finding, ReplayEnd, Replayed, RunHistory},
};

/// Asserts that a recorded run can go on with the code of this process: each of its records fits.
///
/// Write a history down once, `serde_json::to_string(&jobs.history(job).await?)`, and keep it beside the test.
///
/// # Panics
/// With every finding, if there is one, or if the body awaits something outside of a step for longer than 10 s.
pub async fn assert_replays(jobs: &Jobs, history: RunHistory) -> Replayed {
    let kind = history.kind.clone();
    let replayed = jobs.replay(history).await.unwrap_or_else(|error| panic!("{error}"));
    let findings: Vec<String> = replayed.findings.iter().map(Finding::to_string).collect();
    assert!(findings.is_empty(), "the run {} of `{kind}` does not replay: {}", replayed.job, findings.join("; "));
    assert!(
        replayed.end != ReplayEnd::Stuck,
        "the run {} of `{kind}` awaits something outside of a step",
        replayed.job
    );
    replayed
}
