//! A timeout and a drain in the same tick: the one that fired first is the run's reason.

use crate::act::{Act, Acts, Log, enqueue, in_state, jobs};
use jobs::{CancelReason, State};
use std::{collections::HashMap, time::Duration};

#[tokio::test(start_paused = true)]
async fn the_first_reason_wins_in_a_thousand_interleavings() {
    let mut seen: HashMap<CancelReason, u32> = HashMap::new();
    for round in 0..1_000_u64 {
        let (jobs, log) = (jobs(), Log::default());
        let worker = jobs.worker().state(log.clone()).drain_grace("0s").start().await.unwrap();
        let job = jobs.enqueue::<Acts>(Act::UntilCancelled(false)).timeout("1s").await.unwrap().id();
        in_state(&jobs, job, State::Running).await;
        // Around the second in steps of a millisecond, with the tasks in another order each time.
        let offset = round % 21;
        tokio::time::sleep(Duration::from_millis(985 + offset)).await;
        for _ in 0..round % 5 {
            tokio::task::yield_now().await;
        }
        worker.drain().await;
        let reasons = log.reasons();
        assert_eq!(reasons.len(), 1, "round {round}: {reasons:?}");
        let record = jobs.find(job).await.unwrap();
        match reasons[0] {
            CancelReason::Timeout => {
                assert_eq!((record.state, record.attempt), (State::Delayed, 2), "round {round}");
                assert_eq!(record.failure.unwrap().code, "X_JOB_TIMEOUT");
            }
            CancelReason::Drain => {
                assert_eq!((record.state, record.attempt), (State::Ready, 1), "round {round}");
                assert!(record.failure.is_none());
            }
            other => panic!("round {round}: {other}"),
        }
        *seen.entry(reasons[0]).or_default() += 1;
    }
    assert!(seen.len() == 2 && seen.values().all(|times| *times > 100), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn a_drain_that_comes_in_a_timeouts_grace_changes_nothing() {
    let (jobs, log) = (jobs(), Log::default());
    let worker = jobs.worker().state(log.clone()).drain_grace("0s").start().await.unwrap();
    let job = enqueue(&jobs, Act::Sleep(60_000)).await;
    in_state(&jobs, job, State::Running).await;
    // The declared timeout is 5 s, the grace after it another 5 s.
    tokio::time::sleep(Duration::from_secs(7)).await;
    worker.drain().await;
    let record = jobs.find(job).await.unwrap();
    assert_eq!((record.attempt, record.failure.unwrap().code.as_str()), (2, "X_JOB_TIMEOUT"));
}
