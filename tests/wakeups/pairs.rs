//! A run that waits and an event that is published some milliseconds before or after, on Postgres, thousands of times.

use crate::{
    Random,
    support::{Db, eventually},
};
use jobs::{
    driver::{KindCount, pg::Pg},
    prelude::*,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::sync::mpsc;

/// How an event and its wait meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Meeting {
    /// Published from 5 ms before the wait to 5 ms after.
    Close,
    /// Published before the job is enqueued.
    Early,
    /// Published when the run is parked for long.
    Late,
    /// Published twice, close.
    Doubled,
    /// The run is cancelled, close, and no event comes.
    Cancelled,
    /// The wait times out, close to the event.
    TimedOut,
}

/// The input: which pair, and how it meets.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Pair {
    number: u64,
    meeting: Meeting,
}

/// What is waited for.
#[derive(Debug, Serialize, Deserialize)]
#[event(name = "wakeups.paid")]
struct Paid {
    number: u64,
}

/// What the bodies tell the test.
#[derive(Clone)]
struct World {
    comes: mpsc::UnboundedSender<Pair>,
    passed: Arc<Mutex<HashMap<u64, Vec<Instant>>>>,
}

/// Says that it comes, and waits for its event 5 ms later.
#[job(name = "wakeups.pair", tenant = none, needs(World), allow(nondeterminism))]
async fn pair(ctx: &Ctx, pair: Pair) -> Result<bool, Failure> {
    let world: &World = ctx.state()?;
    step!(ctx, "come", async {
        let _ = world.comes.send(pair.clone());
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(())
    })
    .await?;
    let timeout = if pair.meeting == Meeting::TimedOut { Duration::from_millis(5) } else { Duration::from_secs(3_600) };
    let paid: Option<Paid> = wait_for!(ctx, "paid", key = pair.number, timeout = timeout).await?;
    world.passed.lock().expect("no holder panics").entry(pair.number).or_default().push(Instant::now());
    match paid {
        Some(paid) if paid.number == pair.number => Ok(true),
        Some(paid) => Err(Failure::terminal(format!("the event of {}", paid.number))),
        None => Ok(false),
    }
}

/// What happens to a run that comes to its wait in 5 ms.
async fn meet(jobs: Jobs, job: jobs::JobId, come: Pair, after: Duration, published: Arc<Mutex<HashMap<u64, Instant>>>) {
    tokio::time::sleep(after).await;
    let publish = async || Paid { number: come.number }.publish(&jobs, come.number).await.expect("published");
    match come.meeting {
        Meeting::Early => return,
        Meeting::Cancelled => {
            jobs.cancel(job).await.expect("it answers");
            return;
        }
        Meeting::Doubled => {
            tokio::join!(publish(), publish());
        }
        Meeting::Close | Meeting::Late | Meeting::TimedOut => {
            publish().await;
        }
    }
    published.lock().expect("no holder panics").insert(come.number, Instant::now());
}

