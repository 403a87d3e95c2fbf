//! Random concurrent runs that wait for events and children, are cancelled and rolled back: whatever the order, each
//! one ends, so that no wake-up was lost, and no call fails.

use super::{
    Fixture, HandWorker,
    hand::{again, finish},
    job,
    recorded::{EVENT, done, event, for_event, of, spawn, until, unwind},
};
use crate::{
    driver::{
        CancelAnswer, Change, Claimed, Driver, FindEvent, NewJob, Stage, StepKind, StepRecord, StepStatus, StepWrite,
        Wait, Write, Written,
    },
    id::JobId,
    state::State,
};
use futures_util::future::join_all;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Runs that each wait for an event of their own, then for a child that waits for one as well.
pub async fn whatever_the_order_every_run_ends(store: &dyn Fixture) {
    let jobs: Arc<[NewJob]> = (0..40).map(|_| job()).collect();
    store.enqueue(&jobs).await;
    let (first, second) = (store.driver(), store.second_handle().await);
    let seed = fastrand::u64(..);
    let random = |number| fastrand::Rng::with_seed(seed.wrapping_add(number));
    let stop = Arc::new(AtomicBool::new(false));
    let workers = (0..3).map(|number| {
        let driver = if number == 1 { second.clone() } else { first.clone() };
        tokio::spawn(work(driver, random(number), Arc::clone(&stop)))
    });
    let workers: Vec<_> = workers.collect();
    let publishers = [first.clone(), second.clone()]
        .into_iter()
        .zip([10, 11])
        .map(|(driver, number)| tokio::spawn(publish(driver, random(number), Arc::clone(&jobs))));
    let askers = [first, second]
        .into_iter()
        .zip([20, 21])
        .map(|(driver, number)| tokio::spawn(ask(driver, random(number), Arc::clone(&jobs))));
    for caller in join_all(publishers.chain(askers).collect::<Vec<_>>()).await {
        assert!(caller.is_ok(), "a call failed, seed {seed}: {caller:?}");
    }
    let all_ended = tokio::time::timeout(Duration::from_secs(30), async {
        while live(store).await > 0 {
            store.driver().wake(1_000).await.expect("a wake answers");
            store.promote().await;
            tokio::task::yield_now().await;
        }
    });
    let all_ended = all_ended.await.is_ok();
    stop.store(true, Ordering::SeqCst);
    for worker in join_all(workers).await {
        assert!(worker.is_ok(), "a worker saw what must not be, seed {seed}: {worker:?}");
    }
    assert!(all_ended, "{} runs wait for ever, seed {seed}", live(store).await);
}

async fn live(store: &dyn Fixture) -> u64 {
    let counts = store.driver().counts().await.expect("counts answer");
    counts.iter().filter(|count| !count.state.is_final()).map(|count| count.jobs).sum()
}

/// Claims what is ready and takes each run a step further.
async fn work(driver: Arc<dyn Driver>, mut random: fastrand::Rng, stop: Arc<AtomicBool>) {
    let mut worker = HandWorker::start(Arc::clone(&driver)).await;
    while !stop.load(Ordering::SeqCst) {
        for claimed in worker.claim(random.u32(1..6)).await {
            if random.u32(..12) == 0 {
                continue;
            }
            for change in next(&*driver, &claimed, &mut random).await {
                let written = worker.commit(&[Write { fence: claimed.fence, change }]).await;
                match written[0] {
                    Written::Landed => {}
                    Written::Cancelled => break,
                    ref other => panic!("a claim that is held is not {other:?}"),
                }
            }
        }
        // What it has passed over goes back, as what a refused spawn has left.
        worker.stop().await;
        worker = HandWorker::start(Arc::clone(&driver)).await;
        tokio::task::yield_now().await;
    }
    worker.stop().await;
}

/// What a run does next. The last change lets it go.
async fn next(driver: &dyn Driver, claimed: &Claimed, random: &mut fastrand::Rng) -> Vec<Change> {
    let step = |step: StepWrite| Change::Step(Box::new(step));
    let id = claimed.fence.job;
    let steps = driver.steps(id).await.expect("steps answer");
    let of_kind = |kind: StepKind| steps.iter().find(|step| step.kind == kind);
    if claimed.stage == Stage::Unwinding {
        return vec![step(of(StepKind::Undo, "wait", StepStatus::Done, 9)), Change::Finish(finish(State::Cancelled))];
    }
    let roll = random.u32(..20);
    if roll == 0 {
        return vec![Change::Reschedule(again(claimed.fence.attempt, Duration::ZERO))];
    }
    if roll == 1 && claimed.stage == Stage::Recorded {
        let changes = [Change::Unwind(Box::new(unwind("it broke"))), Change::Finish(finish(State::Dropped))];
        return changes.into_iter().collect();
    }
    match (of_kind(StepKind::Wait), of_kind(StepKind::Spawn)) {
        (None | Some(StepRecord { status: StepStatus::Waiting, .. }), _) => {
            let find = FindEvent {
                name: EVENT.to_owned(),
                key: key(id, claimed),
                tenant: None,
                taken: Vec::new(),
                before: None,
            };
            let found = driver.find_event(find).await.expect("a find answers");
            let mut wait = of(StepKind::Wait, "wait", StepStatus::Waiting, 1);
            if let Some(event) = found {
                (wait.status, wait.event) = (StepStatus::Done, Some(event.id));
                return vec![step(wait), Change::Reschedule(again(claimed.fence.attempt, Duration::ZERO))];
            }
            let mut park = until(for_event(&key(id, claimed)));
            park.records.push(wait);
            vec![Change::Park(Box::new(park))]
        }
        (Some(_), None) if claimed.parent.is_none() => {
            let child = NewJob { parent: Some(id), ..job() };
            let park = Change::Park(Box::new(until(Wait::Child(child.id))));
            vec![step(spawn("child", 2, child)), step(done("told", 3)), park]
        }
        (_, Some(StepRecord { status: StepStatus::Started, child: Some(child), .. })) => {
            vec![Change::Park(Box::new(until(Wait::Child(*child))))]
        }
        _ => vec![Change::Finish(finish(State::Completed))],
    }
}

/// A run and its child wait for events of one key.
fn key(id: JobId, claimed: &Claimed) -> String {
    claimed.parent.unwrap_or(id).to_string()
}

/// Publishes one event for every run, in any order.
async fn publish(driver: Arc<dyn Driver>, mut random: fastrand::Rng, jobs: Arc<[NewJob]>) {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    random.shuffle(&mut order);
    for number in order {
        driver.publish(&[event(&jobs[number].id.to_string())], None).await.expect("it is published");
        for _ in 0..random.u32(..20) {
            tokio::task::yield_now().await;
        }
    }
}

/// Cancels and rolls back at random.
async fn ask(driver: Arc<dyn Driver>, mut random: fastrand::Rng, jobs: Arc<[NewJob]>) {
    for _ in 0..10 {
        let job = jobs[random.usize(..jobs.len())].id;
        let answer = if random.bool() { driver.cancel(job).await } else { driver.roll_back(job).await };
        assert!(!matches!(answer.expect("it answers"), CancelAnswer::NotFound));
        driver.rescue().await.expect("a rescue answers");
        for _ in 0..random.u32(..40) {
            tokio::task::yield_now().await;
        }
    }
}
