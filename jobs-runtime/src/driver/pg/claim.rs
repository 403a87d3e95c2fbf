//! Claims ready jobs: one statement for all queues of a worker. Upstream: `worker`. Downstream: `rows`, `tokens`.

use super::{Pg, ask::Ask, fault, rows::Columns};
use crate::{
    driver::{Claim, Claimed, Fence, KnownKind, Overrides, Token},
    error::{Error, code},
    id::JobId,
    logged,
};
use sqlx::{postgres::PgRow, types::Json};
use std::collections::BTreeMap;
use uuid::Uuid;

pub(super) async fn claim(pg: &Pg, claim: Claim) -> Result<Vec<Claimed>, Error> {
    let (queues, limits): (Vec<_>, Vec<_>) =
        claim.queues.iter().map(|(queue, limit)| (queue.as_str(), i32::try_from(*limit).unwrap_or(i32::MAX))).unzip();
    let total = limits.iter().fold(0, |sum: u32, limit| sum.saturating_add(limit.unsigned_abs()));
    let rows = sqlx::query(pg.sql.claim.clone())
        .bind(claim.worker.0)
        .bind(queues)
        .bind(limits)
        .bind(Json(newest_versions(&claim.kinds)))
        .bind(tokens(pg, total).await?)
        .fetch_all_on(pg.own())
        .await
        .map_err(fault::store("claim jobs"))?;
    if rows.is_empty() {
        let detail = format!("the lease of worker {} has lapsed or was ended", claim.worker.0);
        return Err(Error::new(code::WORKER_LOST, detail));
    }
    let mut claimed = Vec::with_capacity(rows.len());
    for row in &rows {
        match read(row) {
            Ok(job) => claimed.extend(job),
            // One row that somebody tampered with must not keep all others from running.
            Err(error) => tracing::error!(event = logged::ROW_UNREADABLE, %error, "a claimed job cannot be run"),
        }
    }
    claimed.sort_by_key(|job| (job.priority, job.ready_at, job.fence.job));
    Ok(claimed)
}

/// The newest version of each kind that the worker can decode.
fn newest_versions(kinds: &[KnownKind]) -> BTreeMap<&str, u16> {
    let mut newest = BTreeMap::new();
    for kind in kinds {
        let version = newest.entry(kind.name.as_str()).or_insert(kind.version);
        *version = kind.version.max(*version);
    }
    newest
}

/// The number before the first of `count` tokens that nobody else gets.
async fn tokens(pg: &Pg, count: u32) -> Result<i64, Error> {
    loop {
        if let Some(before) = pg.tokens.take(count) {
            return Ok(before);
        }
        let block = sqlx::query_scalar(pg.sql.token_block.clone())
            .fetch_one_on(pg.own())
            .await
            .map_err(fault::store("draw claim tokens"))?;
        pg.tokens.refill(block);
    }
}

/// Reads a row; `None` from the one of nulls that stands for "nothing to claim".
fn read(row: &PgRow) -> Result<Option<Claimed>, Error> {
    let mut columns = Columns::of(row);
    let Some(id) = columns.next::<Option<Uuid>>()? else { return Ok(None) };
    let token = Token(columns.next()?);
    let attempt = columns.next_as::<i32, _>()?;
    Ok(Some(Claimed {
        fence: Fence { job: JobId(id), attempt, token },
        kind: columns.next()?,
        version: columns.next_as::<i16, _>()?,
        queue: columns.next()?,
        tenant: columns.next()?,
        priority: columns.next()?,
        parent: columns.next::<Option<Uuid>>()?.map(JobId),
        stage: columns.stage()?,
        crashes: columns.next_as::<i16, _>()?,
        payload: columns.json()?,
        overrides: columns.decode_if_readable::<Overrides>()?.unwrap_or_default(),
        metadata: columns.json_or_null()?,
        trace: columns.next()?,
        enqueued_by: columns.next()?,
        failure: columns.failure()?,
        created_at: columns.next()?,
        ready_at: columns.next()?,
        claimed_at: columns.next()?,
        expired: columns.next()?,
    }))
}
