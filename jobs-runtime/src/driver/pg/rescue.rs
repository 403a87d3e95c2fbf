//! Hands back what lost workers held. Upstream: `upkeep`. Downstream: nothing.

use super::{
    Pg, fault,
    rows::{Columns, stop_text},
};
use crate::{driver::Rescued, error::Error, failure::RecordedFailure, spec::Keep};
use sqlx::PgConnection;

/// The seconds that a job stays in the history which ends as cancelled without its worker: nobody else knows its kind.
pub(super) const KEEP_CANCELLED: f64 = match Keep::DEFAULT {
    Keep::None => 0.0,
    Keep::For(period) => period.as_secs() as f64,
};

/// How many jobs a statement hands back at most, so that none takes too long, however much a worker held.
const PIECE: u32 = 1_000;

/// Rescues piece by piece: what was handed back stays so if a later piece fails.
pub(super) async fn rescue(pg: &Pg) -> Result<Rescued, Error> {
    let mut rescued = Rescued::default();
    while let Some(piece) = rescue_piece(pg).await? {
        rescued.workers += piece.workers;
        rescued.jobs += piece.jobs;
        rescued.cancelled += piece.cancelled;
        if piece.workers > 0 {
            break;
        }
    }
    Ok(rescued)
}

/// Hands back a piece of what lapsed workers hold; `None` if no lease has lapsed. No worker is among the rescued as long
/// as there is more to hand back.
async fn rescue_piece(pg: &Pg) -> Result<Option<Rescued>, Error> {
    let doing = || fault::store("rescue lost workers' jobs");
    let mut session = pg.own().acquire().await.map_err(doing())?;
    let mut tx = session.begin().await.map_err(doing())?;
    // The locks come in a statement of their own: a claim that committed while they were waited for must be in the
    // snapshot of the statement that moves the rows.
    let lapsed: Vec<i64> = pg.scalar(&pg.sql.lapsed).fetch_all(&mut *tx).await.map_err(doing())?;
    let rescued = if lapsed.is_empty() { None } else { Some(release(pg, &mut tx, &lapsed, 1).await?) };
    tx.commit().await.map_err(doing())?;
    session.give_back();
    Ok(rescued)
}

/// Moves back what the locked workers hold, at most a piece of it, and removes them once they hold nothing more.
pub(super) async fn release(
    pg: &Pg,
    connection: &mut PgConnection,
    workers: &[i64],
    crashes: i16,
) -> Result<Rescued, Error> {
    let undone = RecordedFailure::rolled_back();
    let row = pg
        .query(&pg.sql.release)
        .bind(workers)
        .bind(crashes)
        .bind(&pg.channel)
        .bind(KEEP_CANCELLED)
        .bind(i64::from(PIECE))
        .bind(undone.code)
        .bind(undone.operator)
        .bind(undone.stop.map(stop_text))
        .fetch_one(connection)
        .await
        .map_err(fault::store("hand back a worker's jobs"))?;
    let mut columns = Columns::of(&row);
    Ok(Rescued {
        workers: columns.next_as::<i64, _>()?,
        jobs: columns.next_as::<i64, _>()?,
        cancelled: columns.next_as::<i64, _>()?,
    })
}
