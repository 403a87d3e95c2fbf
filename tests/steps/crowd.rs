//! What many runs cost that wait, and what a cancel meets at any moment.

use crate::log::{Log, note};
use jobs::{
    JobId, Jobs, State,
    driver::{Lease, ListFilter, Memory, StepStatus},
    prelude::*,
    testing::eventually,
};
use std::{sync::Arc, time::Duration};

/// How many runs are parked at once.
const CROWD: usize = 100_000;

#[job(tenant = none)]
async fn waits_for_ever(ctx: &Ctx, _input: u32) -> Result<(), Failure> {
    sleep!(ctx, "nap", "365d").await;
    Ok(())
}

#[job(tenant = none, queue = "other")]
async fn passes(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}

fn on_memory(registry: Registry) -> Jobs {
    Jobs::new(Arc::new(Memory::new()), registry)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_parked_runs_hold_no_task_and_no_slot() {
    let jobs = on_memory(Registry::builder().job::<waits_for_ever>().job::<passes>().build().expect("two jobs"));
    let worker = jobs.worker().concurrency(50).start().await.expect("it starts");
    let job = jobs.enqueue::<passes>(()).await.expect("accepted").id();
    in_state(&jobs, job, State::Completed).await;
    let tasks = tokio::runtime::Handle::current().metrics();
    let idle = tasks.num_alive_tasks();
    jobs.enqueue_many::<waits_for_ever>(0..CROWD as u32).await.expect("accepted");
    let parked = async || {
        let counts = jobs.driver().counts().await.expect("it answers");
        counts.iter().filter(|count| count.state == State::Suspended).map(|count| count.jobs).sum::<u64>()
    };
    // Counting them all is not cheap either.
    let pause = Duration::from_millis(500);
    crate::within(Duration::from_secs(180), async || {
        tokio::time::sleep(pause).await;
        parked().await == CROWD as u64
    })
    .await;
    crate::within(Duration::from_secs(10), async || tasks.num_alive_tasks() <= idle).await;
    let record = jobs.workers().await.expect("it answers").remove(0);
    assert_eq!(record.running, 0);
    let job = jobs.enqueue::<passes>(()).await.expect("accepted").id();
    in_state(&jobs, job, State::Completed).await;
    worker.drain().await;
}

async fn in_state(jobs: &Jobs, job: JobId, state: State) {
    eventually(|| async { jobs.find(job).await.is_ok_and(|record| record.state == state) }).await;
}

/// Ten short steps.
#[job(tenant = none)]
async fn ten_steps(ctx: &Ctx, input: u32) -> Result<(), Failure> {
    for number in 0..10 {
        step!(ctx, "step", key = number, async {
            tokio::time::sleep(Duration::from_micros(u64::from(input % 7) * 300)).await;
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_at_any_moment_of_a_step_ends_the_run_one_way_or_the_other() {
    const RUNS: u32 = 2_000;
    let jobs = on_memory(Registry::builder().job::<ten_steps>().build().expect("one job"));
    let worker = jobs.worker().concurrency(100).start().await.expect("it starts");
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..RUNS {
        let jobs = jobs.clone();
        tasks.spawn(async move {
            let job = jobs.enqueue::<ten_steps>(number).await.expect("accepted").id();
            tokio::time::sleep(Duration::from_micros(u64::from(number) * 97 % 20_000)).await;
            let asked = jobs.cancel(job).await;
            let end = tokio::time::Instant::now() + Duration::from_secs(60);
            let state = loop {
                let state = jobs.find(job).await.expect("it is stored").state;
                if matches!(state, State::Completed | State::Cancelled) {
                    break state;
                }
                assert!(tokio::time::Instant::now() < end, "stuck as {state}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            };
            assert!(asked.is_ok() || state == State::Completed, "{state}");
            state
        });
    }
    let states = tasks.join_all().await;
    let cancelled = states.iter().filter(|state| **state == State::Cancelled).count();
    assert!(cancelled > 0 && cancelled < RUNS as usize, "{cancelled} of {RUNS} were cancelled");
    worker.drain().await;
}

/// Sleeps a little, and says that it woke.
#[job(tenant = none)]
async fn naps(ctx: &Ctx, input: u32) -> Result<(), Failure> {
    sleep!(ctx, "nap", Duration::from_millis(u64::from(input) * 20)).await;
    step!(ctx, "woke", async {
        note(ctx, format!("woke {input}"));
        Ok(())
    })
    .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sleepers_wake_once_each_over_ten_restarts() {
    let (log, jobs) = (Log::default(), on_memory(Registry::builder().job::<naps>().build().expect("one job")));
    jobs.enqueue_many::<naps>(0..50).await.expect("accepted");
    for _ in 0..10 {
        let worker = jobs.worker().state(log.clone()).start().await.expect("it starts");
        tokio::time::sleep(Duration::from_millis(60)).await;
        worker.drain().await;
    }
    let worker = jobs.worker().state(log.clone()).start().await.expect("it starts");
    let completed = ListFilter { state: Some(State::Completed), limit: 200, ..ListFilter::default() };
    eventually(|| async { jobs.list(completed.clone()).await.is_ok_and(|done| done.len() == 50) }).await;
    worker.drain().await;
    let mut woke = log.take();
    woke.sort();
    woke.dedup();
    assert_eq!(woke.len(), 50);
    assert_eq!(jobs.list(ListFilter { limit: 200, ..ListFilter::default() }).await.expect("it answers").len(), 50);
}

/// A short sleep beside a longer step.
#[job(tenant = none)]
async fn sleeps_beside_a_step(ctx: &Ctx) -> Result<(), Failure> {
    let work = step!(ctx, "work", async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(())
    });
    let nap = async {
        sleep!(ctx, "nap", "20ms").await;
        note(ctx, "woke");
    };
    let (worked, ()) = tokio::join!(work, nap);
    note(ctx, "worked");
    Ok(worked?)
}

#[tokio::test]
async fn a_sleep_beside_a_step_ends_in_its_time_and_is_recorded() {
    let (log, jobs) =
        (Log::default(), on_memory(Registry::builder().job::<sleeps_beside_a_step>().build().expect("one job")));
    let worker = jobs.worker().state(log.clone()).start().await.expect("it starts");
    let job = jobs.enqueue::<sleeps_beside_a_step>(()).await.expect("accepted").id();
    in_state(&jobs, job, State::Completed).await;
    assert_eq!(log.take(), ["woke", "worked"], "one run, never parked");
    let steps = jobs.history(job).await.expect("it is stored").steps;
    assert!(steps.iter().all(|step| step.status == StepStatus::Done), "{steps:?}");
    worker.drain().await;
}

/// Three steps; the first life of number 0 ends between the second and the third.
#[job(tenant = none, queue = "one")]
async fn three_steps(ctx: &Ctx, input: u32) -> Result<(), Failure> {
    for number in 1..=3 {
        if number == 3 && input == 0 && !ctx.is_rescued() {
            note(ctx, "hangs");
            ctx.cancelled().await;
            std::future::pending::<()>().await;
        }
        step!(ctx, "step", key = number, async {
            note(ctx, format!("{input}.{number}"));
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_worker_died_between_two_steps_goes_on_and_frees_its_queue() {
    let (log, jobs) = (Log::default(), on_memory(Registry::builder().job::<three_steps>().build().expect("one job")));
    let lease = Lease { duration: Duration::from_secs(1), beat: Duration::from_millis(300) };
    let worker = || jobs.worker().state(log.clone()).queue("one", 1).prefetch(0).lease(lease).start();
    let first = worker().await.expect("it starts");
    for number in 0..6 {
        jobs.enqueue::<three_steps>(number).await.expect("accepted");
    }
    eventually(|| async { log.count("hangs") == 1 }).await;
    first.abort();
    let second = worker().await.expect("it starts");
    let completed = ListFilter { state: Some(State::Completed), ..ListFilter::default() };
    eventually(|| async { jobs.list(completed.clone()).await.is_ok_and(|done| done.len() == 6) }).await;
    let mut notes = log.take();
    notes.retain(|note| note != "hangs");
    let expected: Vec<String> = (0..6).flat_map(|run| (1..=3).map(move |step| format!("{run}.{step}"))).collect();
    notes.sort();
    assert_eq!(notes, expected, "each step once");
    second.drain().await;
}
