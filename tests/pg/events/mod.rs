//! Events meet parked runs, whatever the transactions around them do: none is missed, none wakes twice.

mod chaos;
mod children;
mod cost;
mod meet;
mod sql_publish;
mod storm;

use super::{driver, run};
use crate::support::Db;
use jobs::{
    JobId, JsonText, State,
    driver::{
        Change, Claimed, Driver, EventId, Hint, JoinTx, NewEvent, Outlook, Park, Published, Wait, WaitEvent, Write,
        Written, pg::Pg,
    },
    spec::Keep,
    testing::conformance::{HandWorker, job},
};
use sqlx::{AssertSqlSafe, PgPool, Postgres, Transaction};
use std::{sync::Arc, time::Duration};

const NAME: &str = "order.shipped";
/// The levels at which a transaction sees one moment.
const ONE_SNAPSHOT: [&str; 2] = ["REPEATABLE READ", "SERIALIZABLE"];

/// A worker whose runs wait for events, and the publishers.
struct Stage {
    db: Db,
    driver: Arc<Pg>,
    worker: HandWorker,
    /// Of the publishers' own transactions.
    publishers: PgPool,
}

impl Stage {
    async fn new() -> Self {
        let db = Db::new();
        let driver = Arc::new(driver(&db).await);
        let worker = HandWorker::start(driver.clone()).await;
        let publishers = db.pool(8).await;
        Self { db, driver, worker, publishers }
    }

    /// Begins the publisher's transaction, at the level of isolation.
    async fn begin(&self, level: &str) -> Transaction<'static, Postgres> {
        let mut tx = self.publishers.begin().await.expect("a transaction begins");
        let set = AssertSqlSafe(format!("SET TRANSACTION ISOLATION LEVEL {level}"));
        sqlx::raw_sql(set).execute(&mut *tx).await.expect("the level is set");
        // The snapshot of a transaction that has one is taken here.
        sqlx::raw_sql("SELECT 1").execute(&mut *tx).await.expect("an answer");
        tx
    }

    async fn publish_in(&self, tx: &mut Transaction<'static, Postgres>, key: &str) -> Published {
        let published = self.driver.publish(&[event(key)], Some(tx.tx())).await.expect("it is published");
        published.into_iter().next().expect("one answer")
    }

    async fn publish(&self, key: &str) -> EventId {
        self.driver.publish(&[event(key)], None).await.expect("it is published")[0].id
    }

    /// Enqueues and claims so many jobs.
    async fn claimed(&self, count: usize) -> Vec<Claimed> {
        let jobs: Vec<_> = (0..count).map(|_| job()).collect();
        self.driver.enqueue(&jobs, None).await.expect("accepted");
        let claimed = self.worker.claim(count as u32).await;
        assert_eq!(claimed.len(), count);
        claimed
    }

    async fn park(&self, claimed: &Claimed, waits: Vec<Wait>) {
        let written = self.worker.write(claimed, Change::Park(Box::new(park(waits)))).await;
        assert!(matches!(written, Written::Landed), "{written:?}");
    }

    /// A run that is parked until an event of the key.
    async fn parked(&self, key: &str) -> JobId {
        let claimed = self.claimed(1).await.remove(0);
        self.park(&claimed, vec![on(key)]).await;
        claimed.fence.job
    }

    async fn state(&self, job: JobId) -> State {
        self.driver.find(job).await.expect("a find").expect("it is stored").state
    }

    async fn unwoken(&self) -> bool {
        let Outlook { unwoken, .. } = self.driver.look(&[]).await.expect("a look");
        unwoken
    }

    async fn wake(&self) -> u32 {
        self.driver.wake(100).await.expect("a sweep")
    }

    /// How many waits are stored, and how many of them are to be looked at again.
    async fn waits(&self) -> (i64, i64) {
        let sql = "SELECT count(*), count(*) FILTER (WHERE recheck) FROM jobs.waits";
        sqlx::query_as(sql).fetch_one(self.driver.pool()).await.expect("the waits are counted")
    }
}

fn event(key: &str) -> NewEvent {
    NewEvent {
        id: EventId::new(),
        name: NAME.to_owned(),
        key: key.to_owned(),
        tenant: None,
        payload: JsonText::trusted("1"),
        ttl: Duration::from_secs(3600),
    }
}

fn on(key: &str) -> Wait {
    on_but(key, Vec::new())
}

fn on_but(key: &str, taken: Vec<EventId>) -> Wait {
    Wait::Event(WaitEvent { name: NAME.to_owned(), key: key.to_owned(), taken })
}

fn park(waits: Vec<Wait>) -> Park {
    Park { due_at: None, waits, records: Vec::new(), reason: None, keep: Keep::DEFAULT }
}
