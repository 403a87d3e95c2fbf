//! Callers that contend for unique keys, with transactions that roll back and batches whose keys overlap.

use super::driver;
use crate::{
    jobs_of_tests::{Keyed, knowing, once},
    support::{Db, pool},
};
use jobs::{JobId, Jobs, driver::pg::Pg};
use sqlx::PgPool;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Instant,
};
use tokio::{sync::Barrier, task::JoinSet};

const ROUNDS: u64 = 200;
const CALLERS: u64 = 64;

/// What a caller does: every second one in a transaction of its own, of which every second is rolled back.
async fn call(jobs: Jobs, pool: PgPool, start: Arc<Barrier>, key: u64, caller: u64) -> Option<JobId> {
    let input = Keyed { key, caller };
    if caller.is_multiple_of(2) {
        start.wait().await;
        return Some(jobs.enqueue::<once>(input).await.expect("an enqueue").id());
    }
    let mut tx = pool.begin().await.expect("a transaction");
    start.wait().await;
    let answer = jobs.enqueue::<once>(input).in_tx(&mut tx).await.expect("an enqueue in a transaction");
    if caller % 4 == 1 {
        tx.rollback().await.expect("a rollback");
        return None;
    }
    tx.commit().await.expect("a commit");
    Some(answer.id())
}

async fn holders(pool: &PgPool) -> HashMap<u64, Vec<JobId>> {
    let rows: Vec<(i64, uuid::Uuid)> =
        sqlx::query_as("SELECT (payload ->> 'key')::int8, id FROM jobs.ready").fetch_all(pool).await.unwrap();
    let mut holders: HashMap<u64, Vec<JobId>> = HashMap::new();
    for (key, id) in rows {
        holders.entry(key as u64).or_default().push(JobId(id));
    }
    holders
}

async fn deadlocks(pool: &PgPool) -> i64 {
    let query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_callers_with_rollbacks_one_job_is_left_in_each_of_200_rounds() {
    let db = Db::new();
    // As many as there are transactions: each waits for the holder of the key.
    let callers = pool(db.url(), CALLERS as u32).await;
    let jobs = knowing::<once>(&Arc::new(Pg::new(callers.clone()).unwrap()));
    let began = Instant::now();
    let mut told: HashMap<u64, BTreeSet<JobId>> = HashMap::new();
    for key in 0..ROUNDS {
        let start = Arc::new(Barrier::new(CALLERS as usize));
        let mut calls = JoinSet::new();
        for caller in 0..CALLERS {
            calls.spawn(call(jobs.clone(), callers.clone(), Arc::clone(&start), key, caller));
        }
        told.entry(key).or_default().extend(calls.join_all().await.into_iter().flatten());
    }
    let holders = holders(&callers).await;
    for key in 0..ROUNDS {
        let (held, told) = (&holders[&key], &told[&key]);
        assert_eq!(held.len(), 1, "key {key}: one live job");
        assert!(told.iter().eq(held), "key {key}: every caller gets its id: {told:?}, {held:?}");
    }
    let deadlocks = deadlocks(&callers).await;
    println!("{} unique enqueues, {deadlocks} deadlocks, in {:?}", ROUNDS * CALLERS, began.elapsed());
    assert_eq!(deadlocks, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_with_overlapping_keys_in_any_order_take_each_key_once() {
    let db = Db::new();
    let callers = pool(db.url(), 16).await;
    let jobs = knowing::<once>(&Arc::new(Pg::new(callers.clone()).unwrap()));
    for round in 0..30 {
        let start = Arc::new(Barrier::new(16));
        let mut calls = JoinSet::new();
        for caller in 0..16 {
            let (jobs, callers, start) = (jobs.clone(), callers.clone(), Arc::clone(&start));
            calls.spawn(async move {
                // A walk over 48 keys with a stride and a beginning of the caller's own; 48 and the strides are coprime.
                let stride = [1, 5, 7, 11, 13, 17, 19, 23, 25, 29, 31, 35, 37, 41, 43, 47][caller as usize];
                let keys = (0..32).map(|at| round * 48 + (caller * 3 + at * stride) % 48);
                let inputs: Vec<_> = keys.map(|key| Keyed { key, caller }).collect();
                start.wait().await;
                if caller.is_multiple_of(2) {
                    jobs.enqueue_many::<once>(inputs).await.expect("a batch");
                    return;
                }
                let mut tx = callers.begin().await.expect("a transaction");
                jobs.enqueue_many::<once>(inputs).in_tx(&mut tx).await.expect("a batch in a transaction");
                if caller % 4 == 1 { tx.rollback().await } else { tx.commit().await }.expect("an end");
            });
        }
        calls.join_all().await;
    }
    let holders = holders(&callers).await;
    assert_eq!(holders.len(), 30 * 48, "every key is held");
    assert!(holders.values().all(|jobs| jobs.len() == 1), "each by one job");
    assert_eq!(deadlocks(&callers).await, 0);
}

#[tokio::test]
async fn a_delivery_that_comes_twice_from_two_processes_runs_once() {
    let db = Db::new();
    let (one, other) = (Arc::new(driver(&db).await), Arc::new(driver(&db).await));
    let (one, other) = (knowing::<once>(&one), knowing::<once>(&other));
    for key in 0..50 {
        let input = |caller| Keyed { key, caller };
        let (first, second) = tokio::join!(one.enqueue::<once>(input(1)), other.enqueue::<once>(input(2)));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(first.id(), second.id());
        assert!(first.is_inserted() != second.is_inserted(), "{first:?} {second:?}");
        assert_eq!(other.enqueue::<once>(input(3)).await.unwrap().id(), first.id(), "and a later one");
    }
}

#[tokio::test]
async fn a_caller_whose_snapshot_is_too_old_to_see_the_holder_is_told_to_try_again() {
    let db = Db::new();
    let pool = db.pool(4).await;
    let jobs = knowing::<once>(&Arc::new(Pg::new(pool.clone()).unwrap()));
    for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        let key = level.len() as u64;
        let begin = || sqlx::AssertSqlSafe(format!("BEGIN ISOLATION LEVEL {level}"));
        let mut tx = pool.begin_with(begin()).await.unwrap();
        sqlx::query("SELECT count(*) FROM jobs.ready").execute(&mut *tx).await.unwrap();
        let holder = jobs.enqueue::<once>(Keyed { key, caller: 1 }).await.unwrap().id();
        let refusal = jobs.enqueue::<once>(Keyed { key, caller: 2 }).in_tx(&mut tx).await.expect_err("a conflict");
        assert!(refusal.detail().contains("snapshot"), "{level}: {refusal}");
        assert_eq!(refusal.fix(), "roll the transaction back and run it again");
        tx.rollback().await.unwrap();
        let mut tx = pool.begin_with(begin()).await.unwrap();
        let again = jobs.enqueue::<once>(Keyed { key, caller: 2 }).in_tx(&mut tx).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(again.id(), holder, "{level}: the second try sees it");
    }
}
