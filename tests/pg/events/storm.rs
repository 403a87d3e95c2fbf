//! Publishers of every kind, parks and sweeps all at once: each run is woken once, by its own event.

use super::*;
use futures_util::{StreamExt, stream};
use std::collections::HashMap;

const RUNS: usize = 240;

/// What a publisher does about one key.
#[derive(Debug, Clone, Copy)]
enum Publisher {
    Alone,
    InTransaction(&'static str),
    /// Rolls back first, and commits another time.
    Again,
    /// In a savepoint that is rolled back, then in another.
    Savepoint,
    /// Twice, the second time after the first.
    Twice,
}

impl Publisher {
    const ALL: [Self; 7] = [
        Self::Alone,
        Self::InTransaction("READ COMMITTED"),
        Self::InTransaction("REPEATABLE READ"),
        Self::InTransaction("SERIALIZABLE"),
        Self::Again,
        Self::Savepoint,
        Self::Twice,
    ];

    async fn publish(self, stage: &Stage, key: &str) {
        match self {
            Self::Alone => drop(stage.publish(key).await),
            Self::Twice => {
                stage.publish(key).await;
                stage.publish(key).await;
            }
            Self::InTransaction(level) => {
                let mut tx = stage.begin(level).await;
                stage.publish_in(&mut tx, key).await;
                pause().await;
                tx.commit().await.expect("a commit");
            }
            Self::Again => {
                let mut tx = stage.begin("READ COMMITTED").await;
                stage.publish_in(&mut tx, key).await;
                pause().await;
                tx.rollback().await.expect("a rollback");
                stage.publish(key).await;
            }
            Self::Savepoint => {
                let mut tx = stage.begin("READ COMMITTED").await;
                sqlx::raw_sql("SAVEPOINT s").execute(&mut *tx).await.expect("a savepoint");
                stage.publish_in(&mut tx, key).await;
                sqlx::raw_sql("ROLLBACK TO SAVEPOINT s").execute(&mut *tx).await.expect("it goes back");
                pause().await;
                stage.publish_in(&mut tx, key).await;
                tx.commit().await.expect("a commit");
            }
        }
    }
}

/// Lets others go first, now and then.
async fn pause() {
    for _ in 0..uuid::Uuid::now_v7().as_u128() % 50 {
        tokio::task::yield_now().await;
    }
}

async fn park_one(stage: &Stage, claimed: &Claimed, key: &str) {
    pause().await;
    stage.park(claimed, vec![on("never"), on(key)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_run_is_woken_once_by_its_own_event() {
    let stage = Stage::new().await;
    let claimed = stage.claimed(RUNS).await;
    let keys: Vec<_> = (0..RUNS).map(|key| key.to_string()).collect();
    let parks =
        stream::iter(claimed.iter().zip(&keys)).for_each_concurrent(4, |(claimed, key)| park_one(&stage, claimed, key));
    let publishers = stream::iter(keys.iter().enumerate()).for_each_concurrent(6, |(place, key)| {
        let stage = &stage;
        async move { Publisher::ALL[place % Publisher::ALL.len()].publish(stage, key).await }
    });
    let sweeps = async {
        for _ in 0..200 {
            stage.driver.wake(20).await.expect("a sweep");
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(parks, publishers, sweeps);
    while stage.unwoken().await {
        stage.wake().await;
    }
    let mut woken = HashMap::new();
    loop {
        let ready = stage.worker.claim(100).await;
        if ready.is_empty() {
            break;
        }
        for claimed in ready {
            *woken.entry(claimed.fence.job).or_insert(0) += 1;
            stage.worker.finish(&claimed, State::Completed).await;
        }
    }
    let missed: Vec<_> = claimed.iter().zip(&keys).filter(|(run, _)| !woken.contains_key(&run.fence.job)).collect();
    assert!(missed.is_empty(), "{:?}", missed.iter().map(|(_, key)| key).collect::<Vec<_>>());
    assert!(woken.values().all(|times| *times == 1), "{woken:?}");
    assert_eq!(stage.waits().await, (0, 0));
}
