//! Plays a scenario from its enqueue to its end, process after process. Upstream: the scenarios.

use crate::pg::PgFixture;
use futures_util::future::BoxFuture;
use jobs::{
    Error, JobId, Jobs, Registry,
    driver::JobRecord,
    testing::{
        Faults, Incarnation, Rig, RigBuilder,
        conformance::{Fixture, MemoryFixture},
    },
};
use std::time::Duration;

/// How long a worker's lease lasts. Longer than what a scenario waits for at a time.
const LEASE: Duration = Duration::from_secs(3_600);
/// The time that passes when nothing can run.
const PAUSE: Duration = Duration::from_secs(600);
/// So many pauses, and the scenario hangs.
const PAUSES: usize = 60;
/// So many processes, and the scenario dies of something else than its faults.
const LIVES: usize = 30;

/// A store on which many plays follow one another.
pub(crate) trait Store: Fixture {
    /// Forgets what earlier plays left, so that time passes as fast for the last one as for the first.
    fn empty(&self) -> BoxFuture<'_, ()>;
}

impl Store for MemoryFixture {
    fn empty(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

impl Store for PgFixture {
    fn empty(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.empty())
    }
}

/// What is played.
pub(crate) trait Scenario: Sync {
    /// The jobs that the workers know.
    fn registry(&self) -> Registry;

    /// Gives a process what its jobs need.
    fn equip<'a>(&self, rig: RigBuilder<'a>, life: &Incarnation) -> RigBuilder<'a>;

    /// What the world does when nothing can run: publishes an event.
    fn idle(&self, jobs: &Jobs) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Plays until the job has ended, and answers how it ended and in how many lives.
pub(crate) async fn play(
    store: &dyn Fixture,
    scenario: &impl Scenario,
    job: JobId,
    faults: &Faults,
) -> (JobRecord, usize) {
    let mut pauses = 0;
    for lives in 1..LIVES {
        let life = faults.incarnate(store.driver());
        let jobs = Jobs::new(life.driver(), scenario.registry());
        tokio::select! {
            biased;
            () = life.crashed() => {}
            () = live(store, scenario, job, &jobs, &life, &mut pauses) => {
                let record = store.driver().find(job).await.expect("a find answers").expect("the job is stored");
                assert!(record.state.is_final(), "nothing moves any more: {record:?}\n{:#?}", faults.points());
                return (record, lives);
            }
        }
        // What was killed holds nothing any more but its leases.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        store.advance(LEASE + Duration::from_secs(1)).await;
    }
    panic!("{LIVES} lives and no end: {:#?}", faults.points());
}

/// One process, until nothing is left to run. What the store's absence spoils is tried again.
async fn live(
    store: &dyn Fixture,
    scenario: &impl Scenario,
    job: JobId,
    jobs: &Jobs,
    life: &Incarnation,
    pauses: &mut usize,
) {
    let rig = loop {
        if let Ok(rig) = scenario.equip(Rig::of(jobs).lease(LEASE), life).start().await {
            break rig;
        }
    };
    while jobs.driver().rescue().await.is_err() {}
    loop {
        let next = tokio::select! {
            biased;
            answer = rig.next() => answer,
            () = interrupt(&rig, life) => unreachable!("it watches for ever"),
        };
        match next {
            // A claim whose answer was lost holds a job that nobody runs: its worker must go.
            Err(_) => {
                rig.end().await;
                return Box::pin(live(store, scenario, job, jobs, life, pauses)).await;
            }
            Ok(Some(_)) => {}
            Ok(None) if all_ended(store, job).await => break,
            Ok(None) => {
                *pauses += 1;
                assert!(*pauses < PAUSES, "the jobs wait for something that does not come");
                while scenario.idle(jobs).await.is_err() {}
                store.advance(PAUSE).await;
                store.driver().lease_session(rig.worker()).await.expect("it opens").renew().await.expect("it is held");
            }
        }
    }
    rig.end().await;
}

/// Stops the run under way whenever the process is told to drain.
async fn interrupt(rig: &Rig, life: &Incarnation) {
    loop {
        life.drained().await;
        rig.interrupt();
    }
}

/// Whether the job has ended, and all that it has spawned.
async fn all_ended(store: &dyn Fixture, job: JobId) -> bool {
    let mut open = vec![job];
    while let Some(job) = open.pop() {
        let record = store.driver().find(job).await.expect("a find answers");
        if !record.is_some_and(|record| record.state.is_final()) {
            return false;
        }
        let steps = store.driver().steps(job).await.expect("the steps are listed");
        open.extend(steps.into_iter().filter_map(|step| step.child));
    }
    true
}
