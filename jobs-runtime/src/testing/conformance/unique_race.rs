//! Unique keys under concurrency: no look-then-insert survives these.

use super::{Fixture, HandWorker, keyed};
use crate::{
    driver::{Enqueued, NewJob},
    id::JobId,
    spec::Hold,
    state::State,
};
use futures_util::future::join_all;
use std::{collections::HashSet, time::Duration};

async fn live(store: &dyn Fixture) -> u64 {
    store.driver().counts().await.expect("counts answer").iter().map(|count| count.jobs).sum()
}

/// 64 callers ask at once: one inserts, and all get its id.
pub async fn of_64_concurrent_callers_one_inserts(store: &dyn Fixture) {
    let handles = [store.driver(), store.second_handle().await];
    for round in 1..=8 {
        let callers = (0..64).map(|number| {
            let driver = handles[number % 2].clone();
            tokio::spawn(async move { driver.enqueue(&[keyed(round, Hold::Live)], None).await })
        });
        let answers: Vec<Enqueued> = join_all(callers)
            .await
            .into_iter()
            .map(|answer| answer.expect("no caller panics").expect("no caller gets an error")[0])
            .collect();
        assert_eq!(answers.iter().filter(|answer| answer.is_inserted()).count(), 1);
        assert_eq!(answers.iter().map(Enqueued::id).collect::<HashSet<_>>().len(), 1);
        assert_eq!(live(store).await, u64::from(round));
    }
}

/// 64 callers ask at once in transactions of their own, and half of them roll back: exactly one job is left, and
/// every caller that committed has its id.
pub async fn of_64_callers_with_rollbacks_one_job_is_left(store: &dyn Fixture) {
    for round in 1..=4 {
        let callers = (0..64).map(|number| async move {
            let mut tx = store.begin().await;
            let answers =
                store.enqueue_in(&mut *tx, &[keyed(round, Hold::Live)]).await.expect("no caller gets an error");
            if number % 2 == 0 {
                tx.rollback().await;
                return None;
            }
            tx.commit().await;
            Some(answers[0].id())
        });
        let committed: HashSet<JobId> = join_all(callers).await.into_iter().flatten().collect();
        assert_eq!(committed.len(), 1, "all who committed have one id");
        for id in committed {
            assert_eq!(store.state(id).await, State::Ready);
        }
        assert_eq!(live(store).await, u64::from(round), "and it is the only job of its key");
    }
}

/// In a chain of five transactions on one key, each waits for the one before; whichever of them commits, first,
/// in the middle or last, its job is the one that is left.
pub async fn whichever_transaction_commits_its_job_is_left(store: &dyn Fixture) {
    for (number, committer) in [(1, 0), (2, 2), (3, 4)] {
        let jobs: Vec<NewJob> = (0..5).map(|_| keyed(number, Hold::Live)).collect();
        let mut holder = store.begin().await;
        let first = store.enqueue_in(&mut *holder, &jobs[..1]).await.expect("accepted");
        assert_eq!(first, [Enqueued::Inserted { id: jobs[0].id }]);
        for position in 0..5 {
            let mut next = store.begin().await;
            let ends = async { if position == committer { holder.commit().await } else { holder.rollback().await } };
            let Some(job) = jobs.get(position + 1) else {
                ends.await;
                break;
            };
            let (answers, ()) = tokio::join!(store.enqueue_in(&mut *next, std::slice::from_ref(job)), ends);
            let expected = if position < committer {
                Enqueued::Inserted { id: job.id }
            } else {
                Enqueued::Existing { id: jobs[committer].id, state: Some(State::Ready) }
            };
            assert_eq!(answers.expect("accepted"), [expected], "at {position}, when {committer} commits");
            holder = next;
        }
        let left: Vec<bool> = join_all(jobs.iter().map(|job| async { store.find(job.id).await.is_some() })).await;
        assert_eq!(left, (0..5).map(|position| position == committer).collect::<Vec<_>>());
    }
}

/// An enqueue outside any transaction waits for an open one that holds its key, and takes the key if that one rolls
/// back.
pub async fn a_caller_waits_for_the_holders_transaction(store: &dyn Fixture) {
    let (held, waiting) = (keyed(1, Hold::Live), keyed(1, Hold::Live));
    let mut tx = store.begin().await;
    store.enqueue_in(&mut *tx, std::slice::from_ref(&held)).await.expect("accepted");
    let driver = store.driver();
    let twin = waiting.clone();
    let mut caller = tokio::spawn(async move { driver.enqueue(&[twin], None).await });
    let early = tokio::time::timeout(Duration::from_millis(100), &mut caller).await;
    assert!(early.is_err(), "no answer is right before the transaction has ended");
    tx.rollback().await;
    let answers = caller.await.expect("the caller does not panic").expect("accepted");
    assert_eq!(answers, [Enqueued::Inserted { id: waiting.id }]);
    assert_eq!(HandWorker::start(store.driver()).await.claim_one().await.fence.job, waiting.id);
}

