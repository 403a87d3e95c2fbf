//! What the tests share: an event, the drivers, and what settles.

use crate::support::{Db, eventually};
use jobs::{
    Event, JobId, Jobs, Registry,
    driver::{Driver, JobRecord, Memory, pg::Pg},
};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// A parcel is on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shipped {
    pub(crate) parcel: String,
}

impl Event for Shipped {
    const NAME: &'static str = "parcel.shipped";
    const TTL: Option<Duration> = Some(Duration::from_secs(3 * 86_400));
}

pub(crate) fn shipped(parcel: impl std::fmt::Display) -> Shipped {
    Shipped { parcel: parcel.to_string() }
}

/// Each driver, with the jobs of this program.
pub(crate) async fn on_both() -> (Db, Vec<Jobs>) {
    let db = Db::new();
    let pg = Pg::new(db.pool(4).await).expect("the driver takes a pool");
    let drivers: [Arc<dyn Driver>; 2] = [Arc::new(Memory::new()), Arc::new(pg)];
    (db, drivers.map(|driver| Jobs::new(driver, Registry::linked().expect("they fit together"))).into())
}

pub(crate) async fn settled(jobs: &Jobs, id: JobId) -> JobRecord {
    eventually("the job settles", || async {
        let record = jobs.find(id).await.expect("it is stored");
        record.state.is_final().then_some(record)
    })
    .await
}
