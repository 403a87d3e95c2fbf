//! One run, its park, its deadline, a cancel and its events, in orders taken at random.

use crate::Random;
use chrono::{DateTime, Utc};
use jobs::{
    JsonText, State,
    clock::Clock,
    driver::{
        CancelAnswer, Change, Claimed, Driver, EventId, FindEvent, Finish, Memory, NewEvent, Park, StepKind, StepRef,
        StepStatus, StepWrite, Wait, WaitEvent, Write, Written,
    },
    spec::Keep,
    testing::conformance::{HandWorker, job},
};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// What happens to a run, once each in an order taken at random; the last two only in some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// Its worker runs it: it takes an event, or parks.
    Run,
    /// An event is published for it.
    Publish,
    /// Its deadline comes.
    Deadline,
    /// It is cancelled.
    Cancel,
}

/// How the waits ended.
#[derive(Debug, Default)]
struct Sum {
    taken: u64,
    timed_out: u64,
    cancelled: u64,
}

/// Plays so many interleavings.
pub(crate) async fn play(count: u64) {
    let (mut random, seed) = Random::seeded(1);
    let clock = Clock::manual();
    let driver: Arc<dyn Driver> = Arc::new(Memory::with_clock(clock.clone()));
    let worker = HandWorker::start(Arc::clone(&driver)).await;
    let mut sum = Sum::default();
    for number in 0..count {
        // Small steps of time, and the lease held all along.
        clock.advance(Duration::from_millis(1));
        if number % 1_000 == 0 {
            worker.renew().await.expect("the lease is held");
            driver.purge_events(u32::MAX).await.expect("a purge answers");
            driver.purge(u32::MAX).await.expect("a purge answers");
        }
        one(&driver, &worker, &clock, number, &mut random, &mut sum).await;
    }
    println!("{count} interleavings, seed {seed}: {sum:?}, 0 missed, 0 doubled");
    assert!(sum.taken > 0 && sum.timed_out > 0 && sum.cancelled > 0, "{sum:?}");
}

async fn one(
    driver: &Arc<dyn Driver>,
    worker: &HandWorker,
    clock: &Clock,
    number: u64,
    random: &mut Random,
    sum: &mut Sum,
) {
    let run = job();
    driver.enqueue(std::slice::from_ref(&run), None).await.expect("accepted");
    let mut coming = vec![Event::Run, Event::Run, Event::Publish];
    for (event, of) in [(Event::Publish, 2), (Event::Deadline, 3), (Event::Cancel, 5)] {
        if random.below(of) == 0 {
            coming.push(event);
        }
    }
    let key = number.to_string();
    let deadline = clock.now() + Duration::from_millis(500);
    let (mut published, mut held, mut cancelled) = (BTreeSet::new(), None::<Claimed>, false);
    let mut history = Vec::new();
    while !coming.is_empty() {
        let event = coming.swap_remove(random.below(coming.len() as u64) as usize);
        history.push(event);
        match event {
            Event::Run => held = claim(worker).await.or(held),
            Event::Publish => drop(published.insert(publish(driver, &key).await)),
            Event::Deadline => {
                clock.advance(Duration::from_secs(1));
                worker.renew().await.expect("the lease is held");
                driver.promote(10).await.expect("a promotion answers");
            }
            Event::Cancel => cancelled = driver.cancel(run.id).await.expect("it answers") != CancelAnswer::NotFound,
        }
        // Between the claim and the park everything else may come.
        if let Some(claimed) = held.take_if(|_| random.below(2) == 0) {
            turn(driver, worker, &claimed, &key, deadline, clock, sum).await;
        }
    }
    for _ in 0..4 {
        if let Some(claimed) = held.take() {
            turn(driver, worker, &claimed, &key, deadline, clock, sum).await;
        }
        held = claim(worker).await;
    }
    let record = driver.find(run.id).await.expect("a find answers").expect("it is stored");
    let right = if cancelled { record.state.is_final() } else { record.state == State::Completed };
    assert!(right, "interleaving {number}, {history:?}: missed, it is {record:?}");
    sum.cancelled += u64::from(record.state == State::Cancelled);
    let steps = driver.steps(run.id).await.expect("the steps are listed");
    let takes: Vec<EventId> = steps.iter().filter_map(|step| step.event).collect();
    assert!(
        takes.len() <= 1 && takes.iter().all(|taken| published.contains(taken)),
        "{number}, {history:?}: {steps:?}"
    );
}

/// What a run does that waits: takes the event that is there, ends where its time is over, or parks.
async fn turn(
    driver: &Arc<dyn Driver>,
    worker: &HandWorker,
    claimed: &Claimed,
    key: &str,
    deadline: DateTime<Utc>,
    clock: &Clock,
    sum: &mut Sum,
) {
    let name = "order.shipped".to_owned();
    let find =
        FindEvent { name: name.clone(), key: key.to_owned(), tenant: None, taken: Vec::new(), before: Some(deadline) };
    let found = driver.find_event(find).await.expect("a find answers");
    let id = StepRef { name: "shipped".to_owned(), key: String::new() };
    let is_over = clock.now() >= deadline;
    if found.is_none() && !is_over {
        let wait = WaitEvent { name, key: key.to_owned(), taken: Vec::new() };
        let records = vec![StepWrite::new(id, StepKind::Wait, StepStatus::Waiting, 1)];
        let waits = vec![Wait::Event(wait)];
        let park = Park { due_at: Some(deadline), waits, records, reason: None, keep: Keep::DEFAULT };
        let written = worker.write(claimed, Change::Park(Box::new(park))).await;
        assert!(matches!(written, Written::Landed | Written::Cancelled), "{written:?}");
        return;
    }
    (sum.taken, sum.timed_out) = (sum.taken + u64::from(found.is_some()), sum.timed_out + u64::from(found.is_none()));
    let mut record = StepWrite::new(id, StepKind::Wait, StepStatus::Done, 1);
    record.event = found.map(|event| event.id);
    let finish = Finish { state: State::Completed, output: None, failure: None, keep: Keep::DEFAULT, follow_up: None };
    let writes = [Change::Step(Box::new(record)), Change::Finish(finish)];
    let written = worker.commit(&writes.map(|change| Write { fence: claimed.fence, change })).await;
    assert!(matches!(written[..], [Written::Landed, Written::Landed]), "{written:?}");
}

async fn claim(worker: &HandWorker) -> Option<Claimed> {
    worker.claim(1).await.pop()
}

async fn publish(driver: &Arc<dyn Driver>, key: &str) -> EventId {
    let payload = JsonText::parse("{}").expect("valid");
    let (id, name, key) = (EventId::new(), "order.shipped".to_owned(), key.to_owned());
    let ttl = Duration::from_secs(60);
    driver.publish(&[NewEvent { id, name, key, tenant: None, payload, ttl }], None).await.expect("accepted");
    id
}
