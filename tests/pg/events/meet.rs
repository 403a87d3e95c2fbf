//! Two connections, every order of their steps.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_of_before_the_park_makes_the_run_ready_at_once() {
    let stage = Stage::new().await;
    stage.publish("a").await;
    let job = stage.parked("a").await;
    assert_eq!(stage.state(job).await, State::Ready);
    assert_eq!(stage.waits().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_of_after_the_park_makes_the_run_ready_with_its_commit() {
    let stage = Stage::new().await;
    let job = stage.parked("a").await;
    let other = stage.parked("b").await;
    assert_eq!(stage.waits().await, (2, 0));
    let mut tx = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut tx, "a").await;
    assert_eq!(stage.state(job).await, State::Suspended);
    tx.commit().await.expect("a commit");
    assert_eq!((stage.state(job).await, stage.state(other).await), (State::Ready, State::Suspended));
    assert!(!stage.unwoken().await);
    assert_eq!(stage.waits().await, (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publisher_that_was_open_before_the_park_is_seen_once_it_commits() {
    let stage = Stage::new().await;
    let mut tx = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut tx, "a").await;
    let job = stage.parked("a").await;
    assert_eq!(stage.state(job).await, State::Suspended);
    assert!(stage.unwoken().await);
    assert_eq!(stage.wake().await, 0);
    assert!(stage.unwoken().await, "it is not known yet");
    tx.commit().await.expect("a commit");
    assert_eq!(stage.wake().await, 1);
    assert_eq!(stage.state(job).await, State::Ready);
    assert!(!stage.unwoken().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publisher_that_rolls_back_wakes_nobody() {
    let stage = Stage::new().await;
    let mut before = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut before, "a").await;
    let job = stage.parked("a").await;
    let mut after = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut after, "a").await;
    before.rollback().await.expect("a rollback");
    after.rollback().await.expect("a rollback");
    assert_eq!(stage.wake().await, 0);
    assert_eq!(stage.state(job).await, State::Suspended);
    assert!(!stage.unwoken().await, "nobody publishes: there is nothing to look at");
    stage.publish("a").await;
    assert_eq!(stage.state(job).await, State::Ready);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publisher_of_one_snapshot_is_seen_whenever_it_began() {
    let stage = Stage::new().await;
    for level in ONE_SNAPSHOT {
        // Its snapshot, then the park, then its event.
        let mut tx = stage.begin(level).await;
        let job = stage.parked("a").await;
        stage.publish_in(&mut tx, "a").await;
        tx.commit().await.expect("a commit");
        assert_eq!(stage.state(job).await, State::Suspended, "{level}");
        assert!(stage.unwoken().await);
        assert_eq!(stage.wake().await, 1, "{level}");
        assert_eq!(stage.state(job).await, State::Ready, "{level}");
        assert!(!stage.unwoken().await);
        // Its event, then the park.
        let mut tx = stage.begin(level).await;
        stage.publish_in(&mut tx, level).await;
        let job = stage.parked(level).await;
        tx.commit().await.expect("a commit");
        assert_eq!(stage.wake().await, 1, "{level}");
        assert_eq!(stage.state(job).await, State::Ready, "{level}");
        // The park, then its snapshot.
        let job = stage.parked("c").await;
        let mut tx = stage.begin(level).await;
        stage.publish_in(&mut tx, "c").await;
        tx.commit().await.expect("a commit");
        assert_eq!(stage.wake().await, 1, "{level}");
        assert_eq!(stage.state(job).await, State::Ready, "{level}");
        assert!(!stage.unwoken().await);
        run(stage.driver.pool(), "DELETE FROM jobs.events; DELETE FROM jobs.ready").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_is_not_seen_yet_and_was_taken_wakes_nobody() {
    let stage = Stage::new().await;
    let mut tx = stage.begin("REPEATABLE READ").await;
    let event = stage.publish_in(&mut tx, "a").await.id;
    tx.commit().await.expect("a commit");
    let claimed = stage.claimed(1).await.remove(0);
    stage.park(&claimed, vec![on_but("a", vec![event])]).await;
    assert_eq!(stage.wake().await, 0);
    assert_eq!(stage.state(claimed.fence.job).await, State::Suspended);
    assert!(!stage.unwoken().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_an_open_transaction_has_woken_is_woken_by_the_next_if_that_rolls_back() {
    let stage = Stage::new().await;
    for first_commits in [true, false] {
        let claimed = stage.claimed(1).await.remove(0);
        stage.park(&claimed, vec![on("a"), on("b")]).await;
        let mut tx = stage.begin("READ COMMITTED").await;
        stage.publish_in(&mut tx, "a").await;
        // Does not wait for the first.
        let second = stage.publish("b").await;
        assert!(stage.unwoken().await);
        assert_eq!(stage.wake().await, 0, "the first has it");
        if first_commits {
            tx.commit().await.expect("a commit");
            assert_eq!(stage.wake().await, 0, "it is ready already");
        } else {
            tx.rollback().await.expect("a rollback");
            assert_eq!(stage.wake().await, 1);
        }
        assert_eq!(stage.state(claimed.fence.job).await, State::Ready);
        assert!(!stage.unwoken().await);
        assert_eq!(stage.waits().await, (0, 0));
        let again = stage.worker.claim_one().await;
        stage.worker.finish(&again, State::Completed).await;
        assert!(stage.driver.events(NAME).await.expect("a list").iter().any(|event| event.id == second));
        run(stage.driver.pool(), "DELETE FROM jobs.events").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn publishers_of_the_same_runs_in_other_orders_do_not_deadlock() {
    let stage = Stage::new().await;
    let (a, b) = (stage.parked("a").await, stage.parked("b").await);
    let mut first = stage.begin("READ COMMITTED").await;
    let mut second = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut first, "a").await;
    stage.publish_in(&mut second, "b").await;
    stage.publish_in(&mut first, "b").await;
    stage.publish_in(&mut second, "a").await;
    first.commit().await.expect("a commit");
    second.rollback().await.expect("a rollback");
    assert_eq!(stage.state(a).await, State::Ready);
    assert_eq!(stage.wake().await, 1);
    assert_eq!(stage.state(b).await, State::Ready);
    assert!(!stage.unwoken().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_batch_of_parks_is_not_delayed_by_an_open_publisher() {
    let stage = Stage::new().await;
    let claimed = stage.claimed(50).await;
    let mut tx = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut tx, "0").await;
    let writes: Vec<_> = (0..)
        .zip(&claimed)
        .map(|(key, claimed): (u32, _)| Write {
            fence: claimed.fence,
            change: Change::Park(Box::new(park(vec![on(&key.to_string())]))),
        })
        .collect();
    let written = stage.driver.commit(stage.worker.id, &writes).await.expect("a commit");
    assert!(written.iter().all(|written| matches!(written, Written::Landed)), "{written:?}");
    let (all, rechecked) = stage.waits().await;
    assert_eq!(all, 50);
    assert!((1..10).contains(&rechecked), "{rechecked}: those of one bucket");
    stage.publish("1").await;
    assert_eq!(stage.state(claimed[1].fence.job).await, State::Ready, "others are woken meanwhile");
    tx.commit().await.expect("a commit");
    assert_eq!(stage.wake().await, 1);
    assert_eq!(stage.state(claimed[0].fence.job).await, State::Ready);
    assert!(!stage.unwoken().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_sweeps_at_once_wake_each_run_once() {
    let stage = Stage::new().await;
    let mut tx = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut tx, "a").await;
    let claimed = stage.claimed(40).await;
    for claimed in &claimed {
        stage.park(claimed, vec![on("a")]).await;
    }
    assert_eq!(stage.waits().await, (40, 40));
    tx.commit().await.expect("a commit");
    let other = Pg::new(stage.db.pool(2).await).expect("the driver is built");
    let mut woken = 0;
    while stage.unwoken().await {
        let (one, two) = tokio::join!(stage.driver.wake(7), other.wake(5));
        woken += one.expect("a sweep") + two.expect("a sweep");
    }
    assert_eq!(woken, 40);
    assert_eq!(stage.worker.claim(100).await.len(), 40);
    assert_eq!(stage.waits().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_goes_on_behind_those_that_it_cannot_look_at() {
    let stage = Stage::new().await;
    let mut stuck = stage.begin("READ COMMITTED").await;
    let mut ends = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut stuck, "stuck").await;
    stage.publish_in(&mut ends, "ends").await;
    for _ in 0..6 {
        stage.parked("stuck").await;
    }
    let job = stage.parked("ends").await;
    ends.commit().await.expect("a commit");
    let mut woken = 0;
    for _ in 0..4 {
        woken += stage.driver.wake(2).await.expect("a sweep");
    }
    assert_eq!((woken, stage.state(job).await), (1, State::Ready));
    assert_eq!(stage.waits().await, (6, 6));
    stuck.rollback().await.expect("a rollback");
    while stage.unwoken().await {
        assert_eq!(stage.driver.wake(2).await.expect("a sweep"), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_is_never_free_hides_nothing() {
    let stage = Stage::new().await;
    let mut ends = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut ends, "a").await;
    let job = stage.parked("a").await;
    // Of the same bucket, and longer than the first.
    let mut stays = stage.begin("READ COMMITTED").await;
    sqlx::raw_sql("SELECT pg_advisory_xact_lock_shared(hashtext('\"jobs\".events'), bucket) FROM generate_series(0, 1023) AS bucket")
        .execute(&mut *stays)
        .await
        .expect("all buckets are taken");
    ends.commit().await.expect("a commit");
    assert_eq!(stage.wake().await, 1);
    assert_eq!(stage.state(job).await, State::Ready);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worker_is_told_at_once_of_what_is_to_be_looked_at_again() {
    let stage = Stage::new().await;
    let mut hints = stage.driver.hints(stage.worker.id, Vec::new()).await.expect("a subscription");
    assert_eq!(hints.next().await, Hint::All);
    let mut tx = stage.begin("READ COMMITTED").await;
    stage.publish_in(&mut tx, "a").await;
    stage.parked("a").await;
    assert_eq!(hints.next().await, Hint::Unwoken, "of a park that could not see all events");
    tx.commit().await.expect("a commit");
    let mut tx = stage.begin("REPEATABLE READ").await;
    stage.publish_in(&mut tx, "b").await;
    tx.commit().await.expect("a commit");
    assert_eq!(hints.next().await, Hint::Unwoken, "of an event that could not see all parks");
}
