//! Rows that another release has written, or that somebody has tampered with.

use super::{driver, sql};
use crate::{
    jobs_of_tests::{Runs, all_completed, knowing, note, work},
    support::Db,
};
use jobs::{Enqueued, JobId, driver::ListFilter};
use std::{sync::Arc, time::Duration};

#[tokio::test]
async fn one_row_that_cannot_be_read_stops_no_other() {
    let db = Db::new();
    let pool = db.pool(1).await;
    let (jobs, runs) = (knowing::<note>(&Arc::new(driver(&db).await)), Runs::default());
    let ids: Vec<_> = jobs.enqueue_many::<note>(0..20).await.unwrap().iter().map(Enqueued::id).collect();
    let tamper = async |id: JobId, change: &str| {
        sql(&pool, format!("UPDATE jobs.ready SET {change} WHERE id = '{id}'")).await;
    };
    // What a newer release may write.
    tamper(ids[0], r#"overrides = '{"backoff": {"growth": "fibonacci"}, "timeout": "soon"}'"#).await;
    tamper(ids[1], r#"progress = '{"percent": 50}'"#).await;
    tamper(ids[2], "error_code = 'X_NEW', error_text = 'x', stop = 'out-of-luck'").await;
    // What none may.
    tamper(ids[3], "attempt = -1").await;
    tamper(ids[4], "crashes = -7").await;

    let worker = work(&jobs, &runs, 4).await;
    let sound: Vec<_> = ids.iter().copied().filter(|id| *id != ids[3] && *id != ids[4]).collect();
    all_completed(&jobs, &sound, Duration::from_secs(20)).await;
    assert_eq!((runs.count(), runs.again()), (18, 0));
    worker.drain().await;
    sql(&pool, "DELETE FROM jobs.ready").await;
    let listed = jobs.list(ListFilter::default()).await.expect("the others are listed");
    assert_eq!(listed.len(), 18);
}
