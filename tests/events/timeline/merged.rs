//! What is recorded, laid over the outline.

use super::*;

#[tokio::test]
async fn a_line_with_a_key_stands_as_often_as_it_began_in_the_order_of_starts() {
    let run = job(State::Suspended, Stage::Recorded, 1).await.step("hold", StepStatus::Done);
    let run = run.step("parcel", StepStatus::Done).keyed("b").step("parcel", StepStatus::Done).keyed("a");
    let shown = run.timeline().await;
    assert_eq!(names(&shown)[..5], ["hold", "charge", "parcel[b]", "parcel[a]", "shipped"]);
}

#[tokio::test]
async fn what_the_outline_does_not_have_stands_behind_what_began_before_it() {
    let run = job(State::Suspended, Stage::Recorded, 1).await;
    let run = run.step("before all", StepStatus::Done).step("hold", StepStatus::Done);
    let run = run.step("in a helper", StepStatus::Done).keyed("1").with(StepKind::Value, "now", StepStatus::Done);
    let shown = run.with(StepKind::StepTx, "charge", StepStatus::Done).timeline().await;
    assert_eq!(names(&shown)[..5], ["before all", "hold", "in a helper[1]", "now", "charge"]);
    let helper = &shown.steps[2];
    assert_eq!((helper.line, helper.kind, helper.state.clone()), (None, StepKind::Step, StepState::Done));
}

#[tokio::test]
async fn without_the_jobs_code_the_stored_outline_is_shown() {
    let mut run = job(State::Suspended, Stage::Recorded, 1).await.step("hold", StepStatus::Done);
    run.outline = Some(OUTLINE.iter().map(StoredItem::from).collect());
    let (with, without) = (run.clone().timeline().await, run.without_code().await);
    assert!(without.has_outline);
    assert_eq!(serde_json::to_value(&with.steps).unwrap(), serde_json::to_value(&without.steps).unwrap());
}

#[tokio::test]
async fn without_any_outline_what_is_recorded_is_shown_in_the_order_of_starts() {
    let run = job(State::Running, Stage::Recorded, 1).await.step("charge", StepStatus::Done);
    let run = run.step("hold", StepStatus::Started).once();
    let run = run.with(StepKind::Undo, "charge", StepStatus::Done);
    let shown = run.without_code().await;
    assert!(!shown.has_outline);
    assert_eq!(names(&shown), ["charge", "hold"]);
    assert_eq!(state(&shown, "charge"), StepState::Undone);
    assert_eq!(shown.step("charge").unwrap().undo.as_ref().unwrap().line, None);
    assert_eq!(state(&shown, "hold"), StepState::Running);
}

#[tokio::test]
async fn a_recorded_pivot_stands_at_its_line() {
    let run = job(State::Suspended, Stage::PastPivot, 1).await.with(StepKind::Pivot, "pivot!", StepStatus::Done);
    let shown = run.timeline().await;
    assert_eq!(names(&shown).iter().filter(|name| *name == "pivot!").count(), 1);
    assert_eq!((state(&shown, "pivot!"), shown.step("pivot!").unwrap().line), (StepState::Done, Some(18)));
}

#[tokio::test]
async fn a_compensation_without_its_step_is_shown_all_the_same() {
    let run = job(State::Dead, Stage::Unwinding, 1).await.with(StepKind::Undo, "gone", StepStatus::Done);
    let shown = run.timeline().await;
    assert_eq!((state(&shown, "gone"), undo(&shown, "gone")), (StepState::Undone, UndoState::Done));
}

#[tokio::test]
async fn a_step_that_is_recorded_as_another_kind_stands_at_its_line_as_recorded() {
    let run = job(State::Suspended, Stage::Recorded, 1).await.with(StepKind::Sleep, "hold", StepStatus::Done);
    let shown = run.timeline().await;
    assert_eq!(names(&shown)[..2], ["hold", "charge"]);
    assert_eq!(shown.steps[0].kind, StepKind::Sleep);
}

#[tokio::test]
async fn an_unknown_job_is_not_found() {
    let jobs = Jobs::memory().unwrap();
    let error = jobs.timeline(JobId::new()).await.unwrap_err();
    assert_eq!(error.code(), jobs::error::code::JOB_NOT_FOUND);
}