/// An open transaction that holds one key delays nobody who asks for another.
pub async fn an_open_transaction_delays_no_other_key(store: &dyn Fixture) {
    let mut tx = store.begin().await;
    store.enqueue_in(&mut *tx, &[keyed(1, Hold::Live)]).await.expect("accepted");
    let batch = [keyed(2, Hold::Live), super::job()];
    let other = tokio::time::timeout(Duration::from_secs(10), store.enqueue(&batch));
    assert!(other.await.expect("it does not wait").iter().all(Enqueued::is_inserted));
    tx.rollback().await;
}

/// Two transactions that take two keys in opposite orders do not wait for ever: one is refused, the other goes on.
pub async fn transactions_that_wait_for_each_other_do_not_hang(store: &dyn Fixture) {
    let (mut one, mut two) = (store.begin().await, store.begin().await);
    store.enqueue_in(&mut *one, &[keyed(1, Hold::Live)]).await.expect("accepted");
    store.enqueue_in(&mut *two, &[keyed(2, Hold::Live)]).await.expect("accepted");
    let first = async {
        let refused = store.enqueue_in(&mut *one, &[keyed(2, Hold::Live)]).await.is_err();
        if refused {
            one.rollback().await
        } else {
            one.commit().await
        }
        refused
    };
    let second = async {
        let refused = store.enqueue_in(&mut *two, &[keyed(1, Hold::Live)]).await.is_err();
        if refused {
            two.rollback().await
        } else {
            two.commit().await
        }
        refused
    };
    let (first, second) = tokio::time::timeout(Duration::from_secs(20), async { tokio::join!(first, second) })
        .await
        .expect("nobody waits for ever");
    assert!(first != second, "one of them is refused: {first}, {second}");
    assert_eq!(live(store).await, 2);
}

/// Concurrent batches that take the same keys in different orders all succeed.
pub async fn batches_with_keys_in_any_order_never_deadlock(store: &dyn Fixture) {
    let handles = [store.driver(), store.second_handle().await];
    let callers = (0..16).map(|caller: u16| {
        let driver = handles[usize::from(caller) % 2].clone();
        tokio::spawn(async move {
            let mut numbers: Vec<u16> = (0..40).collect();
            numbers.rotate_left(usize::from(caller) * 3 % 40);
            if caller % 2 == 1 {
                numbers.reverse();
            }
            let batch: Vec<NewJob> = numbers.into_iter().map(|number| keyed(number, Hold::Live)).collect();
            driver.enqueue(&batch, None).await
        })
    });
    let mut inserted = 0;
    for answers in join_all(callers).await {
        let answers = answers.expect("no caller panics").expect("no caller gets an error");
        inserted += answers.iter().filter(|answer| answer.is_inserted()).count();
    }
    assert_eq!((inserted, live(store).await), (40, 40));
}

/// While callers ask for a key again and again, its jobs end one after another: the key never has two live holders, and
/// every job that was inserted is run once.
pub async fn a_key_that_is_freed_while_it_is_asked_for_never_has_two_holders(store: &dyn Fixture) {
    let handles = [store.driver(), store.second_handle().await];
    let callers = (0..8).map(|caller| {
        let driver = handles[caller % 2].clone();
        tokio::spawn(async move {
            let mut inserted = 0;
            for _ in 0..60 {
                let answers = driver.enqueue(&[keyed(1, Hold::Live)], None).await.expect("no caller gets an error");
                inserted += usize::from(answers[0].is_inserted());
            }
            inserted
        })
    });
    let asking = tokio::spawn(join_all(callers.collect::<Vec<_>>()));
    let worker = HandWorker::start(store.driver()).await;
    let mut run = 0;
    loop {
        let over = asking.is_finished();
        let claimed = worker.claim(10).await;
        assert!(claimed.len() <= 1, "{} live jobs hold one key", claimed.len());
        for job in &claimed {
            worker.finish(job, State::Completed).await;
            run += 1;
        }
        if over && claimed.is_empty() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let inserted: usize = asking.await.expect("no panic").into_iter().map(|caller| caller.expect("no panic")).sum();
    assert_eq!(run, inserted);
}
