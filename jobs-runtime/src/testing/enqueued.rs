//! Asserts which jobs are enqueued, with their inputs typed. Upstream: tests. Downstream: `client`.

use crate::{
    client::Jobs,
    driver::{JobRecord, ListFilter},
    job::Job,
    json::JsonText,
    state::State,
};

/// A job that waits or is ready, with its input.
#[derive(Debug)]
#[non_exhaustive]
pub struct Waiting<J: Job> {
    /// The input.
    pub input: J::Input,
    /// All that is stored of the job.
    pub record: JobRecord,
}

/// The jobs of one kind that wait or are ready, oldest first. Running and ended ones are not among them.
///
/// # Panics
/// If the store does not answer, or a stored input does not decode.
pub async fn enqueued<J: Job>(jobs: &Jobs) -> Vec<Waiting<J>> {
    let mut found = Vec::new();
    for record in waiting(jobs, J::SPEC.name).await {
        let decoded = JsonText::decode::<J::Input>(&record.payload);
        let input = decoded.unwrap_or_else(|error| panic!("job {} of `{}`: {error}", record.id, J::SPEC.name));
        found.push(Waiting { input, record });
    }
    found
}

/// Asserts that a job of the kind is enqueued whose input is as wanted, and gives the oldest such.
///
/// # Panics
/// If there is none, naming what is enqueued instead; and as [`enqueued`].
pub async fn assert_enqueued<J: Job>(jobs: &Jobs, wanted: impl Fn(&J::Input) -> bool) -> Waiting<J> {
    let mut seen = Vec::new();
    for job in enqueued::<J>(jobs).await {
        if wanted(&job.input) {
            return job;
        }
        seen.push(job.record.payload.to_string());
    }
    if seen.is_empty() {
        panic!("no job of `{}` is enqueued", J::SPEC.name);
    }
    panic!("no job of `{}` is enqueued as wanted, but these are:\n{}", J::SPEC.name, seen.join("\n"));
}

/// Asserts that no job of the kind is enqueued whose input is as described.
///
/// # Panics
/// If there is one, showing it; and as [`enqueued`].
pub async fn refute_enqueued<J: Job>(jobs: &Jobs, unwanted: impl Fn(&J::Input) -> bool) {
    let found = enqueued::<J>(jobs).await.into_iter().find(|job| unwanted(&job.input));
    if let Some(job) = found {
        panic!("job {} of `{}` is enqueued: {}", job.record.id, J::SPEC.name, job.record.payload);
    }
}

/// The records of a kind that wait or are ready, oldest first.
async fn waiting(jobs: &Jobs, kind: &str) -> Vec<JobRecord> {
    let mut all = Vec::new();
    for state in [State::Delayed, State::Ready] {
        let mut before = None;
        loop {
            let filter = ListFilter {
                state: Some(state),
                kind: Some(kind.to_owned()),
                before,
                limit: 200,
                ..ListFilter::default()
            };
            let page = jobs.list(filter).await.unwrap_or_else(|error| panic!("the store lists no jobs: {error}"));
            let Some(last) = page.last() else { break };
            before = Some(last.id);
            all.extend(page);
        }
    }
    all.sort_by_key(|record| record.id);
    all
}
