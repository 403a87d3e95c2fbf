//! Everything that moves runs at once: at the end nothing is lost, nothing is left behind, and nobody waits for what
//! has come.

use super::*;
use jobs::driver::{
    NewJob, Operation, Reschedule, Stage as Recorded, StepKind, StepRef, StepStatus, StepWrite, Unwind,
};
use jobs::failure::RecordedFailure;
use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

const PARENTS: usize = 60;
/// For how long.
const STORM: Duration = Duration::from_secs(4);
/// The key that is published next: each is published once, while runs begin to wait for it.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What must not be found once all have come to rest.
const WRONG: [(&str, &str); 8] = [
    (
        "a job is in no table, or in two",
        "SELECT count(*) FROM public.known AS k WHERE 1 <> (SELECT count(*) FROM jobs.records AS r WHERE r.id = k.id)",
    ),
    (
        "a wait of a run that is not parked",
        "SELECT count(*) FROM jobs.waits AS w WHERE NOT EXISTS (
            SELECT FROM jobs.waiting AS p WHERE p.id = w.job AND p.suspended)",
    ),
    (
        "steps of a run that has ended, or that nobody knows of",
        "SELECT count(*) FROM jobs.steps AS s WHERE NOT EXISTS (
            SELECT FROM jobs.records AS r WHERE r.id = s.job AND r.state IN (0, 1, 2, 3, 5) AND r.stage > 0)",
    ),
    (
        "a parked run whose event has come",
        "SELECT count(*) FROM jobs.waits AS w JOIN jobs.events AS e ON e.name = w.event AND e.key = w.key
            AND e.id <> ALL (w.taken)",
    ),
    (
        "a parked run whose child has ended",
        "SELECT count(*) FROM jobs.waits AS w JOIN jobs.steps AS s USING (child) WHERE s.status = 4",
    ),
    (
        "a spawn whose child has ended, and that was not told",
        "SELECT count(*) FROM jobs.steps AS s WHERE s.child IS NOT NULL AND s.status = 0 AND NOT EXISTS (
            SELECT FROM jobs.records AS r WHERE r.id = s.child AND r.state IN (0, 1, 2, 3))",
    ),
    (
        "a run that unwinds without its decision",
        "SELECT count(*) FROM jobs.records AS r WHERE r.stage = 3 AND r.state IN (0, 1, 2, 3, 5) AND NOT EXISTS (
            SELECT FROM jobs.steps AS s WHERE s.job = r.id AND s.role = 2)",
    ),
    ("a history that lost its steps", "SELECT count(*) FROM jobs.history WHERE stage > 0 AND steps IS NULL"),
];

/// Some number below this one.
fn some(below: u64) -> u64 {
    RandomState::new().hash_one(0) % below
}

/// A key that is being published, or is about to be.
fn key() -> String {
    (NEXT.load(Ordering::Relaxed) + some(5)).saturating_sub(3).to_string()
}

fn step(name: &str, kind: StepKind, status: StepStatus, position: u32) -> StepWrite {
    StepWrite::new(StepRef { name: name.to_owned(), key: String::new() }, kind, status, position)
}

fn failure() -> RecordedFailure {
    RecordedFailure { code: "X_JOB_FAILED".to_owned(), operator: "no".to_owned(), caller_fix: None, stop: None }
}

/// Runs whatever it claims, in whatever way.
async fn work(stage: Arc<Stage>, worker: HandWorker) {
    let began = Instant::now();
    while began.elapsed() < STORM {
        for claimed in worker.claim(4).await {
            // Nothing of a run that unwinds goes forward.
            let unwinds = claimed.stage == Recorded::Unwinding;
            let mut waits = if some(2) == 0 { vec![on(&key())] } else { Vec::new() };
            if !unwinds && claimed.parent.is_none() && some(2) == 0 {
                let child = NewJob { parent: Some(claimed.fence.job), ..job() };
                let id = child.id;
                let name = format!("child {id}");
                let spawn = step(&name, StepKind::Spawn, StepStatus::Started, 1);
                let spawn = StepWrite { child: Some(Box::new(child)), ..spawn };
                if let Written::Landed = worker.write(&claimed, Change::Step(Box::new(spawn))).await {
                    know(&stage, id).await;
                    waits.push(Wait::Child(id));
                }
            }
            let back = |delay| Reschedule {
                delay: Duration::from_millis(delay),
                attempt: claimed.fence.attempt,
                failure: None,
                keep: Keep::DEFAULT,
            };
            let change = match some(10) {
                0 if unwinds => Change::Step(Box::new(step("a", StepKind::Undo, StepStatus::Done, 2))),
                0 => Change::Step(Box::new(step("a", StepKind::Step, StepStatus::Done, 2))),
                1 if !unwinds && some(4) == 0 => {
                    Change::Step(Box::new(step("pivot", StepKind::Pivot, StepStatus::Done, 3)))
                }
                2 if !unwinds => Change::Unwind(Box::new(Unwind { failure: failure(), records: Vec::new() })),
                3 => Change::Reschedule(back(0)),
                4 => Change::Reschedule(back(5)),
                5 => {
                    let state = [State::Completed, State::Dead, State::Dropped][some(3) as usize];
                    worker.finish(&claimed, state).await;
                    continue;
                }
                _ => {
                    let now = stage.driver.now().await.expect("the time");
                    let due_at = (some(3) == 0).then(|| now + chrono::TimeDelta::milliseconds(some(20) as i64));
                    let wait = (!unwinds).then(|| step("wait", StepKind::Wait, StepStatus::Started, 4));
                    let records = wait.into_iter().collect();
                    Change::Park(Box::new(Park { due_at, records, ..park(waits) }))
                }
            };
            let goes_on = matches!(change, Change::Step(_) | Change::Unwind(_));
            let written = worker.write(&claimed, change).await;
            assert!(matches!(written, Written::Landed | Written::Cancelled), "{written:?}");
            if goes_on {
                worker.write(&claimed, Change::Reschedule(back(0))).await;
            }
        }
    }
}

