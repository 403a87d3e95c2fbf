//! The essentials on Postgres, through a worker.

use crate::{
    support::{Db, eventually},
    world::{Fault, World, act, undo},
};
use jobs::{
    JobId, Resolution,
    driver::{JobRecord, StepKind, StepStatus},
    prelude::*,
    testing::Rig,
};
use std::time::Duration;

/// Two steps, a `once` step, a wait.
#[job(tenant = none, retry(max_attempts = 2, backoff = fixed("10ms")))]
async fn stay(ctx: &Ctx, waits: bool) -> Result<(), Failure> {
    let room: String = step!(ctx, "room", async { act(ctx, "room").await }).await?;
    compensate!(ctx, "room", [room], async move |ctx| { undo(ctx, room).await });
    let paid: String = step!(ctx, "charge", once, async { act(ctx, "charge").await }).await?;
    compensate!(ctx, "charge", [paid], async move |ctx| { undo(ctx, paid).await });
    if waits {
        sleep!(ctx, "a day", "1d").await;
    }
    act(ctx, "end").await?;
    Ok(())
}

async fn store(db: &Db) -> Jobs {
    let jobs = Jobs::connect(db.url()).await.unwrap();
    jobs.migrate(Migrate::ApplyAll).await.unwrap();
    jobs
}

async fn in_state(jobs: &Jobs, job: JobId, state: State) -> JobRecord {
    eventually(&format!("the job is {state}"), || async {
        let record = jobs.find(job).await.unwrap();
        (record.state == state).then_some(record)
    })
    .await
}

#[tokio::test]
async fn a_worker_undoes_the_steps_of_a_job_that_failed_for_good() {
    let (db, world) = (Db::new(), World::default().fault("end", Fault::Fail, 9).fault("undo room!", Fault::Fail, 1));
    let jobs = store(&db).await;
    let worker = jobs.worker().state(world.clone()).start().await.unwrap();
    let job = stay::enqueue(&jobs, false).await.unwrap().id();
    let record = in_state(&jobs, job, State::Dead).await;
    worker.drain().await;
    assert_eq!(world.undone(), ["undo charge!", "undo room!", "undo room!"]);
    assert_eq!((&*record.failure.unwrap().code, record.attempt), ("X_ACT_FAILED", 2));
    let records = jobs.steps(job).await.unwrap();
    let undos = records.iter().filter(|record| record.kind == StepKind::Undo);
    let undos: Vec<_> = undos.map(|undo| (&*undo.id.name, undo.status, undo.tries)).collect();
    assert_eq!(undos, [("charge", StepStatus::Done, 0), ("room", StepStatus::Done, 1)]);
}

#[tokio::test]
async fn a_spent_budget_is_resumed_by_an_operator() {
    let world = World::default().fault("end", Fault::Terminal, 1).fault("undo room!", Fault::Terminal, 1);
    let db = Db::new();
    let jobs = store(&db).await;
    let worker = jobs.worker().state(world.clone()).start().await.unwrap();
    let job = stay::enqueue(&jobs, false).await.unwrap().id();
    let failure = in_state(&jobs, job, State::Dead).await.failure.unwrap();
    assert_eq!(failure.code, "X_JOB_COMPENSATION_FAILED");
    assert!(failure.operator.contains("not undone: `room`; undone: `charge`; "), "{failure:?}");
    jobs.resume(job).await.unwrap();
    eventually("its failure is the first again", || async {
        let record = jobs.find(job).await.unwrap();
        (record.state == State::Dead && record.failure?.code == "X_ACT_REFUSED").then_some(())
    })
    .await;
    worker.drain().await;
    assert_eq!(world.undone(), ["undo charge!", "undo room!", "undo room!"]);
}

#[tokio::test]
async fn suspended_and_running_jobs_are_rolled_back() {
    let (db, world) = (Db::new(), World::default().fault("end", Fault::Hang, 1));
    let jobs = store(&db).await;
    let worker = jobs.worker().state(world.clone()).cancel_grace("100ms").start().await.unwrap();
    for waits in [true, false] {
        let job = stay::enqueue(&jobs, waits).await.unwrap().id();
        if waits {
            in_state(&jobs, job, State::Suspended).await;
        } else {
            eventually("it runs", || async { world.done().contains(&"end".to_owned()).then_some(()) }).await;
        }
        jobs.roll_back(job).await.unwrap();
        let record = in_state(&jobs, job, State::Cancelled).await;
        assert_eq!(record.failure.unwrap().code, "X_JOB_CANCELLED");
    }
    worker.drain().await;
    assert_eq!(world.undone(), ["undo charge!", "undo room!", "undo charge!", "undo room!"]);
}

#[tokio::test]
async fn a_drain_in_the_middle_of_an_unwinding_is_uncounted() {
    let world = World::default().fault("end", Fault::Terminal, 1).fault("undo room!", Fault::Hang, 1);
    let db = Db::new();
    let jobs = store(&db).await;
    let job = stay::enqueue(&jobs, false).await.unwrap().id();
    let worker = jobs.worker().state(world.clone()).drain_grace("1ms").cancel_grace("50ms").start().await.unwrap();
    eventually("it undoes the room", || async { (world.undone().len() == 2).then_some(()) }).await;
    worker.drain().await;
    let record = jobs.find(job).await.unwrap();
    assert_eq!((record.state, record.attempt, record.crashes), (State::Ready, 1, 0));
    let worker = jobs.worker().state(world.clone()).start().await.unwrap();
    in_state(&jobs, job, State::Dead).await;
    worker.drain().await;
    assert_eq!(world.undone(), ["undo charge!", "undo room!", "undo room!"]);
}

#[tokio::test]
async fn an_unknown_once_step_stops_the_unwinding_until_somebody_answers() {
    let (db, world) = (Db::new(), World::default().fault("charge", Fault::Hang, 1));
    let jobs = store(&db).await;
    let job = stay::enqueue(&jobs, false).await.unwrap().id();
    let rig = Rig::of(&jobs).state(world.clone()).lease(Duration::from_secs(1)).start().await.unwrap();
    tokio::select! {
        ended = rig.next() => panic!("{ended:?}"),
        () = eventually("it charges", || async { world.done().contains(&"charge".to_owned()).then_some(()) }) => {}
    }
    drop(rig);
    let worker = jobs.worker().state(world.clone()).start().await.unwrap();
    let parked = in_state(&jobs, job, State::Suspended).await;
    assert_eq!(parked.parked.unwrap().code, "X_STEP_UNKNOWN");
    jobs.roll_back(job).await.unwrap();
    let failure = in_state(&jobs, job, State::Dead).await.failure.unwrap();
    assert_eq!(failure.code, "X_JOB_COMPENSATION_FAILED");
    assert!(world.undone().is_empty());
    jobs.resolve_step(job, "charge", Resolution::done("payment 7").unwrap()).await.unwrap();
    jobs.resume(job).await.unwrap();
    in_state(&jobs, job, State::Cancelled).await;
    worker.drain().await;
    assert_eq!(world.undone(), ["undo payment 7", "undo room!"]);
}