/// Plays so many pairs with one worker.
pub(crate) async fn play(count: u64) {
    let (mut random, seed) = Random::seeded(1);
    let db = Db::new();
    let jobs = Jobs::connect(db.url()).await.expect("it connects");
    let (comes, mut coming) = mpsc::unbounded_channel();
    let world = World { comes, passed: Arc::default() };
    let worker = jobs.worker().state(world.clone()).concurrency(100).start().await.expect("it starts");

    let begun = Instant::now();
    let mut pairs = Vec::new();
    let mut ids = HashMap::new();
    for number in 0..count {
        let meeting = match random.below(20) {
            0 | 1 => Meeting::Early,
            2 | 3 => Meeting::Late,
            4 | 5 => Meeting::Doubled,
            6 => Meeting::Cancelled,
            7 => Meeting::TimedOut,
            _ => Meeting::Close,
        };
        pairs.push(Pair { number, meeting });
    }
    let published: Arc<Mutex<HashMap<u64, Instant>>> = Arc::default();
    // Some at a time, so that a woken run does not wait long for its turn.
    for pairs in pairs.chunks(400) {
        for early in pairs.iter().filter(|pair| pair.meeting == Meeting::Early) {
            Paid { number: early.number }.publish(&jobs, early.number).await.expect("published");
        }
        let enqueued = jobs.enqueue_many::<pair>(pairs.to_vec()).await.expect("accepted");
        ids.extend(pairs.iter().map(|pair| pair.number).zip(enqueued.iter().map(Enqueued::id)));
        let mut publishers = tokio::task::JoinSet::new();
        for _ in pairs {
            let come = tokio::time::timeout(Duration::from_secs(60), coming.recv()).await.expect("a run comes");
            let come = come.expect("the worker lives");
            let after = Duration::from_micros(match come.meeting {
                Meeting::Late => 300_000,
                _ => random.below(10_001),
            });
            publishers.spawn(meet(jobs.clone(), ids[&come.number], come, after, published.clone()));
        }
        publishers.join_all().await;
    }
    let all_ended = async || jobs.counts().await.expect("counts answer").iter().all(|it: &KindCount| it.jobs == 0);
    let last = Instant::now();
    // A wake-up that is lost would be found by the poll alone, after 30 s.
    while !all_ended().await && last.elapsed() < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let took = begun.elapsed();
    let (mut missed, mut doubled, mut timed_out) = (Vec::new(), Vec::new(), 0);
    let passed = world.passed.lock().expect("no holder panics").clone();
    for pair in &pairs {
        let times = passed.get(&pair.number).map_or(0, Vec::len);
        let record = jobs.find(ids[&pair.number]).await.expect("it is stored");
        let output = record.output.as_ref().map(|output| output.as_str() == "true");
        match (pair.meeting, record.state, output) {
            (Meeting::Cancelled, State::Cancelled, _) if times == 0 => {}
            (Meeting::TimedOut, State::Completed, Some(_)) if times == 1 => {
                timed_out += u32::from(output == Some(false))
            }
            (_, State::Completed, Some(true)) if times == 1 && pair.meeting != Meeting::Cancelled => {}
            _ if times > 1 => doubled.push((pair.clone(), record)),
            _ => missed.push((pair.clone(), record)),
        }
    }
    let mut waits: Vec<Duration> = passed
        .iter()
        .filter_map(|(number, times)| {
            Some(times.first()?.saturating_duration_since(*published.lock().ok()?.get(number)?))
        })
        .collect();
    waits.sort();
    let slowest = waits.last().copied().unwrap_or_default();
    let at = |percent: usize| waits.get(waits.len() * percent / 100).copied().unwrap_or_default();
    println!(
        "{count} pairs in {took:.1?}, seed {seed}: {} missed, {} doubled, {timed_out} timed out; published to resumed: p50 {:.1?}, p99 {:.1?}, \
         at most {slowest:.1?}",
        missed.len(),
        doubled.len(),
        at(50),
        at(99),
    );
    worker.drain().await;
    assert!(slowest < Duration::from_secs(20), "some run was found by the poll alone: {slowest:?}");
    assert!(missed.is_empty() && doubled.is_empty(), "missed {missed:#?}, doubled {doubled:#?}");
}

/// Without a listener, as behind a pooler in transaction mode, a parked run goes on within a poll.
pub(crate) async fn without_a_listener() {
    const RUNS: u64 = 20;
    let db = Db::new();
    let deaf = Pg::options().transaction_pooler(true).build(db.pool(10).await).expect("it is built");
    let jobs = Jobs::builder().driver(Arc::new(deaf)).expect("the registry is right");
    let (comes, _coming) = mpsc::unbounded_channel();
    let world = World { comes, passed: Arc::default() };
    let worker = jobs.worker().state(world.clone()).start().await.expect("it starts");
    let pairs = (0..RUNS).map(|number| Pair { number, meeting: Meeting::Late });
    jobs.enqueue_many::<pair>(pairs).await.expect("accepted");
    let parked = async || {
        let counts = jobs.counts().await.expect("counts answer");
        counts.iter().any(|it| it.state == State::Suspended && it.jobs == RUNS).then_some(())
    };
    eventually("the runs are parked", parked).await;
    let mut published = Vec::new();
    for number in 0..RUNS {
        Paid { number }.publish(&jobs, number).await.expect("published");
        published.push(Instant::now());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let passed = || world.passed.lock().expect("no holder panics").clone();
    eventually("the runs go on", async || (passed().len() as u64 == RUNS).then_some(())).await;
    let waits = (0..RUNS).map(|number| passed()[&number][0].saturating_duration_since(published[number as usize]));
    let slowest = waits.max().unwrap_or_default();
    println!("{RUNS} runs woken without a listener, the slowest after {slowest:.1?}");
    assert!(slowest < Duration::from_secs(6), "longer than a poll: {slowest:?}");
    worker.drain().await;
}
