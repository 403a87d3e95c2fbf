//! Looks whether anything is to do, and what a worker holds. Upstream: `worker`. Downstream: `rows`.

use super::{Pg, ask::Ask, fault, rows::Columns, times::wait};
use crate::{
    driver::{Fence, Outlook, Token, WorkerId},
    error::Error,
    id::JobId,
};

pub(super) async fn look(pg: &Pg, queues: &[String]) -> Result<Outlook, Error> {
    let row = sqlx::query(pg.sql.look.clone())
        .bind(queues)
        .bind(&pg.channel)
        .bind(pg.probes.take())
        .fetch_one_on(pg.own())
        .await
        .map_err(fault::store("look for work"))?;
    let mut columns = Columns::of(&row);
    Ok(Outlook {
        ready: columns.next()?,
        next_due: columns.next::<Option<f64>>()?.map(wait),
        lapsed: columns.next()?,
        unwoken: columns.next()?,
        expired_events: columns.next()?,
    })
}

pub(super) async fn held(pg: &Pg, worker: WorkerId) -> Result<Vec<Fence>, Error> {
    let rows = sqlx::query(pg.sql.held.clone())
        .bind(worker.0)
        .fetch_all_on(pg.own())
        .await
        .map_err(fault::store("list what a worker holds"))?;
    rows.iter()
        .map(|row| {
            let mut columns = Columns::of(row);
            Ok(Fence {
                job: JobId(columns.next()?),
                attempt: columns.next_as::<i32, _>()?,
                token: Token(columns.next()?),
            })
        })
        .collect()
}
