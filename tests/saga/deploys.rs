//! A deploy breaks, and another mends, the replay of a run that unwinds.

use crate::world::{World, act, undo};
use jobs::{
    Registry,
    backoff::Backoff,
    clock::Clock,
    driver::{JobRecord, Memory, Stage, StepKind},
    prelude::*,
    spec::{JobSpec, Retry},
    testing::Rig,
};
use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One job in several releases: each says its input and its body.
macro_rules! releases {
    ($($name:ident($input:ty): |$ctx:ident| $body:block)*) => { $(
        struct $name;

        impl Job for $name {
            type Input = $input;
            type Output = ();
            const SPEC: JobSpec =
                JobSpec { retry: Retry::new(3, Backoff::fixed("5s")), ..JobSpec::new("deployed") };

            fn tenant(_: &$input) -> Option<String> {
                None
            }

            fn run($ctx: &Ctx, _: $input) -> Boxed<'_, Result<(), Failure>> {
                Box::pin(async move $body)
            }
        }
    )* };
}

releases! {
    Good(Option<u32>): |ctx| {
        let held: String = step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
        compensate!(ctx, "hold", [held], async move |ctx| { undo(ctx, held).await });
        sleep!(ctx, "a day", "1d").await;
        Ok(())
    }
    Misfit(Option<u32>): |ctx| {
        let held: u32 = step!(ctx, "hold", async { act(ctx, "hold").await?; Ok::<_, Failure>(7) }).await?;
        compensate!(ctx, "hold", [held], async move |ctx| { undo(ctx, held.to_string()).await });
        sleep!(ctx, "a day", "1d").await;
        Ok(())
    }
    Picky(String): |ctx| {
        let held: String = step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
        compensate!(ctx, "hold", [held], async move |ctx| { undo(ctx, held).await });
        sleep!(ctx, "a day", "1d").await;
        Ok(())
    }
    Panicking(Option<u32>): |ctx| {
        act(ctx, "begin").await?;
        if ctx.attempt() > 0 {
            panic!("the new release breaks at once");
        }
        let held: String = step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
        compensate!(ctx, "hold", [held], async move |ctx| { undo(ctx, held).await });
        Ok(())
    }
}

/// A store with a run that has held something, sleeps, and is rolled back.
struct Rolled {
    world: World,
    store: Arc<Memory>,
    job: jobs::JobId,
}

impl Rolled {
    async fn back() -> Self {
        let (world, store) = (World::default(), Arc::new(Memory::with_clock(Clock::manual())));
        let first = release::<Good>(&store);
        let job = first.enqueue::<Good>(None).await.unwrap().id();
        let rolled = Self { world, store, job };
        rolled.run::<Good>(1).await;
        first.roll_back(job).await.unwrap();
        rolled
    }

    /// Lets a release run it so many times, whenever it is due.
    async fn run<J: Job>(&self, times: usize) -> JobRecord {
        let jobs = release::<J>(&self.store);
        let rig = Rig::of(&jobs).state(self.world.clone()).lease(Duration::from_secs(864_000)).start().await.unwrap();
        for _ in 0..times {
            jobs.driver().promote(10).await.unwrap();
            rig.next().await.unwrap();
            self.store.clock().advance(Duration::from_secs(3_600));
        }
        rig.end().await;
        jobs.find(self.job).await.unwrap()
    }

    async fn tries(&self) -> u32 {
        let records = release::<Good>(&self.store).steps(self.job).await.unwrap();
        records.iter().find(|record| record.kind == StepKind::Unwind).unwrap().tries
    }

    async fn resume(&self) {
        release::<Good>(&self.store).resume(self.job).await.unwrap();
    }
}

fn release<J: Job>(store: &Arc<Memory>) -> Jobs {
    Jobs::new(store.clone(), Registry::builder().job::<J>().build().unwrap())
}

#[tokio::test]
async fn a_step_whose_record_does_not_fit_is_named_as_not_undone_and_a_release_that_fits_undoes_it() {
    let rolled = Rolled::back().await;
    let record = rolled.run::<Misfit>(1).await;
    assert_eq!((record.state, record.stage), (State::Dead, Stage::Unwinding));
    let failure = record.failure.unwrap();
    assert_eq!(failure.code, "X_JOB_COMPENSATION_FAILED");
    assert!(failure.operator.contains("not undone: `hold`"), "{}", failure.operator);
    assert_eq!(rolled.world.done(), ["hold"]);
    rolled.resume().await;
    let record = rolled.run::<Good>(1).await;
    assert_eq!(record.state, State::Cancelled);
    assert_eq!(rolled.world.done(), ["hold", "undo hold!"]);
    assert_eq!(rolled.tries().await, 0, "a record that does not fit is no failed try");
}

#[tokio::test]
async fn a_payload_that_no_longer_decodes_stops_the_unwinding_and_a_release_that_reads_it_goes_on() {
    let rolled = Rolled::back().await;
    let record = rolled.run::<Picky>(2).await;
    assert_eq!((record.state, rolled.tries().await), (State::Delayed, 2));
    let record = rolled.run::<Picky>(1).await;
    let failure = record.failure.unwrap();
    assert_eq!(
        (record.state, record.stage, &*failure.code),
        (State::Dead, Stage::Unwinding, "X_JOB_COMPENSATION_FAILED")
    );
    assert!(failure.operator.contains("the body could not be replayed"), "{failure:?}");
    assert!(failure.operator.contains("`hold`"), "{failure:?}");
    assert_eq!(rolled.tries().await, 3);
    rolled.resume().await;
    assert_eq!(rolled.tries().await, 0, "its tries start anew");
    let record = rolled.run::<Good>(1).await;
    assert_eq!((record.state, rolled.world.undone()), (State::Cancelled, vec!["undo hold!".to_owned()]));
}

#[tokio::test]
async fn a_replay_that_always_panics_ends_dead_and_tells_what_is_not_undone() {
    let rolled = Rolled::back().await;
    let record = rolled.run::<Panicking>(2).await;
    assert_eq!((record.state, rolled.tries().await), (State::Delayed, 2));
    let record = rolled.run::<Panicking>(1).await;
    let failure = record.failure.unwrap();
    assert_eq!(
        (record.state, record.stage, &*failure.code),
        (State::Dead, Stage::Unwinding, "X_JOB_COMPENSATION_FAILED")
    );
    assert!(failure.operator.contains("not undone: `hold`"), "{failure:?}");
    assert_eq!(rolled.world.done(), ["hold", "begin", "begin", "begin"]);
    rolled.resume().await;
    let record = rolled.run::<Good>(1).await;
    assert_eq!((record.state, rolled.world.undone()), (State::Cancelled, vec!["undo hold!".to_owned()]));
}
