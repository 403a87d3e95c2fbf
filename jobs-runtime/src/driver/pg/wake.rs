//! Looks again where a parked run's event or child may have come unseen. Upstream: `upkeep`. Downstream: nothing.

use super::{Pg, ask::Ask, fault, rows::Columns};
use crate::error::Error;
use std::sync::{Mutex, PoisonError};
use uuid::Uuid;

/// The run behind which the next sweep begins, so that runs which cannot be looked at yet do not stand before others.
#[derive(Debug, Default)]
pub(super) struct Swept(Mutex<Uuid>);

impl Swept {
    fn get(&self) -> Uuid {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, run: Uuid) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }
}

pub(super) async fn wake(pg: &Pg, limit: u32) -> Result<u32, Error> {
    let row = sqlx::query(pg.sql.wake.clone())
        .bind(pg.swept.get())
        .bind(i32::try_from(limit).unwrap_or(i32::MAX))
        .fetch_one_on(pg.own())
        .await
        .map_err(fault::store("look for what parked runs wait for"))?;
    let mut columns = Columns::of(&row);
    let woken = columns.next_as::<i32, u32>()?;
    pg.swept.set(columns.next::<Option<Uuid>>()?.unwrap_or_default());
    Ok(woken)
}
