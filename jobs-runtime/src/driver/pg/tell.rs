//! Tells queues of work after the commit that made it. Upstream: `events`. Downstream: the database.
//!
//! Postgres lets one transaction with notifications commit at a time, up to the disk: sent in each of many small
//! transactions they would take the place of the group commit. So they go out on their own, gathered: the first at
//! once, the next after a pause. Lost with the process, they cost a poll.

use super::{Pg, ask::Ask, session::Sessions};
use crate::task::task;
use sqlx::{PgPool, SqlStr};
use std::{
    collections::BTreeSet,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::sleep;

/// The pause after each notification.
const PAUSE: Duration = Duration::from_millis(3);

/// The queues that are to be told of.
#[derive(Debug, Default)]
pub(super) struct Untold(Mutex<Pending>);

#[derive(Debug, Default)]
struct Pending {
    queues: BTreeSet<String>,
    is_sending: bool,
}

impl Untold {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what is to be sent; if it is nothing, the sender ends.
    fn next(&self) -> Option<Vec<String>> {
        let mut pending = self.lock();
        let queues = mem::take(&mut pending.queues);
        pending.is_sending = !queues.is_empty();
        pending.is_sending.then(|| queues.into_iter().collect())
    }
}

impl Pg {
    /// Tells of work in these queues, in the background.
    pub(super) fn tell(&self, queues: impl IntoIterator<Item = String>) {
        let mut pending = self.untold.lock();
        pending.queues.extend(queues);
        if pending.queues.is_empty() || mem::replace(&mut pending.is_sending, true) {
            return;
        }
        drop(pending);
        let sender = Sender {
            untold: Arc::clone(&self.untold),
            pool: self.pool.clone(),
            sql: self.sql.tell.clone(),
            channel: self.channel.clone(),
            pooled: self.is_pooled(),
            is_over: false,
        };
        tokio::spawn(task(sender.run()));
    }
}

struct Sender {
    untold: Arc<Untold>,
    pool: PgPool,
    sql: SqlStr,
    channel: String,
    pooled: bool,
    is_over: bool,
}

impl Sender {
    async fn run(mut self) {
        while let Some(queues) = self.untold.next() {
            let query = sqlx::query(self.sql.clone()).bind(&self.channel).bind(queues);
            // If it fails, the poll finds the work.
            let _ = query.execute_on(Sessions::callers(&self.pool, self.pooled)).await;
            sleep(PAUSE).await;
        }
        self.is_over = true;
    }
}

/// A sender that is torn down with its runtime makes room for the next.
impl Drop for Sender {
    fn drop(&mut self) {
        if !self.is_over {
            self.untold.lock().is_sending = false;
        }
    }
}
