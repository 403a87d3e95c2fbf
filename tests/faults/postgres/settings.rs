//! A database whose defaults are not the usual ones.

use super::{driver, processes, sql};
use crate::{
    jobs_of_tests::{Keyed, Runs, all_completed, note, once},
    support::{Db, eventually},
};
use jobs::{Enqueued, Jobs, Registry};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_defaults_of_the_database_change_nothing() {
    let db = Db::new();
    let admin = db.pool(1).await;
    for setting in [
        "default_transaction_isolation = 'serializable'",
        "default_transaction_deferrable = on",
        "idle_session_timeout = '1s'",
        "idle_in_transaction_session_timeout = '1s'",
        "statement_timeout = '3s'",
        "lock_timeout = '1s'",
        "timezone = 'Pacific/Apia'",
        "datestyle = 'German'",
        "intervalstyle = 'sql_standard'",
        "bytea_output = 'escape'",
        "enable_indexscan = off",
        "search_path = 'nowhere'",
    ] {
        sql(&admin, format!("ALTER DATABASE {} SET {setting}", db.name())).await;
    }
    let (runs, reports) = (Runs::default(), Arc::new(Mutex::new(Vec::new())));
    let (mut workers, mut stores) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let registry = Registry::builder().job::<note>().job::<once>().build().unwrap();
        let jobs = Jobs::new(Arc::new(driver(&db).await), registry);
        let heard = Arc::clone(&reports);
        let worker = jobs.worker().state(runs.clone()).concurrency(16);
        let worker = worker.on_error(move |report| heard.lock().unwrap().push(format!("{report:?}")));
        workers.push(worker.start().await.expect("a worker starts"));
        stores.push(jobs);
    }
    let listeners = eventually("both listen", async || {
        let pids = processes(&admin, "jobs:listen").await;
        (pids.len() == 2).then_some(pids)
    });
    let listeners = listeners.await;
    // Longer than a session of theirs may be idle, by the database's defaults.
    let idle = Instant::now();
    while idle.elapsed() < Duration::from_secs(3) {
        assert_eq!(processes(&admin, "jobs:listen").await, listeners, "the listeners are spared");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let mut ids: Vec<_> = stores[0].enqueue_many::<note>(0..1_000).await.unwrap().iter().map(Enqueued::id).collect();
    for caller in 0..20 {
        ids.push(stores[1].enqueue::<once>(Keyed { key: 5_000 + caller, caller }).await.unwrap().id());
    }
    all_completed(&stores[0], &ids, Duration::from_secs(30)).await;
    assert_eq!(runs.again(), 0);
    for worker in workers {
        worker.drain().await;
    }
    let reports = reports.lock().unwrap();
    assert!(reports.is_empty(), "{reports:#?}");
}
