//! Steps on Postgres: what they cost, what ordinary jobs do not pay for, and what is found out after a lost answer.

use super::{driver, run};
use crate::support::{Db, Fault, Proxy, pool};
use jobs::{
    JobId, State,
    driver::{
        CancelAnswer, Change, Claimed, Driver, Finish, JobRecord, NewJob, Reschedule, Stage, StepKind, StepRef,
        StepStatus, StepWrite, Write, Written, pg::Pg,
    },
    spec::Keep,
    testing::conformance::{HandWorker, job},
};
use std::{sync::Arc, time::Duration};

fn step(name: &str) -> StepWrite {
    let id = StepRef { name: name.to_owned(), key: String::new() };
    StepWrite::new(id, StepKind::Step, StepStatus::Done, 1)
}

fn spawn(parent: &Claimed, position: u32) -> (NewJob, StepWrite) {
    let child = NewJob { parent: Some(parent.fence.job), ..job() };
    let id = StepRef { name: "child".to_owned(), key: position.to_string() };
    let record = StepWrite {
        child: Some(Box::new(child.clone())),
        ..StepWrite::new(id, StepKind::Spawn, StepStatus::Started, position)
    };
    (child, record)
}

fn finish(state: State) -> Change {
    Change::Finish(Finish { state, output: None, failure: None, keep: Keep::DEFAULT, follow_up: None })
}

fn write(claimed: &Claimed, change: Change) -> Write {
    Write { fence: claimed.fence, change }
}

async fn held(driver: &Arc<Pg>, worker: &HandWorker, count: u32) -> Vec<Claimed> {
    let jobs: Vec<_> = (0..count).map(|_| job()).collect();
    driver.enqueue(&jobs, None).await.expect("accepted");
    worker.claim(count).await
}

async fn record(driver: &Pg, job: JobId) -> JobRecord {
    driver.find(job).await.expect("a find answers").expect("it is stored")
}

