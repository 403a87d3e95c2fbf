//! Steps of a run that unwinds, or has ended.

use super::*;

/// A run that has held and charged, and unwinds.
async fn unwinding(state: State) -> Shown {
    let run = job(state, Stage::Unwinding, 3).await;
    let run = run.step("hold", StepStatus::Done).with(StepKind::StepTx, "charge", StepStatus::Done);
    let failure = jobs::failure::RecordedFailure::rolled_back();
    run.with(StepKind::Unwind, "", StepStatus::Done).but(|record| record.failure = Some(failure))
}

#[tokio::test]
async fn of_a_completed_job_what_was_not_taken_was_not_reached() {
    let run = job(State::Completed, Stage::Recorded, 1).await.step("hold", StepStatus::Done);
    let shown = run.with(StepKind::Wait, "shipped", StepStatus::Waiting).timeline().await;
    assert_eq!(state(&shown, "hold"), StepState::Done);
    assert_eq!(state(&shown, "charge"), StepState::NotReached);
    assert_eq!(state(&shown, "shipped"), StepState::Interrupted);
    assert_eq!(undo(&shown, "hold"), UndoState::Declared);
    assert!(shown.unwound_from.is_none());
}

#[tokio::test]
async fn of_a_run_that_unwinds_no_step_is_to_come_and_what_is_done_is_to_be_undone() {
    for at in [State::Ready, State::Running, State::Delayed] {
        let shown = unwinding(at).await.timeline().await;
        assert_eq!(shown.unwound_from.as_ref().map(|failure| failure.code.as_str()), Some("X_JOB_CANCELLED"));
        assert_eq!(state(&shown, "hold"), StepState::Done);
        assert_eq!(undo(&shown, "hold"), UndoState::Pending);
        assert_eq!(undo(&shown, "parcel"), UndoState::Declared);
        assert_eq!(state(&shown, "parcel"), StepState::NotReached);
        assert_eq!(state(&shown, "close"), StepState::NotReached);
    }
}

#[tokio::test]
async fn a_compensation_is_tried_again_while_the_run_lives_and_failed_once_it_is_dead() {
    let tried = async |at| {
        let run = unwinding(at).await.with(StepKind::Undo, "hold", StepStatus::Tried);
        run.but(|record| record.tries = 2).timeline().await
    };
    let live = tried(State::Delayed).await;
    assert_eq!((state(&live, "hold"), undo(&live, "hold")), (StepState::Undoing, UndoState::Retrying));
    let dead = tried(State::Dead).await;
    assert_eq!((state(&dead, "hold"), undo(&dead, "hold")), (StepState::UndoFailed, UndoState::Failed));
    let step = dead.step("hold").unwrap();
    assert_eq!(step.undo.as_ref().unwrap().record.as_ref().unwrap().tries, 2);
    assert_eq!(step.undo.as_ref().unwrap().line, Some(11));
    assert_eq!(step.record.as_ref().unwrap().status, StepStatus::Done);
}

#[tokio::test]
async fn a_step_is_undone_or_skipped_by_its_own_key() {
    let run = unwinding(State::Dead).await;
    let run = run.step("parcel", StepStatus::Done).keyed("a").step("parcel", StepStatus::Done).keyed("b");
    let run = run.step("parcel", StepStatus::Done).keyed("c");
    let run = run.with(StepKind::Undo, "parcel", StepStatus::Done).keyed("b");
    let shown = run.with(StepKind::Undo, "parcel", StepStatus::Skipped).keyed("c").timeline().await;
    let of = |key: &str| {
        let step = shown.steps.iter().find(|step| step.name == "parcel" && step.key.as_deref() == Some(key)).unwrap();
        (step.state.clone(), step.undo.as_ref().unwrap().state)
    };
    assert_eq!(of("a"), (StepState::Done, UndoState::Pending));
    assert_eq!(of("b"), (StepState::Undone, UndoState::Done));
    assert_eq!(of("c"), (StepState::UndoSkipped, UndoState::Skipped));
}

#[tokio::test]
async fn an_unknown_step_of_a_run_that_unwinds_stays_unknown() {
    let run = unwinding(State::Dead).await.step("parcel", StepStatus::Started).keyed("a").once();
    assert_eq!(state(&run.timeline().await, "parcel"), StepState::Unknown);
}

#[tokio::test]
async fn a_run_that_began_anew_says_how_often() {
    let run = job(State::Ready, Stage::Recorded, 1).await;
    let shown = run.with(StepKind::Requeue, "", StepStatus::Done).but(|record| record.tries = 2).timeline().await;
    assert_eq!(shown.begun_anew, 2);
    assert_eq!(shown.steps.len(), 9);
}
