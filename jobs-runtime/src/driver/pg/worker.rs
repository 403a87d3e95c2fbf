//! Begins and ends a worker's lease. Upstream: `worker`. Downstream: `release`.

use super::{Pg, ask::Ask, fault, pooler, rescue, times};
use crate::{
    driver::{KnownKind, NewWorker, WorkerId},
    error::{Error, code},
};

pub(super) async fn start(pg: &Pg, worker: NewWorker) -> Result<WorkerId, Error> {
    pooler::refuse(pg).await?;
    register_kinds(pg, &worker.kinds).await?;
    let names: Vec<_> = worker.kinds.iter().map(|kind| kind.name.as_str()).collect();
    let versions: Vec<_> = worker.kinds.iter().map(|kind| i32::from(kind.version)).collect();
    let queues = serde_json::to_string(&worker.queues)
        .map_err(|error| Error::new(code::STORE_FAILED, format!("a worker's queues cannot be stored: {error}")))?;
    let id = sqlx::query_scalar(pg.sql.worker_start.clone())
        .bind(&worker.name)
        .bind(times::seconds(worker.lease.duration))
        .bind(queues)
        .bind(names)
        .bind(versions)
        .fetch_one_on(pg.own())
        .await
        .map_err(fault::store("begin a worker's lease"))?;
    Ok(WorkerId(id))
}

pub(super) async fn stop(pg: &Pg, worker: WorkerId) -> Result<(), Error> {
    while stop_piece(pg, worker).await? {}
    Ok(())
}

/// Hands back a piece of what the worker holds, and ends its lease with the last one. Says whether there is more.
async fn stop_piece(pg: &Pg, worker: WorkerId) -> Result<bool, Error> {
    let doing = || fault::store("end a worker's lease");
    let mut session = pg.own().acquire().await.map_err(doing())?;
    let mut tx = session.begin().await.map_err(doing())?;
    let found: Option<i64> =
        pg.scalar(&pg.sql.worker_lock).bind(worker.0).fetch_optional(&mut *tx).await.map_err(doing())?;
    let more = found.is_some() && rescue::release(pg, &mut tx, &[worker.0], 0).await?.workers == 0;
    tx.commit().await.map_err(doing())?;
    session.give_back();
    Ok(more)
}

/// Notes which queue each kind belongs to, for enqueues from SQL, and its outline, for who shows a run.
async fn register_kinds(pg: &Pg, kinds: &[KnownKind]) -> Result<(), Error> {
    let names: Vec<_> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    let queues: Vec<_> = kinds.iter().map(|kind| kind.queue.as_str()).collect();
    let versions: Vec<_> = kinds.iter().map(|kind| i16::try_from(kind.version).unwrap_or(i16::MAX)).collect();
    let outlines: Vec<_> = kinds
        .iter()
        .map(|kind| serde_json::to_string(kind.outline))
        .collect::<Result<_, _>>()
        .map_err(|error| Error::new(code::STORE_FAILED, format!("an outline cannot be stored: {error}")))?;
    sqlx::query(pg.sql.kinds_register.clone())
        .bind(names)
        .bind(queues)
        .bind(versions)
        .bind(outlines)
        .execute_on(pg.own())
        .await
        .map(drop)
        .map_err(fault::store("register a worker's kinds"))
}
