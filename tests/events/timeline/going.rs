//! Steps of a run that goes forward.

use super::*;
use chrono::{Duration, Utc};
use jobs::timeline::WaitsFor;

#[tokio::test]
async fn of_a_job_that_has_not_run_every_step_is_to_come() {
    let shown = job(State::Ready, Stage::Fresh, 1).await.timeline().await;
    assert!(shown.has_outline);
    let expected = ["hold", "charge", "parcel", "shipped", "letter", "first", "pivot!", "cool down", "close"];
    assert_eq!(names(&shown), expected);
    assert!(shown.steps.iter().all(|step| step.state == StepState::ToCome && step.record.is_none()), "{shown:?}");
    assert_eq!(shown.steps.iter().map(|step| step.line).collect::<Vec<_>>()[..3], [Some(10), Some(12), Some(13)]);
    assert_eq!(undo(&shown, "hold"), UndoState::Declared);
    assert!(shown.step("charge").unwrap().undo.is_none());
}

#[tokio::test]
async fn of_a_running_job_the_next_step_runs() {
    let fresh = job(State::Running, Stage::Fresh, 1).await.timeline().await;
    assert_eq!(state(&fresh, "hold"), StepState::Running);
    assert_eq!(state(&fresh, "charge"), StepState::ToCome);
    let later = job(State::Running, Stage::Recorded, 1).await.step("hold", StepStatus::Done).timeline().await;
    assert_eq!(state(&later, "hold"), StepState::Done);
    assert_eq!(state(&later, "charge"), StepState::Running);
    assert_eq!(state(&later, "parcel"), StepState::ToCome);
    assert_eq!(undo(&later, "hold"), UndoState::Declared);
}

#[tokio::test]
async fn a_recorded_start_says_which_step_runs() {
    let run = job(State::Running, Stage::Recorded, 1).await.step("hold", StepStatus::Started).once();
    let shown = run.timeline().await;
    assert_eq!(state(&shown, "hold"), StepState::Running);
    assert_eq!(state(&shown, "charge"), StepState::ToCome);
}

#[tokio::test]
async fn a_step_whose_worker_died_is_interrupted_or_unknown() {
    for at_rest in [State::Ready, State::Suspended, State::Delayed, State::Dead] {
        let once = job(at_rest, Stage::Recorded, 1).await.step("hold", StepStatus::Started).once();
        assert_eq!(state(&once.timeline().await, "hold"), StepState::Unknown, "{at_rest}");
        let always = job(at_rest, Stage::Recorded, 1).await.step("hold", StepStatus::Started);
        assert_eq!(state(&always.timeline().await, "hold"), StepState::Interrupted, "{at_rest}");
    }
}

#[tokio::test]
async fn a_wait_says_for_which_event_and_until_when() {
    let until = Utc::now() + Duration::days(3);
    let run = job(State::Suspended, Stage::Recorded, 1).await;
    let run = run.with(StepKind::Wait, "shipped", StepStatus::Waiting).keyed("4711");
    let named = run.clone().but(|record| {
        record.output = json("order.shipped".into());
        record.due_at = Some(until);
    });
    let event = |event: Option<&str>, until| {
        let event = event.map(str::to_owned);
        StepState::Waiting(WaitsFor::Event { event, event_key: "4711".to_owned(), until })
    };
    assert_eq!(state(&named.timeline().await, "shipped"), event(Some("order.shipped"), Some(until)));
    assert_eq!(state(&run.timeline().await, "shipped"), event(None, None));
}

#[tokio::test]
async fn a_wait_is_done_with_an_event_and_timed_out_without() {
    let run = job(State::Running, Stage::Recorded, 1).await;
    let run = run.with(StepKind::Wait, "shipped", StepStatus::Done).keyed("4711");
    assert_eq!(state(&run.clone().timeline().await, "shipped"), StepState::TimedOut);
    let taken = run.but(|record| record.event = event());
    assert_eq!(state(&taken.timeline().await, "shipped"), StepState::Done);
}

#[tokio::test]
async fn a_sleep_says_until_when() {
    let until = Utc::now() + Duration::days(90);
    let run = job(State::Suspended, Stage::PastPivot, 1).await;
    let run = run.with(StepKind::Sleep, "cool down", StepStatus::Waiting).but(|record| record.due_at = Some(until));
    let shown = run.clone().timeline().await;
    assert_eq!(state(&shown, "cool down"), StepState::Waiting(WaitsFor::Time { until: Some(until) }));
    assert_eq!(state(&shown, "close"), StepState::ToCome);
    // Once it is over nothing more is recorded of it.
    let mut over = run.but(|record| record.due_at = Some(Utc::now()));
    assert_eq!(state(&over.clone().timeline().await, "cool down"), StepState::Done);
    over.job.state = State::Cancelled;
    over.job.finished_at = Some(Utc::now() - Duration::days(1));
    assert_eq!(state(&over.timeline().await, "cool down"), StepState::Interrupted);
}

#[tokio::test]
async fn a_child_says_which() {
    let child = Some(JobId::new());
    let run = job(State::Suspended, Stage::Recorded, 1).await;
    let run = run.with(StepKind::Spawn, "letter", StepStatus::Started).but(|record| record.child = child);
    assert_eq!(state(&run.clone().timeline().await, "letter"), StepState::Waiting(WaitsFor::Child { child }));
    let mut unwinding = run;
    unwinding.job.stage = Stage::Unwinding;
    assert_eq!(state(&unwinding.clone().timeline().await, "letter"), StepState::Waiting(WaitsFor::Child { child }));
    unwinding.job.state = State::Dead;
    assert_eq!(state(&unwinding.timeline().await, "letter"), StepState::Interrupted);
}

#[tokio::test]
async fn a_step_that_is_tried_again_says_when() {
    let due = Utc::now() + Duration::minutes(5);
    let run = job(State::Suspended, Stage::Recorded, 1).await;
    let run = run.step("hold", StepStatus::Tried).but(|record| record.due_at = Some(due));
    assert_eq!(state(&run.clone().timeline().await, "hold"), StepState::Retrying { due_at: Some(due) });
    let mut dead = run;
    dead.job.state = State::Dead;
    assert_eq!(state(&dead.timeline().await, "hold"), StepState::Failed);
}

#[tokio::test]
async fn a_failure_counts_for_its_attempt_and_that_of_a_once_step_for_good() {
    let failed = async |attempt| job(State::Ready, Stage::Recorded, attempt).await.step("hold", StepStatus::Failed);
    assert_eq!(state(&failed(1).await.timeline().await, "hold"), StepState::Failed);
    assert_eq!(state(&failed(2).await.timeline().await, "hold"), StepState::Retrying { due_at: None });
    assert_eq!(state(&failed(2).await.once().timeline().await, "hold"), StepState::Failed);
}
