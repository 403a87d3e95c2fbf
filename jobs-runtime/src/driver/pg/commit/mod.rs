//! Applies a worker's writes under their fences, one set-based statement per kind of change.
//! Upstream: `commit`. Downstream: `rounds`, `apply`.

mod apply;
mod park;
mod rounds;
mod steps;

use super::{Pg, fault, session::ANSWER};
use crate::{
    driver::{WorkerId, Write, Written},
    error::Error,
};
use rounds::Round;
use std::{collections::HashMap, sync::atomic::Ordering};
pub(super) use steps::{Holding, Records, With};
use tokio::time::timeout;

/// How often a round that lost against a concurrent transaction is sent again.
const MAX_CONFLICTS: u32 = 5;

/// What became of the items of a batch, by place.
type Answers = HashMap<usize, Written>;

pub(super) async fn commit(pg: &Pg, worker: WorkerId, writes: &[Write]) -> Result<Vec<Written>, Error> {
    let mut answers = Answers::with_capacity(writes.len());
    let unsure = pg.unsure_parks.load(Ordering::Relaxed);
    for round in rounds::split(writes) {
        land(pg, worker, round, &mut answers).await?;
    }
    // Only now has everything been committed.
    let unsure_now = pg.unsure_parks.load(Ordering::Relaxed);
    if unsure_now != unsure {
        pg.nudges.send_replace(unsure_now);
    }
    let stopped: Vec<_> = (0..writes.len()).filter(|place| !answers.contains_key(place)).collect();
    let changes: Vec<_> = stopped.iter().filter_map(|place| park::let_go(&writes[*place])).collect();
    if !changes.is_empty() {
        let written = Box::pin(commit(pg, worker, &changes)).await?;
        answers.extend(stopped.into_iter().zip(written));
    }
    Ok((0..writes.len()).map(|place| answers.remove(&place).unwrap_or(Written::Stale)).collect())
}

/// Lands a round. If the fault of one item stops it, its halves are tried apart, down to the single item.
async fn land(pg: &Pg, worker: WorkerId, round: Round<'_>, answers: &mut Answers) -> Result<(), Error> {
    let mut pending = vec![round];
    let mut conflicts = 0;
    while let Some(round) = pending.pop() {
        let applied = timeout(ANSWER, apply::apply(pg, worker, &round)).await;
        match applied.unwrap_or_else(|_| Err(pg.timed_out())) {
            Ok(landed) => answers.extend(landed),
            // A child's end and its parent's take each other's records.
            Err(error) if fault::is_conflict(&error) && conflicts < MAX_CONFLICTS => {
                conflicts += 1;
                pending.push(round);
            }
            Err(error) if fault::is_of_item(&error) => match round.halve() {
                Ok((first, second)) => pending.extend([second, first]),
                Err(place) => {
                    answers.insert(place, Written::Refused(refused(error)));
                }
            },
            Err(error) => return Err(fault::store("write about jobs")(error)),
        }
    }
    Ok(())
}

/// What an item is refused with: our own refusal where it is one.
fn refused(error: sqlx::Error) -> Error {
    match error {
        sqlx::Error::Encode(error) => match error.downcast::<Error>() {
            Ok(own) => *own,
            Err(error) => fault::store("write about a job")(sqlx::Error::Encode(error)),
        },
        error => fault::store("write about a job")(error),
    }
}
