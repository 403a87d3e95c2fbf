//! One batch of writes of every kind about many runs: what is refused in its middle takes nothing else with it.

use super::{
    Fixture, HandWorker,
    children::child_of,
    hand::{again, failure, finish},
    job, keyed,
    recorded::{done, event, for_event, of, park, spawn, until, unwind},
};
use crate::{
    driver::{Change, Claimed, NewJob, Park, Progress, Stage, StepKind, StepStatus, StepWrite, Unwind, Write, Written},
    spec::Hold,
    state::State,
};
use std::time::Duration;

fn write(claimed: &Claimed, change: Change) -> Write {
    Write { fence: claimed.fence, change }
}

fn step(claimed: &Claimed, step: StepWrite) -> Write {
    write(claimed, Change::Step(Box::new(step)))
}

/// The item that is refused is told so, all others land in their order.
pub async fn a_refused_item_leaves_the_rest_of_its_batch(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let taken = NewJob { start: crate::driver::Start::After(Duration::from_secs(600)), ..keyed(1, Hold::Live) };
    store.insert(taken).await;
    let mut runs = Vec::new();
    for _ in 0..6 {
        runs.push(worker.begin_recorded(store, job()).await);
    }
    let [ends, parks, unwinds, spawns, waits, met] = &runs[..] else { unreachable!("six runs") };
    store.publish(&[event("8")]).await;
    let sleep = of(StepKind::Sleep, "night", StepStatus::Waiting, 2);
    let child = NewJob { parent: child_of(spawns).parent, ..keyed(1, Hold::Live) };
    let failed = StepWrite { failure: Some(failure("no")), ..of(StepKind::Step, "charge", StepStatus::Failed, 2) };
    let decision = Unwind { records: vec![failed], ..unwind("out of stock") };
    let progress = Progress { done: 1, total: Some(2), message: "half".to_owned() };
    let written = worker
        .commit(&[
            step(ends, StepWrite { tries: 1, ..of(StepKind::Step, "pay", StepStatus::Tried, 2) }),
            write(parks, Change::Park(Box::new(Park { records: vec![sleep], ..until(for_event("7")) }))),
            step(spawns, done("before", 2)),
            write(unwinds, Change::Unwind(Box::new(decision))),
            step(unwinds, done("late", 3)),
            step(spawns, spawn("child", 3, child)),
            step(spawns, done("after", 4)),
            step(unwinds, of(StepKind::Undo, "hold", StepStatus::Done, 4)),
            write(waits, Change::Progress(progress.clone())),
            step(ends, StepWrite { tries: 2, ..done("pay", 2) }),
            write(waits, Change::Reschedule(again(2, Duration::from_secs(60)))),
            write(ends, Change::Finish(finish(State::Completed))),
            step(ends, done("ended", 3)),
            write(met, Change::Park(Box::new(until(for_event("8"))))),
            write(unwinds, Change::Finish(finish(State::Dead))),
            write(parks, Change::Park(Box::new(park()))),
        ])
        .await;
    let said = |written: &Written| match written {
        Written::Landed => "landed".to_owned(),
        Written::Refused(error) => error.code().name.to_owned(),
        Written::Stale => "stale".to_owned(),
        Written::Cancelled => "cancelled".to_owned(),
    };
    let mut expected = ["landed"; 16];
    (expected[4], expected[5], expected[12], expected[15]) =
        ("X_JOB_STATE_REFUSED", "X_JOB_DUPLICATE", "stale", "stale");
    assert_eq!(written.iter().map(said).collect::<Vec<_>>(), expected);

    let id = |run: &Claimed| run.fence.job;
    let steps = store.steps(id(ends)).await;
    assert_eq!((steps.len(), steps[1].status, steps[1].tries), (2, StepStatus::Done, 2), "the later record stands");
    assert_eq!(store.state(id(ends)).await, State::Completed);
    assert_eq!(store.step_names(id(parks)).await, ["hold", "night"]);
    assert_eq!(store.state(id(parks)).await, State::Suspended);
    assert_eq!(store.step_names(id(unwinds)).await, ["hold", "charge", "", "hold"]);
    let unwound = store.record(id(unwinds)).await;
    assert_eq!((unwound.state, unwound.stage), (State::Dead, Stage::Unwinding));
    assert_eq!(store.step_names(id(spawns)).await, ["hold", "before", "after"]);
    assert_eq!(store.state(id(spawns)).await, State::Running, "a refusal leaves its run held");
    let delayed = store.record(id(waits)).await;
    assert_eq!((delayed.state, delayed.attempt, delayed.progress), (State::Delayed, 2, Some(progress)));
    assert_eq!(store.state(id(met)).await, State::Ready, "what it waits for has happened");
}
