//! The background loops: they begin again, and an idle worker asks little.

use crate::{
    act::{Act, ended, enqueue, jobs_on},
    scripted::Scripted,
};
use jobs::State;
use std::{
    sync::{Arc, Mutex, atomic::Ordering::SeqCst},
    time::Duration,
};

#[tokio::test]
async fn a_loop_that_panics_begins_again_and_is_reported() {
    let driver = Scripted::default();
    driver.script.looks_panic.store(2, SeqCst);
    driver.script.no_hints.store(true, SeqCst);
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = reports.clone();
    let jobs = jobs_on(Arc::new(driver.clone()));
    let worker =
        jobs.worker().on_error(move |report| seen.lock().unwrap().push(report.text.clone())).start().await.unwrap();
    while driver.script.looks.load(SeqCst) < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Without hints only the lookout finds it.
    let job = enqueue(&jobs, Act::Ok).await;
    assert_eq!(ended(&jobs, job).await.state, State::Completed);
    let reports = reports.lock().unwrap().clone();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].contains("lookout") && reports[0].contains("the script says so"), "{reports:?}");
    worker.drain().await;
}

#[tokio::test]
async fn a_reporter_that_panics_harms_nobody() {
    let driver = Scripted::default();
    driver.script.looks_panic.store(1, SeqCst);
    let jobs = jobs_on(Arc::new(driver));
    let worker = jobs.worker().on_error(|_| panic!("a bad reporter")).start().await.unwrap();
    let dead = enqueue(&jobs, Act::Terminal).await;
    assert_eq!(ended(&jobs, dead).await.state, State::Dead);
    let next = enqueue(&jobs, Act::Ok).await;
    assert_eq!(ended(&jobs, next).await.state, State::Completed);
    worker.drain().await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_worker_asks_little() {
    let driver = Scripted::default();
    let jobs = jobs_on(Arc::new(driver.clone()));
    let worker = jobs.worker().start().await.unwrap();
    tokio::time::sleep(Duration::from_secs(30)).await;
    let asked = || {
        let script = &driver.script;
        [&script.claims, &script.looks, &script.others].map(|count| count.load(SeqCst)).iter().sum::<u32>()
    };
    let before = asked();
    tokio::time::sleep(Duration::from_secs(600)).await;
    let per_minute = f64::from(asked() - before) / 10.0;
    // The renewals go by the real clock: 6 a minute.
    assert!(per_minute <= 14.0, "{per_minute} statements a minute besides the renewals");
    worker.drain().await;
}

#[tokio::test]
async fn retries_and_delays_are_promoted_when_they_are_due() {
    let driver = Scripted::default();
    let jobs = jobs_on(Arc::new(driver));
    let worker = jobs.worker().start().await.unwrap();
    let job = jobs.enqueue::<crate::act::Acts>(Act::Ok).delay("300ms").await.unwrap().id();
    let began = std::time::Instant::now();
    assert_eq!(ended(&jobs, job).await.state, State::Completed);
    let took = began.elapsed();
    assert!(took > Duration::from_millis(250) && took < Duration::from_millis(1_500), "{took:?}");
    worker.drain().await;
}