/// How many statements wrote the rows of a table: those of one share the transaction and the command.
async fn statements(driver: &Pg, table: &str) -> i64 {
    let sql = format!("SELECT count(DISTINCT (xmin::text, cmin::text)) FROM jobs.{table}");
    sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(driver.pool()).await.expect("the rows are counted")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_steps_of_many_runs_are_one_statement() {
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = held(&driver, &worker, 50).await;
    let writes: Vec<_> = claimed.iter().map(|claimed| write(claimed, Change::Step(Box::new(step("a"))))).collect();
    assert!(worker.commit(&writes).await.iter().all(|written| matches!(written, Written::Landed)));
    assert_eq!(statements(&driver, "steps").await, 1);
    assert_eq!(statements(&driver, "running").await, 1, "the first record of each raises its stage in that statement");
    let before: Vec<String> = rows(&driver).await;
    worker.write(&claimed[0], Change::Step(Box::new(step("b")))).await;
    assert_eq!(statements(&driver, "steps").await, 2);
    assert_eq!(rows(&driver).await, before, "a later step rewrites no row of a run");
}

/// Which versions of the held rows are stored.
async fn rows(driver: &Pg) -> Vec<String> {
    let sql = "SELECT xmin::text || id FROM jobs.running ORDER BY id";
    sqlx::query_scalar(sql).fetch_all(driver.pool()).await.expect("the rows are listed")
}

/// Puts functions in the place of those that steps need; they fail whoever calls them.
async fn forbid_steps(driver: &Pg) {
    run(
        driver.pool(),
        "DO $$
        DECLARE
            called regprocedure;
        BEGIN
            FOR called IN
                SELECT oid FROM pg_proc
                WHERE pronamespace = 'jobs'::regnamespace AND proname IN ('end_run', 'begin_unwind', 'wake_parents')
            LOOP
                EXECUTE 'DROP FUNCTION ' || called;
            END LOOP;
            CREATE FUNCTION jobs.end_run(uuid, uuid, int2, text, text, text, text, text) RETURNS json
            LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''called''; END';
            CREATE FUNCTION jobs.begin_unwind(uuid, int4, text, text, text, text) RETURNS void
            LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''called''; END';
        END
        $$;
        DROP TABLE jobs.waits;
        ALTER TABLE jobs.steps RENAME TO gone",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ordinary_job_touches_nothing_of_steps() {
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    forbid_steps(&driver).await;
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = held(&driver, &worker, 8).await;
    let handed_back = Reschedule { delay: Duration::ZERO, attempt: 1, failure: None, keep: Keep::DEFAULT };
    for (claimed, state) in claimed.iter().zip([State::Completed, State::Dead, State::Dropped, State::Expired]) {
        assert!(matches!(worker.write(claimed, finish(state)).await, Written::Landed), "{state}");
    }
    driver.cancel(claimed[4].fence.job).await.expect("it is asked");
    assert!(matches!(worker.write(&claimed[4], Change::Reschedule(handed_back.clone())).await, Written::Cancelled));
    assert!(matches!(worker.write(&claimed[5], Change::Reschedule(handed_back)).await, Written::Landed));
    driver.cancel(claimed[6].fence.job).await.expect("it is asked");
    worker.stop().await;
    let states = [State::Ready, State::Cancelled, State::Ready];
    for (claimed, state) in claimed[5..].iter().zip(states) {
        assert_eq!(record(&driver, claimed.fence.job).await.state, state);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spawn_whose_answer_was_lost_is_written_once() {
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    let worker = HandWorker::start(driver.clone()).await;
    let parent = held(&driver, &worker, 1).await.remove(0);
    let (child, spawned) = spawn(&parent, 1);
    for _ in 0..2 {
        assert!(matches!(worker.write(&parent, Change::Step(Box::new(spawned.clone()))).await, Written::Landed));
    }
    let claimed = worker.claim_one().await;
    assert_eq!((claimed.fence.job, claimed.parent), (child.id, Some(parent.fence.job)));
    worker.finish(&claimed, State::Completed).await;
    assert!(matches!(worker.write(&parent, Change::Step(Box::new(spawned))).await, Written::Landed));
    let steps = driver.steps(parent.fence.job).await.expect("its steps");
    assert_eq!((steps.len(), steps[0].status), (1, StepStatus::Done), "the end is not forgotten");
    assert_eq!(record(&driver, child.id).await.state, State::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_end_while_their_parents_are_cancelled_and_nobody_is_in_the_way() {
    let db = Db::new();
    let driver = Arc::new(Pg::new(db.pool(8).await).expect("the driver is built"));
    let worker = HandWorker::start(driver.clone()).await;
    let mut children = Vec::new();
    let parents = held(&driver, &worker, 12).await;
    for parent in &parents {
        let (ids, writes): (Vec<_>, Vec<_>) = (1..=3)
            .map(|position| spawn(parent, position))
            .map(|(child, record)| (child.id, write(parent, Change::Step(Box::new(record)))))
            .unzip();
        worker.commit(&writes).await;
        children.extend(ids);
        worker.release(parent).await;
    }
    // Back to wait, so that a cancel ends them at once; their children are held.
    run(driver.pool(), "UPDATE jobs.ready SET queue = 'elsewhere' WHERE stage > 0").await;
    let claimed = worker.claim(100).await;
    assert_eq!(claimed.len(), children.len());
    let ends: Vec<_> = claimed.iter().rev().map(|claimed| write(claimed, finish(State::Completed))).collect();
    let cancels = parents.iter().map(|parent| driver.cancel(parent.fence.job));
    let ending = async {
        for ends in ends.chunks(9) {
            worker.commit(ends).await;
        }
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(cancels), ending);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    for parent in &parents {
        assert_eq!(record(&driver, parent.fence.job).await.state, State::Cancelled);
        let steps = driver.steps(parent.fence.job).await.expect("its steps");
        assert_eq!(steps.len(), 3, "the history keeps them: {steps:?}");
    }
    for child in children {
        assert_eq!(record(&driver, child).await.state, State::Completed, "it ended before it heard of the cancel");
    }
    let left: i64 =
        sqlx::query_scalar("SELECT count(*) FROM jobs.steps").fetch_one(driver.pool()).await.expect("a count");
    assert_eq!(left, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_keeps_what_fits_of_large_outputs() {
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = held(&driver, &worker, 1).await.remove(0);
    let output = jobs::JsonText::trusted(format!("\"{}\"", "x".repeat(1 << 20)));
    for position in 1..=34 {
        let id = StepRef { name: "large".to_owned(), key: position.to_string() };
        let mut large = StepWrite::new(id, StepKind::Step, StepStatus::Done, position);
        large.output = Some(output.clone());
        assert!(matches!(worker.write(&claimed, Change::Step(Box::new(large))).await, Written::Landed));
    }
    worker.finish(&claimed, State::Completed).await;
    let steps = driver.steps(claimed.fence.job).await.expect("its steps");
    assert_eq!((steps.len(), steps.iter().filter(|step| step.output.is_some()).count()), (34, 31));
}

/// Whatever byte of the answers is the last to arrive, the step is told to have landed if and only if it has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_to_a_steps_commit_is_found_out() {
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    let worker = HandWorker::start(driver.clone()).await;
    let proxy = Proxy::before(db.url());
    let far = Pg::new(pool(proxy.url(), 1).await).expect("the driver is built");
    let (mut landed, mut lost) = (0, 0);
    for bytes in (0..700).step_by(14) {
        let claimed = held(&driver, &worker, 1).await.remove(0);
        let effect = job();
        let mut tx = far.begin_step(worker.id, claimed.fence, None).await.expect("a transaction begins");
        far.enqueue(std::slice::from_ref(&effect), Some(tx.tx())).await.expect("accepted");
        proxy.fail_open(Fault::CutAfter(bytes));
        let answer = tx.commit(step("pay")).await;
        proxy.fail_open(Fault::None);
        let has_landed = !driver.steps(claimed.fence.job).await.expect("its steps").is_empty();
        assert_eq!(driver.find(effect.id).await.expect("a find answers").is_some(), has_landed, "after {bytes} bytes");
        match answer {
            Ok(Written::Landed) => {
                assert!(has_landed, "after {bytes} bytes");
                landed += 1;
            }
            Ok(Written::Refused(_)) | Err(_) => {
                assert!(!has_landed, "after {bytes} bytes");
                lost += 1;
            }
            Ok(written) => panic!("{written:?} after {bytes} bytes"),
        }
        if has_landed {
            run(driver.pool(), format!("DELETE FROM jobs.ready WHERE id = '{}'", effect.id)).await;
        }
        worker.finish(&claimed, State::Completed).await;
    }
    assert!(landed > 1 && lost > 1, "the answers were cut before, between and after: {landed} landed, {lost} did not");
}

/// Lets whatever is written to a table wait, before it is written or at its commit, until the gate is opened.
struct Gate(sqlx::Transaction<'static, sqlx::Postgres>);

impl Gate {
    async fn at_commit(driver: &Pg, table: &str) -> Self {
        Self::before(
            driver,
            &format!("CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED"),
        )
        .await
    }

    async fn at_insert(driver: &Pg, table: &str) -> Self {
        Self::before(driver, &format!("CREATE TRIGGER gate BEFORE INSERT ON {table}")).await
    }

    async fn before(driver: &Pg, trigger: &str) -> Self {
        run(
            driver.pool(),
            format!(
                "CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS
                     'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END';
                 {trigger} FOR EACH ROW EXECUTE FUNCTION gate()"
            ),
        )
        .await;
        let mut closed = driver.pool().begin().await.expect("a transaction");
        sqlx::query("SELECT pg_advisory_xact_lock(4711)").execute(&mut *closed).await.expect("the gate is closed");
        Self(closed)
    }

    /// Waits until so many sessions wait for a lock.
    async fn waited_for(&mut self, sessions: i64) {
        let sql =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let all_wait = async {
            // What the statistics say is kept for a transaction, unless it is said otherwise.
            sqlx::query("SELECT pg_stat_clear_snapshot()").execute(&mut *self.0).await.expect("it is cleared");
            while sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut *self.0).await.expect("a count") < sessions {
                sqlx::query("SELECT pg_stat_clear_snapshot(), pg_sleep(0.005)")
                    .execute(&mut *self.0)
                    .await
                    .expect("a nap");
            }
        };
        tokio::time::timeout(Duration::from_secs(10), all_wait).await.expect("they wait");
    }

    async fn open(self) {
        self.0.commit().await.expect("the gate is open");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rescue_waits_for_a_record_that_is_about_to_land() {
    let db = Db::new();
    let driver = Arc::new(Pg::new(db.pool(8).await).expect("the driver is built"));
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = held(&driver, &worker, 1).await.remove(0);
    let mut gate = Gate::at_commit(&driver, "jobs.steps").await;
    let tx = driver.begin_step(worker.id, claimed.fence, None).await.expect("a transaction begins");
    let committing = tokio::spawn(tx.commit(step("pay")));
    gate.waited_for(1).await;
    run(driver.pool(), "UPDATE jobs.workers SET lease_until = now() - interval '1 second'").await;
    let rescuing = tokio::spawn({
        let driver = Arc::clone(&driver);
        async move { driver.rescue().await }
    });
    gate.waited_for(2).await;
    gate.open().await;
    assert!(matches!(committing.await.expect("no panic").expect("an answer"), Written::Landed));
    assert_eq!(rescuing.await.expect("no panic").expect("a rescue").jobs, 1);
    let job = record(&driver, claimed.fence.job).await;
    assert_eq!((job.state, job.stage, job.crashes), (State::Ready, Stage::Recorded, 1));
    assert_eq!(driver.steps(claimed.fence.job).await.expect("its steps").len(), 1);
    let late = worker.write(&claimed, Change::Step(Box::new(step("late")))).await;
    assert!(matches!(late, Written::Stale), "{late:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_finds_the_child_that_is_about_to_be_written() {
    a_cancel_finds_a_child("read committed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_of_one_snapshot_looks_anew_for_children() {
    a_cancel_finds_a_child("repeatable read").await;
}

/// On a pool whose transactions have this isolation.
async fn a_cancel_finds_a_child(isolation: &str) {
    let db = Db::new();
    let pool = db.pool(1).await;
    run(&pool, format!("ALTER DATABASE {} SET default_transaction_isolation = '{isolation}'", db.name())).await;
    let driver = Arc::new(Pg::new(db.pool(8).await).expect("the driver is built"));
    let worker = HandWorker::start(driver.clone()).await;
    let parent = held(&driver, &worker, 1).await.remove(0);
    assert!(matches!(worker.write(&parent, Change::Step(Box::new(step("before")))).await, Written::Landed));
    let mut gate = Gate::at_insert(&driver, "jobs.ready").await;
    let (child, spawned) = spawn(&parent, 1);
    let spawning = tokio::spawn({
        let (worker, parent) = (worker.clone(), parent.clone());
        async move { worker.write(&parent, Change::Step(Box::new(spawned))).await }
    });
    gate.waited_for(1).await;
    let cancelling = tokio::spawn({
        let (driver, job) = (Arc::clone(&driver), parent.fence.job);
        async move { driver.cancel(job).await }
    });
    gate.waited_for(2).await;
    gate.open().await;
    assert!(matches!(spawning.await.expect("no panic"), Written::Landed));
    assert_eq!(cancelling.await.expect("no panic").expect("an answer"), CancelAnswer::Asked);
    assert_eq!(record(&driver, child.id).await.state, State::Cancelled);
    let (_, refused) = spawn(&parent, 2);
    assert!(matches!(worker.write(&parent, Change::Step(Box::new(refused))).await, Written::Cancelled));
}

/// A transaction of one snapshot sees the lease as it was when that was taken: the row of the run alone says whether it
/// is held.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_steps_transaction_of_one_snapshot_may_last_longer_than_a_lease() {
    let db = Db::new();
    let pool = db.pool(1).await;
    run(&pool, format!("ALTER DATABASE {} SET default_transaction_isolation = 'repeatable read'", db.name())).await;
    let driver = Arc::new(Pg::new(db.pool(8).await).expect("the driver is built"));
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = held(&driver, &worker, 1).await.remove(0);
    let lapse = "UPDATE jobs.workers SET lease_until = clock_timestamp() + interval '0.1 s'";
    let renew = "UPDATE jobs.workers SET lease_until = clock_timestamp() + interval '1 hour'";
    run(&pool, lapse).await;
    let tx = driver.begin_step(worker.id, claimed.fence, None).await.expect("a transaction begins");
    run(&pool, renew).await;
    run(&pool, "SELECT pg_sleep(0.1)").await;
    let landed = tx.commit(step("pay")).await.expect("an answer");
    assert!(matches!(landed, Written::Landed), "{landed:?}");
    // Once the run is not held any more, it is fenced off.
    let before = driver.begin_step(worker.id, claimed.fence, None).await.expect("a transaction begins");
    worker.stop().await;
    let after = driver.begin_step(worker.id, claimed.fence, None).await.expect("a transaction begins");
    let (before, after) = (before.commit(step("a")).await, after.commit(step("b")).await);
    assert!(matches!(before, Ok(Written::Refused(_) | Written::Stale)), "{before:?}");
    assert!(matches!(after, Ok(Written::Stale)), "{after:?}");
    assert_eq!(driver.steps(claimed.fence.job).await.expect("its steps").len(), 1);
}

/// Cut off between its record and its commit, a worker holds the row of its run, and whoever rescues waits for that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_steps_transaction_is_not_left_open_for_long_once_it_has_recorded() {
    let db = Db::new();
    let driver = Arc::new(driver(&db).await);
    run(
        driver.pool(),
        "CREATE TABLE bounds (bound text);
         CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN INSERT INTO public.bounds SELECT current_setting(''idle_in_transaction_session_timeout''); RETURN NEW; END';
         CREATE CONSTRAINT TRIGGER note AFTER INSERT ON jobs.steps DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION note()",
    )
    .await;
    let worker = HandWorker::start(driver.clone()).await;
    let claimed = held(&driver, &worker, 1).await.remove(0);
    let tx = driver.begin_step(worker.id, claimed.fence, None).await.expect("a transaction begins");
    assert!(matches!(tx.commit(step("pay")).await, Ok(Written::Landed)));
    let bound: String =
        sqlx::query_scalar("SELECT bound FROM bounds").fetch_one(driver.pool()).await.expect("it is noted");
    assert_eq!(bound, "15s");
    let left: String = sqlx::query_scalar("SELECT current_setting('idle_in_transaction_session_timeout')")
        .fetch_one(driver.pool())
        .await
        .expect("a setting");
    assert_eq!(left, "0", "the caller's connection is as it was");
}
