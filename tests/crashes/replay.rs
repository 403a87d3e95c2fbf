//! A run of a thousand completed steps goes on after one read of them.

use crate::play::Store;
use jobs::{
    Jobs, Registry,
    prelude::*,
    testing::{Faults, Rig},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Instant,
};

/// How many step bodies ran.
#[derive(Clone, Default)]
struct Ran(Arc<AtomicU64>);

#[derive(Debug, Serialize, Deserialize)]
#[event(name = "replay.go")]
struct Go {}

#[job(name = "replay.long", tenant = none)]
async fn long(ctx: &Ctx, steps: u64) -> Result<u64, Failure> {
    let mut sum = 0;
    for number in 0..steps {
        sum += step!(ctx, "add", key = number, async {
            ctx.state::<Ran>()?.0.fetch_add(1, SeqCst);
            Ok(number)
        })
        .await?;
    }
    let _: Go = wait_for!(ctx, "go", key = ctx.id()).await?;
    Ok(sum)
}

/// Counts what the driver is asked between the claim and the end of a run that goes on after 1,000 steps.
pub(crate) async fn costs_one_read(store: &dyn Store) {
    const STEPS: u64 = 1_000;
    let ran = Ran::default();
    let faults = Faults::none();
    let registry = Registry::builder().job::<long>().build().expect("one job");
    let jobs = Jobs::new(faults.incarnate(store.driver()).driver(), registry);
    let job = jobs.enqueue::<long>(STEPS).await.expect("accepted").id();
    let rig = Rig::of(&jobs).state(ran.clone()).start().await.expect("it starts");
    rig.next().await.expect("it runs");
    assert_eq!((jobs.find(job).await.expect("stored").state, ran.0.load(SeqCst)), (State::Suspended, STEPS));
    Go {}.publish(&jobs, job).await.expect("published");
    let before = faults.points().len();
    let begun = Instant::now();
    let run = rig.next().await.expect("it runs").expect("it was woken");
    let took = begun.elapsed();
    assert_eq!((jobs.find(job).await.expect("stored").state, ran.0.load(SeqCst)), (State::Completed, STEPS));
    assert_eq!((run.steps_run, u64::from(run.steps_replayed)), (1, STEPS), "the wait, and the steps");
    let asked: Vec<String> =
        faults.points().split_off(before).into_iter().filter(|point| point.starts_with("before")).collect();
    println!("{STEPS} steps replayed in {took:.1?}: {asked:?}");
    let reads = asked.iter().filter(|point| *point == "before steps").count();
    assert_eq!((reads, asked.len()), (1, 7), "{asked:?}");
    rig.end().await;
}
