//! Roll backs: which runs unwind and which are just cancelled, whatever state they are met in.

use super::{
    Fixture, HandWorker,
    hand::{again, failure},
    job,
    recorded::{done, of, park, spawn, until},
};
use crate::{
    driver::{CancelAnswer, Change, Claimed, NewJob, Park, Stage, Start, StepKind, StepStatus, Wait, Written},
    error::code,
    id::JobId,
    state::State,
};
use std::time::Duration;

async fn roll_back(store: &dyn Fixture, job: JobId) -> CancelAnswer {
    store.driver().roll_back(job).await.expect("a roll back answers")
}

/// The job is ready and unwinds from having been cancelled, which is on record.
async fn assert_unwinds(store: &dyn Fixture, job: JobId) {
    let record = store.record(job).await;
    assert_eq!((record.state, record.stage, record.due_at), (State::Ready, Stage::Unwinding, None));
    assert!(!record.cancel_requested && record.parked.is_none());
    let failure = record.failure.expect("it unwinds from a failure");
    assert_eq!(failure.code, code::JOB_CANCELLED.name);
    let decision = store.step_of(job, StepKind::Unwind).await;
    assert_eq!((decision.status, decision.failure), (StepStatus::Done, Some(failure)));
}

/// Claims the one job that there is and ends it as cancelled.
async fn undo(worker: &HandWorker, job: JobId) {
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.fence.job, claimed.stage), (job, Stage::Unwinding));
    worker.finish(&claimed, State::Cancelled).await;
}

/// A waiting job that has recorded nothing is cancelled at once.
pub async fn a_waiting_job_without_records_is_cancelled(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let retried = worker.begin(store, job()).await;
    worker.retry(&retried, Duration::from_secs(60)).await;
    let parked = worker.begin(store, job()).await;
    worker.park(&parked, park()).await;
    let delayed = store.insert(NewJob { start: Start::After(Duration::from_secs(60)), ..job() }).await;
    let ready = store.insert(job()).await;
    for id in [retried.fence.job, parked.fence.job, delayed, ready] {
        assert_eq!(roll_back(store, id).await, CancelAnswer::Cancelled);
        assert_eq!((store.state(id).await, store.steps(id).await), (State::Cancelled, vec![]));
    }
    assert_eq!(worker.claim(10).await.len(), 0);
}

/// A waiting run that has recorded steps is ready at once and unwinds, under the attempt that it had.
pub async fn a_waiting_run_with_records_unwinds(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for way in ["ready", "delayed", "parked"] {
        let claimed = worker.begin_recorded(store, job()).await;
        let id = claimed.fence.job;
        match way {
            "ready" => worker.release(&claimed).await,
            "delayed" => worker.landed(&claimed, Change::Reschedule(again(1, Duration::from_secs(60)))).await,
            _ => {
                let reason = Some(failure("it is stuck"));
                worker.park(&claimed, Park { due_at: Some(store.in_secs(60).await), reason, ..park() }).await;
            }
        }
        assert_eq!(roll_back(store, id).await, CancelAnswer::Asked, "{way}");
        assert_unwinds(store, id).await;
        assert_eq!(store.record(id).await.attempt, 1);
        assert_eq!(roll_back(store, id).await, CancelAnswer::Asked);
        undo(&worker, id).await;
        assert_eq!(roll_back(store, id).await, CancelAnswer::AlreadyFinal(State::Cancelled));
    }
}

/// A running job's worker is asked, by its renewals, until the run ends.
pub async fn a_running_job_is_asked_to_roll_back(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for recorded in [true, false] {
        let claimed = worker.begin(store, job()).await;
        let id = claimed.fence.job;
        if recorded {
            worker.step(&claimed, done("hold", 1)).await;
        }
        assert_eq!(roll_back(store, id).await, CancelAnswer::Asked);
        let record = store.record(id).await;
        assert_eq!((record.state, record.cancel_requested), (State::Running, true));
        let renewed = worker.renew().await.expect("renewed");
        assert_eq!((renewed.cancel, renewed.roll_back), (vec![], vec![id]));
        worker.finish(&claimed, State::Completed).await;
        assert_eq!(store.state(id).await, State::Completed, "a completion beats the request");
        assert_eq!(worker.renew().await.expect("renewed").roll_back, []);
    }
}

