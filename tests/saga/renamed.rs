//! A deploy renames a step under a run that is undone afterwards.

use crate::world::{World, act, undo};
use jobs::{
    Registry,
    driver::{Memory, StepKind},
    prelude::*,
    spec::JobSpec,
    testing::Rig,
};
use std::{future::Future, pin::Pin, sync::Arc};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The job in one release. Written by hand: two of one name cannot register themselves.
struct First;

/// The same job in the next.
struct Second;

impl Job for First {
    type Input = ();
    type Output = ();
    const SPEC: JobSpec = JobSpec::new("deployed");

    fn tenant((): &()) -> Option<String> {
        None
    }

    fn run(ctx: &Ctx, (): ()) -> Boxed<'_, Result<(), Failure>> {
        Box::pin(async move {
            step!(ctx, "reserve", async { act(ctx, "reserve").await }).await?;
            compensate!(ctx, "reserve", async move |ctx| { undo(ctx, "reserve").await });
            sleep!(ctx, "a day", "1d").await;
            Ok(())
        })
    }
}

impl Job for Second {
    type Input = ();
    type Output = ();
    const SPEC: JobSpec = JobSpec::new("deployed");

    fn tenant((): &()) -> Option<String> {
        None
    }

    fn run(ctx: &Ctx, (): ()) -> Boxed<'_, Result<(), Failure>> {
        Box::pin(async move {
            let held: String = step!(ctx, "hold", aliases = ["reserve"], async { act(ctx, "hold").await }).await?;
            compensate!(ctx, "hold", [held], async move |ctx| { undo(ctx, format!("hold of {held}")).await });
            sleep!(ctx, "a day", "1d").await;
            Ok(())
        })
    }
}

fn release<J: Job>(store: &Arc<Memory>) -> Jobs {
    Jobs::new(store.clone(), Registry::builder().job::<J>().build().unwrap())
}

#[tokio::test]
async fn a_step_that_was_renamed_meanwhile_is_undone_by_the_new_code() {
    let (world, store) = (World::default(), Arc::new(Memory::new()));
    let jobs = release::<First>(&store);
    let job = jobs.enqueue::<First>(()).await.unwrap().id();
    let rig = Rig::of(&jobs).state(world.clone()).start().await.unwrap();
    rig.next().await.unwrap();
    rig.end().await;

    let jobs = release::<Second>(&store);
    jobs.roll_back(job).await.unwrap();
    let rig = Rig::of(&jobs).state(world.clone()).start().await.unwrap();
    rig.next().await.unwrap();
    rig.end().await;
    assert_eq!(world.done(), ["reserve", "undo hold of reserve!"]);
    assert_eq!(jobs.find(job).await.unwrap().state, State::Cancelled);
    let records = jobs.steps(job).await.unwrap();
    let undone: Vec<_> = records.iter().filter(|record| record.kind == StepKind::Undo).collect();
    assert_eq!(undone[0].id.name, "reserve", "under the name of the record that it undoes");
}
