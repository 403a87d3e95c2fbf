//! A job without steps: it is run at least once, and once more for each crash at most.

use crate::play::{Scenario, Store, play};
use jobs::{
    Error, Jobs, Registry, State,
    prelude::*,
    testing::{Fault, Faults, Incarnation, RigBuilder},
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

/// Where a job's effect is noted, and the life that it runs in.
#[derive(Clone)]
struct World {
    life: Incarnation,
    effects: Arc<AtomicU32>,
}

/// Has an effect, and fails once after it.
#[job(name = "crashes.plain", tenant = none, retry(max_attempts = 3, backoff = fixed("1s")))]
async fn plain(ctx: &Ctx, _input: ()) -> Result<u32, Failure> {
    let world: &World = ctx.state()?;
    world.life.point("before the effect").await?;
    world.effects.fetch_add(1, SeqCst);
    world.life.point("after the effect").await?;
    if ctx.attempt() == 1 { Err(Failure::retry("once more")) } else { Ok(7) }
}

struct Plain {
    effects: Arc<AtomicU32>,
}

impl Scenario for Plain {
    fn registry(&self) -> Registry {
        Registry::builder().job::<plain>().build().expect("one job")
    }

    fn equip<'a>(&self, rig: RigBuilder<'a>, life: &Incarnation) -> RigBuilder<'a> {
        rig.state(World { life: life.clone(), effects: Arc::clone(&self.effects) })
    }

    async fn idle(&self, _: &Jobs) -> Result<(), Error> {
        Ok(())
    }
}

/// Plays it without a fault, then with each fault at each point.
pub(crate) async fn enumerate(store: &dyn Store) {
    let points = once(store, &Faults::none()).await;
    let mut plays = 0;
    for fault in [Fault::Crash, Fault::Away] {
        for at in 0.. {
            let faults = Faults::at(&[(at, fault)]);
            once(store, &faults).await;
            if !faults.all_struck() {
                break;
            }
            plays += 1;
        }
    }
    println!("a plain job: {points} points, {plays} plays with a fault");
    assert!(plays >= points, "only {plays} plays for {points} points");
}

async fn once(store: &dyn Store, faults: &Faults) -> usize {
    store.empty().await;
    let scenario = Plain { effects: Arc::default() };
    let jobs = Jobs::new(store.driver(), scenario.registry());
    let job = jobs.enqueue::<plain>(()).await.expect("accepted").id();
    let (record, _) = play(store, &scenario, job, faults).await;
    let points = faults.points();
    let effects = scenario.effects.load(SeqCst);
    assert!((1..=3).contains(&effects), "{effects} effects: {points:#?}");
    assert_eq!(record.state, State::Completed, "{record:?}: {points:#?}");
    // A store that is away before or after the effect fails the body; a crash counts no attempt.
    assert!((2..=3).contains(&record.attempt), "{record:?}: {points:#?}");
    points.len()
}