/// Whichever way its worker lets such a run go, it is ready and unwinds, and no further attempt has begun.
pub async fn a_run_that_is_let_go_unwinds(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for way in ["retried", "released", "parks"] {
        let claimed = worker.begin_recorded(store, job()).await;
        let id = claimed.fence.job;
        roll_back(store, id).await;
        let change = match way {
            "retried" => {
                let retry = again(2, Duration::from_secs(60));
                Change::Reschedule(crate::driver::Reschedule { failure: Some(failure("it broke")), ..retry })
            }
            "released" => Change::Reschedule(again(1, Duration::ZERO)),
            _ => Change::Park(Box::new(Park { due_at: Some(store.in_secs(60).await), ..park() })),
        };
        worker.landed(&claimed, change).await;
        assert_unwinds(store, id).await;
        assert_eq!(store.record(id).await.attempt, 1, "{way}");
        undo(&worker, id).await;
    }
}

/// A run that was asked to roll back and whose worker dies or stops is ready and unwinds.
pub async fn a_run_that_lost_its_worker_unwinds(store: &dyn Fixture) {
    for dies in [true, false] {
        let worker = HandWorker::start(store.driver()).await;
        let id = worker.begin_recorded(store, job()).await.fence.job;
        roll_back(store, id).await;
        if dies {
            store.advance_secs(31).await;
            let rescued = store.driver().rescue().await.expect("a rescue answers");
            assert_eq!((rescued.jobs, rescued.cancelled), (1, 0));
        } else {
            worker.stop().await;
        }
        assert_unwinds(store, id).await;
        assert_eq!(store.record(id).await.crashes, 0, "those of its way forward do not count");
        let worker = HandWorker::start(store.driver()).await;
        undo(&worker, id).await;
        worker.stop().await;
    }
}

/// A running job that has recorded nothing when it is let go ends as cancelled; one that has by then unwinds.
pub async fn what_is_recorded_after_the_request_counts(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for recorded in [false, true] {
        let claimed = worker.begin(store, job()).await;
        let id = claimed.fence.job;
        assert_eq!(roll_back(store, id).await, CancelAnswer::Asked);
        if recorded {
            worker.step(&claimed, done("hold", 1)).await;
        }
        let written = worker.write(&claimed, Change::Reschedule(again(1, Duration::ZERO))).await;
        if recorded {
            assert!(matches!(written, Written::Landed), "{written:?}");
            assert_unwinds(store, id).await;
            undo(&worker, id).await;
        } else {
            assert!(matches!(written, Written::Cancelled), "{written:?}");
            assert_eq!((store.state(id).await, store.steps(id).await), (State::Cancelled, vec![]));
        }
    }
}

/// A run that is past its pivot is refused, whatever it does, and is none the worse for it.
pub async fn a_run_past_its_pivot_is_refused(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    let id = claimed.fence.job;
    worker.step(&claimed, of(StepKind::Pivot, "pivot", StepStatus::Done, 2)).await;
    for state in [State::Running, State::Suspended, State::Ready] {
        if state == State::Suspended {
            worker.park(&claimed, Park { due_at: Some(store.in_secs(5).await), ..park() }).await;
        } else if state == State::Ready {
            store.advance_secs(6).await;
            store.promote().await;
        }
        let before = store.snapshot(id).await;
        let refused = store.driver().roll_back(id).await.expect_err("it is refused");
        assert_eq!((refused.code(), store.state(id).await), (code::JOB_STATE_REFUSED, state));
        assert_eq!(store.snapshot(id).await, before);
    }
    assert_eq!(store.driver().cancel(id).await.expect("a cancel answers"), CancelAnswer::Cancelled);
}

/// A pivot that is recorded after the request ends it: the run goes forward.
pub async fn a_pivot_ends_the_request(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    roll_back(store, claimed.fence.job).await;
    worker.step(&claimed, of(StepKind::Pivot, "pivot", StepStatus::Done, 2)).await;
    assert!(!store.record(claimed.fence.job).await.cancel_requested);
    worker.release(&claimed).await;
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.stage, claimed.failure), (Stage::PastPivot, None));
}

