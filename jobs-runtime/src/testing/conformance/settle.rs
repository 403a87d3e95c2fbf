//! Ends and progress: what a worker writes about jobs that it holds.

use super::{
    Fixture, HandWorker,
    hand::{again, failure, finish},
    job,
};
use crate::{
    driver::{Change, Claimed, Fence, Finish, NewJob, Progress, Token, Write, Written},
    json::JsonText,
    state::State,
};
use std::time::Duration;

fn write(claimed: &Claimed, change: Change) -> Write {
    Write { fence: claimed.fence, change }
}

fn progress(done: u64, total: Option<u64>) -> Progress {
    Progress { done, total, message: format!("{done} \"rows\" \\ \u{1F980} geladen") }
}

/// A completed job keeps its output, and says when it ended.
pub async fn a_completed_job_keeps_its_output(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let claimed = worker.claim_one().await;
    let output = Some(JsonText::trusted(r#"{"z":18446744073709551615,"a":0.1}"#));
    let end = Finish { output: output.clone(), ..finish(State::Completed) };
    assert!(matches!(worker.write(&claimed, Change::Finish(end)).await, Written::Landed));
    let record = store.record(id).await;
    assert_eq!((record.state, record.output, record.attempt), (State::Completed, output, 1));
    assert!(record.finished_at.is_some_and(|end| end >= record.created_at));
    assert_eq!((record.due_at, record.failure), (None, None));
}

/// Each end is recorded as the worker says it, with its failure.
pub async fn each_end_is_recorded(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for end in State::ALL.into_iter().filter(|state| state.is_final()) {
        let id = store.insert(job()).await;
        let claimed = worker.claim_one().await;
        worker.finish(&claimed, end).await;
        let record = store.record(id).await;
        assert_eq!((record.state, record.failure), (end, finish(end).failure));
        assert_eq!(worker.claim(1).await.len(), 0, "it never runs again");
        assert_eq!(store.driver().held(worker.id).await.expect("held answers"), []);
    }
}

/// Writes that go together are answered in their order, each on its own.
pub async fn writes_are_answered_in_input_order(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let jobs: Vec<NewJob> = (0..6).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    let held = worker.claim(6).await;
    store.driver().cancel(held[4].fence.job).await.expect("a cancel answers");
    let stale = Fence { token: Token(-1), ..held[0].fence };
    let written = worker
        .commit(&[
            Write { fence: stale, change: Change::Finish(finish(State::Completed)) },
            write(&held[1], Change::Progress(progress(1, None))),
            write(&held[2], Change::Reschedule(again(1, Duration::ZERO))),
            write(&held[4], Change::Reschedule(again(1, Duration::ZERO))),
            write(&held[3], Change::Finish(finish(State::Dead))),
            write(&held[5], Change::Reschedule(again(2, Duration::from_secs(9)))),
            write(&held[0], Change::Finish(finish(State::Completed))),
        ])
        .await;
    use Written::{Cancelled, Landed, Stale};
    assert!(matches!(written[..], [Stale, Landed, Landed, Cancelled, Landed, Landed, Landed]), "{written:?}");
    let mut states = Vec::new();
    for claimed in &held {
        states.push(store.state(claimed.fence.job).await);
    }
    assert_eq!(states, [State::Completed, State::Running, State::Ready, State::Dead, State::Cancelled, State::Delayed]);
}

/// A thousand writes go in one call.
pub async fn a_thousand_writes_go_together(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let jobs: Vec<NewJob> = (0..1_000).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    let writes: Vec<Write> = worker
        .claim(1_000)
        .await
        .iter()
        .map(|claimed| {
            let output = Some(JsonText::trusted(format!("\"{}\"", claimed.fence.job)));
            write(claimed, Change::Finish(Finish { output, ..finish(State::Completed) }))
        })
        .collect();
    let written = worker.commit(&writes).await;
    assert!(written.iter().all(|written| matches!(written, Written::Landed)));
    for job in jobs.iter().step_by(97) {
        let record = store.record(job.id).await;
        assert_eq!(record.output.map(|output| output.to_string()), Some(format!("\"{}\"", job.id)));
    }
}

/// Nothing to write is nothing to answer.
pub async fn an_empty_commit_answers_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    assert_eq!(worker.commit(&[]).await.len(), 0);
}

/// Two writes about one job in one call land in their order: progress, then the end; an end, then nothing more.
pub async fn writes_about_one_job_land_in_order(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.enqueue(&[job(), job()]).await;
    let held = worker.claim(2).await;
    let written = worker
        .commit(&[
            write(&held[0], Change::Progress(progress(1, Some(2)))),
            write(&held[1], Change::Finish(finish(State::Completed))),
            write(&held[0], Change::Progress(progress(2, Some(2)))),
            write(&held[0], Change::Finish(finish(State::Completed))),
            write(&held[1], Change::Reschedule(again(1, Duration::ZERO))),
        ])
        .await;
    use Written::{Landed, Stale};
    assert!(matches!(written[..], [Landed, Landed, Landed, Landed, Stale]), "{written:?}");
    for claimed in &held {
        assert_eq!(store.state(claimed.fence.job).await, State::Completed);
    }
}

/// Progress is kept exactly, and replaced by the next.
pub async fn progress_is_kept_and_replaced(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let id = store.insert(job()).await;
    let claimed = worker.claim_one().await;
    assert_eq!(store.record(id).await.progress, None);
    for report in [progress(0, None), progress(7, Some(9)), progress(u64::MAX, Some(u64::MAX)), progress(2, Some(1))] {
        assert!(matches!(worker.write(&claimed, Change::Progress(report.clone())).await, Written::Landed));
        let record = store.record(id).await;
        assert_eq!((record.progress, record.state), (Some(report), State::Running));
    }
}

/// One write that the store cannot take does not stop the others, and leaves its own job held.
pub async fn one_bad_write_does_not_stop_the_rest(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    store.enqueue(&[job(), job(), job()]).await;
    let held = worker.claim(3).await;
    let bad = Finish { failure: Some(failure("a\0b")), ..finish(State::Dead) };
    let written = worker
        .commit(&[
            write(&held[0], Change::Finish(finish(State::Completed))),
            write(&held[1], Change::Finish(bad)),
            write(&held[2], Change::Finish(finish(State::Dead))),
        ])
        .await;
    assert!(matches!((&written[0], &written[2]), (Written::Landed, Written::Landed)), "{written:?}");
    let state = store.state(held[1].fence.job).await;
    match &written[1] {
        Written::Landed => assert_eq!(state, State::Dead),
        Written::Refused(_) => {
            assert_eq!(state, State::Running);
            worker.finish(&held[1], State::Dead).await;
        }
        other => panic!("it lands or is refused, not {other:?}"),
    }
}

/// Failure texts come back as they were written, whatever legal text they hold.
pub async fn hostile_failure_texts_are_kept(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let long = "ä".repeat(2_048);
    for text in
        ["", "\u{1}\u{1b}[31m\r\n\t", "'; DROP TABLE jobs; --", "\\x00 \\u0000 {}\"", "\u{10FFFF}\u{202E}", &long]
    {
        let id = store.insert(job()).await;
        let claimed = worker.claim_one().await;
        let mut record = failure(text);
        record.code = "X_CARD_DECLINED".to_owned();
        record.caller_fix = Some(text.to_owned());
        let end = Finish { failure: Some(record.clone()), ..finish(State::Dead) };
        assert!(matches!(worker.write(&claimed, Change::Finish(end)).await, Written::Landed), "{text:?}");
        assert_eq!(store.record(id).await.failure, Some(record));
    }
}