async fn know(stage: &Stage, job: JobId) {
    sqlx::query("INSERT INTO public.known VALUES ($1)").bind(job.0).execute(&stage.publishers).await.expect("noted");
}

/// A job that was enqueued at some time.
async fn known(stage: &Stage) -> JobId {
    let sql = "SELECT id FROM public.known ORDER BY random() LIMIT 1";
    JobId(sqlx::query_scalar(sql).fetch_one(&stage.publishers).await.expect("one"))
}

async fn publish(stage: Arc<Stage>) {
    const LEVELS: [&str; 2] = ["READ COMMITTED", "REPEATABLE READ"];
    let began = Instant::now();
    while began.elapsed() < STORM {
        let mut tx = stage.begin(LEVELS[some(2) as usize]).await;
        let key = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
        stage.publish_in(&mut tx, &key).await;
        sqlx::raw_sql("SELECT pg_sleep(0.02 * random())").execute(&mut *tx).await.expect("a nap");
        let _ = if some(4) == 0 { tx.rollback().await } else { tx.commit().await };
    }
}

async fn interfere(stage: Arc<Stage>) {
    let began = Instant::now();
    while began.elapsed() < STORM {
        let known = known(&stage).await;
        match some(6) {
            0 => drop(stage.driver.cancel(known).await),
            1 => drop(stage.driver.roll_back(known).await),
            2 => drop(stage.driver.requeue(known).await),
            3 => drop(stage.driver.operate(known, Operation::Resume).await),
            // As on a pool of this level.
            4 => {
                let mut tx = stage.begin("REPEATABLE READ").await;
                let cancel = sqlx::query("SELECT jobs.cancel_run($1, false, 60, 'X', '', NULL)").bind(known.0);
                if cancel.execute(&mut *tx).await.is_ok() {
                    let _ = tx.commit().await;
                }
            }
            _ => {
                let new = job();
                stage.driver.enqueue(std::slice::from_ref(&new), None).await.expect("accepted");
                know(&stage, new.id).await;
            }
        }
    }
}

async fn keep_up(stage: Arc<Stage>) {
    let began = Instant::now();
    while began.elapsed() < STORM {
        stage.driver.promote(10).await.expect("a promotion");
        stage.wake().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_moves_runs_at_once_nothing_is_lost_and_nothing_is_left() {
    let stage = Arc::new(Stage::new().await);
    run(stage.driver.pool(), "CREATE TABLE public.known (id uuid PRIMARY KEY)").await;
    for _ in 0..PARENTS {
        let new = job();
        stage.driver.enqueue(std::slice::from_ref(&new), None).await.expect("accepted");
        know(&stage, new.id).await;
    }
    let mut all = tokio::task::JoinSet::new();
    let mut workers = Vec::new();
    for _ in 0..3 {
        let worker = HandWorker::start(stage.driver.clone()).await;
        workers.push(worker.clone());
        all.spawn(work(Arc::clone(&stage), worker));
        all.spawn(interfere(Arc::clone(&stage)));
        all.spawn(publish(Arc::clone(&stage)));
    }
    all.spawn(keep_up(Arc::clone(&stage)));
    while let Some(ended) = all.join_next().await {
        ended.expect("no panic");
    }
    for worker in workers {
        worker.stop().await;
    }
    for _ in 0..20 {
        stage.wake().await;
    }
    assert!(!stage.unwoken().await);
    let mut wrong = Vec::new();
    for (what, sql) in WRONG {
        let count: i64 = sqlx::query_scalar(sql).fetch_one(stage.driver.pool()).await.expect("a count");
        if count > 0 {
            wrong.push((what, count));
        }
    }
    let sql = "SELECT string_agg(format('%s/%s: %s', state, stage, n), ', ')
        FROM (SELECT state, stage, count(*) AS n FROM jobs.records GROUP BY 1, 2 ORDER BY 1, 2) AS c";
    let reached: String = sqlx::query_scalar(sql).fetch_one(stage.driver.pool()).await.expect("a text");
    assert!(wrong.is_empty(), "{wrong:?} of {reached}");
}
