//! Moves due jobs to `ready`. Upstream: `upkeep`. Downstream: nothing.

use super::{Pg, ask::Ask, fault, rows::Columns, times::wait};
use crate::{driver::Promoted, error::Error};

pub(super) async fn promote(pg: &Pg, limit: u32) -> Result<Promoted, Error> {
    let row = sqlx::query(pg.sql.promote.clone())
        .bind(i64::from(limit))
        .bind(&pg.channel)
        .fetch_one_on(pg.own())
        .await
        .map_err(fault::store("move due jobs to `ready`"))?;
    let mut columns = Columns::of(&row);
    let moved = columns.next_as::<i64, u32>()?;
    let _told: i64 = columns.next()?;
    Ok(Promoted { moved, next_due: columns.next::<Option<f64>>()?.map(wait) })
}
