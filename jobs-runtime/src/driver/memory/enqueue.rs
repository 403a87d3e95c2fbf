//! Writes new jobs, alone or in a transaction, and decides who gets a unique key.
//! Upstream: `mod`. Downstream: `keys`, `store`, `tx`.

use super::{Memory, keys::TxId, row::Row, store::Store, tx::Transaction};
use crate::{
    driver::{Enqueued, NewJob, Tx},
    error::{Error, code},
    id::JobId,
    spec::OnConflict,
};
use chrono::{DateTime, Utc};
use std::{collections::HashMap, pin::pin, sync::MutexGuard};

pub(super) async fn enqueue(memory: &Memory, jobs: &[NewJob], tx: Option<Tx<'_>>) -> Result<Vec<Enqueued>, Error> {
    let Some(tx) = tx else {
        let (mut store, now) = lock_settled(memory, jobs, None).await?;
        let (answers, rows) = decide(&store, jobs, &[], now)?;
        insert(&mut store, rows, now);
        return Ok(answers);
    };
    let tx = Transaction::of(memory, tx)?;
    let (mut store, now) = lock_settled(memory, jobs, Some(tx.id())).await?;
    let (answers, rows) = decide(&store, jobs, tx.rows(), now)?;
    for row in &rows {
        store.keys.take(&row.new, now, Some(tx.id()));
    }
    drop(store);
    tx.add(rows);
    Ok(answers)
}

/// Locks the store at a moment when no other open transaction holds a key of the jobs, as Postgres waits on the
/// index entry of an unfinished insert.
pub(super) async fn lock_settled<'a>(
    memory: &'a Memory,
    jobs: impl IntoIterator<Item = &NewJob> + Clone,
    own: Option<TxId>,
) -> Result<(MutexGuard<'a, Store>, DateTime<Utc>), Error> {
    loop {
        let mut ended = pin!(memory.0.tx_ended.notified());
        ended.as_mut().enable();
        {
            let (mut store, now) = memory.lock();
            own.inspect(|own| store.keys.waited(*own));
            let Some(blocker) = store.keys.blocked_by(jobs.clone(), own) else {
                return Ok((store, now));
            };
            if own.is_some_and(|own| !store.keys.wait(own, blocker)) {
                return Err(Error::new(code::STORE_FAILED, "two transactions wait for each other's unique keys")
                    .with_fix("take unique keys in one order in every transaction"));
            }
        }
        ended.await;
    }
}

/// Says what becomes of each job, and gives the rows of those that are new.
fn decide(
    store: &Store,
    jobs: &[NewJob],
    open: &[Row],
    now: DateTime<Utc>,
) -> Result<(Vec<Enqueued>, Vec<Row>), Error> {
    let mut rows: Vec<Row> = Vec::new();
    let mut mine: HashMap<[u8; 32], usize> = HashMap::new();
    let mut answers = Vec::with_capacity(jobs.len());
    for (index, job) in jobs.iter().enumerate() {
        let holder = job.unique.and_then(|unique| {
            let twin = mine.get(&unique.key).map(|at| (rows[*at].new.id, Some(rows[*at].state)));
            twin.or_else(|| {
                let id = store.keys.holder(&unique.key, now)?;
                let row = open.iter().find(|row| row.new.id == id).or_else(|| store.get(id));
                Some((id, row.map(|row| row.state)))
            })
        });
        match holder {
            None => {
                job.unique.map(|unique| mine.insert(unique.key, rows.len()));
                rows.push(Row::new(job, now));
                answers.push(Enqueued::Inserted { id: job.id });
            }
            Some((id, _)) if job.unique.is_some_and(|unique| unique.on_conflict == OnConflict::Reject) => {
                return Err(duplicate(job, &id).at_index(index));
            }
            Some((id, state)) => answers.push(Enqueued::Existing { id, state }),
        }
    }
    Ok((answers, rows))
}

/// Inserts rows, with their keys, and tells who may wait for them.
pub(super) fn insert(store: &mut Store, rows: Vec<Row>, now: DateTime<Utc>) {
    store.teller.queues(rows.iter().map(|row| &*row.new.queue));
    for row in rows {
        store.keys.take(&row.new, now, None);
        store.put(row);
    }
}

/// Inserts a follow-up, unless its key is taken.
pub(super) fn insert_follow_up(store: &mut Store, job: &NewJob, now: DateTime<Utc>) {
    if job.unique.is_none_or(|unique| store.keys.holder(&unique.key, now).is_none()) {
        insert(store, vec![Row::new(job, now)], now);
    }
}

pub(super) fn duplicate(job: &NewJob, holder: &JobId) -> Error {
    Error::new(code::JOB_DUPLICATE, format!("job {holder} holds the unique key of `{}`", job.kind))
}