/// An ended job says how it ended; an unknown one that it is unknown.
pub async fn a_roll_back_of_an_ended_job_changes_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for end in State::ALL.into_iter().filter(|state| state.is_final()) {
        let claimed = worker.begin_recorded(store, job()).await;
        worker.finish(&claimed, end).await;
        let before = store.snapshot(claimed.fence.job).await;
        assert_eq!(roll_back(store, claimed.fence.job).await, CancelAnswer::AlreadyFinal(end));
        assert_eq!(store.snapshot(claimed.fence.job).await, before);
    }
    assert_eq!(roll_back(store, JobId::new()).await, CancelAnswer::NotFound);
}

/// Asked for both, a running job is rolled back, whichever was asked first.
pub async fn a_roll_back_stands_above_a_cancel(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for cancel_first in [true, false] {
        let claimed = worker.begin_recorded(store, job()).await;
        let id = claimed.fence.job;
        for cancel in [cancel_first, !cancel_first] {
            let answer = if cancel { store.driver().cancel(id).await } else { store.driver().roll_back(id).await };
            assert_eq!(answer.expect("it answers"), CancelAnswer::Asked);
        }
        let renewed = worker.renew().await.expect("renewed");
        assert_eq!((renewed.cancel, renewed.roll_back), (vec![], vec![id]));
        worker.release(&claimed).await;
        assert_unwinds(store, id).await;
        undo(&worker, id).await;
    }
}

/// A run that was asked to roll back spawns nothing more.
pub async fn a_run_that_was_asked_to_roll_back_spawns_nothing(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let claimed = worker.begin_recorded(store, job()).await;
    roll_back(store, claimed.fence.job).await;
    let child = NewJob { parent: Some(claimed.fence.job), ..job() };
    let id = child.id;
    let written = worker.write(&claimed, Change::Step(Box::new(spawn("child", 2, child)))).await;
    assert!(matches!(written, Written::Cancelled), "{written:?}");
    assert!(store.find(id).await.is_none());
    assert_eq!(store.step_names(claimed.fence.job).await, ["hold"]);
}

/// Spawns a child of the run and claims it.
async fn child(worker: &HandWorker, parent: &Claimed, name: &str, position: u32) -> Claimed {
    let new = NewJob { parent: Some(parent.fence.job), ..job() };
    let id = new.id;
    worker.step(parent, spawn(name, position, new)).await;
    let claimed = worker.claim_one().await;
    assert_eq!(claimed.fence.job, id);
    claimed
}

/// Children that have not ended are rolled back with their parent, and theirs: each by its own stage.
pub async fn children_are_rolled_back_with_their_parent(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let parent = worker.begin(store, job()).await;
    let recorded = child(&worker, &parent, "recorded", 1).await;
    let grandchild = child(&worker, &recorded, "grandchild", 1).await;
    let running = child(&worker, &parent, "running", 2).await;
    let pivoted = child(&worker, &parent, "pivoted", 3).await;
    let fresh = child(&worker, &parent, "fresh", 4).await;
    let ended = child(&worker, &parent, "ended", 5).await;
    worker.finish(&ended, State::Completed).await;
    worker.release(&fresh).await;
    worker.step(&pivoted, of(StepKind::Pivot, "pivot", StepStatus::Done, 1)).await;
    worker.park(&pivoted, park()).await;
    worker.step(&grandchild, done("hold", 1)).await;
    worker.park(&grandchild, park()).await;
    worker.park(&recorded, until(Wait::Child(grandchild.fence.job))).await;
    worker.park(&parent, park()).await;
    assert_eq!(roll_back(store, parent.fence.job).await, CancelAnswer::Asked);
    for unwinding in [&parent, &recorded, &grandchild] {
        assert_unwinds(store, unwinding.fence.job).await;
    }
    assert_eq!(store.state(fresh.fence.job).await, State::Cancelled);
    assert_eq!(store.state(ended.fence.job).await, State::Completed);
    let goes_on = store.record(pivoted.fence.job).await;
    assert_eq!((goes_on.state, goes_on.stage), (State::Suspended, Stage::PastPivot));
    assert_eq!(worker.renew().await.expect("renewed").roll_back, [running.fence.job]);
}
