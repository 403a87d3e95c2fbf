//! Two workers, two runs that wait for each event, and connections that break at any byte while they wait.

use super::{happened, key, output, wait_once};
use crate::support::{Db, Fault, Proxy, eventually_within, pool};
use jobs::{Enqueued, Event, Jobs, State, driver::ListFilter};
use std::{sync::Arc, time::Duration};

#[tokio::test]
async fn runs_that_wait_for_one_event_over_connections_that_break_all_get_it() {
    const EVENTS: usize = 100;
    const CUTS: u64 = 40;
    let db = Db::new();
    let direct = Jobs::postgres(db.pool(4).await).unwrap();
    let proxy = Arc::new(Proxy::before(db.url()));
    let mut workers = Vec::new();
    for _ in 0..2 {
        let jobs = Jobs::postgres(pool(proxy.url(), 2).await).unwrap();
        workers.push(jobs.worker().queue("waits", 16).start().await.unwrap());
    }
    let cutting = tokio::spawn({
        let proxy = proxy.clone();
        async move {
            let mut bytes = 1_usize;
            for cut in 0..CUTS {
                // Each at another place: before an answer, within it, or in one of the next.
                bytes = bytes * 31 % 4_099;
                proxy.fail_open(Fault::CutAfter(bytes));
                tokio::time::sleep(Duration::from_millis(100 + cut * 37 % 400)).await;
            }
            proxy.fail_open(Fault::None);
        }
    });
    let mut runs = Vec::new();
    for n in 0..EVENTS {
        let two = wait_once::enqueue_many(&direct, [key(n), key(n)]).await.unwrap();
        runs.push((n, two.iter().map(Enqueued::id).collect::<Vec<_>>()));
        if n % 2 == 0 {
            happened(n).publish(&direct, n).await.unwrap();
        }
    }
    // The other half while some of them wait, some are about to, and some have not begun.
    for n in (1..EVENTS).step_by(2) {
        happened(n).publish(&direct, n).await.unwrap();
    }
    cutting.await.unwrap();
    let done = ListFilter { state: Some(State::Completed), limit: 200, ..Default::default() };
    println!("{} of {} runs had ended after {CUTS} cuts", direct.list(done).await.unwrap().len(), 2 * EVENTS);
    for (n, two) in runs {
        for run in two {
            let record = eventually_within(Duration::from_secs(15), "a run goes on", || async {
                let record = direct.find(run).await.unwrap();
                record.state.is_final().then_some(record)
            })
            .await;
            assert_eq!(output::<String>(&record), n.to_string());
        }
    }
    for worker in workers {
        worker.drain().await;
    }
    // Nothing of a wait is left behind.
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs.waits").fetch_one(&db.pool(1).await).await.unwrap();
    assert_eq!(left, 0);
    assert!(!direct.driver().look(&[]).await.unwrap().unwoken);
}
