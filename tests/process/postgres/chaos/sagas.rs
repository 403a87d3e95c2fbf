//! Sagas under kills: what a saga did is undone, once on record and backwards, or stays; its ledger sums exactly.

use super::{is_full, load::Random};
use crate::{
    scene::{PATIENCE, Scene},
    support::role,
    worker::{self, Act, Task, log},
};
use jobs::prelude::*;
use std::time::{Duration, Instant};

/// Logs each of its steps and what it undoes; one that is refused fails after the last.
#[job(tenant = none, queue = "work", crash_budget = 10000, retry(max_attempts = 1000, backoff = fixed("200ms")))]
async fn saga(ctx: &Ctx, Task { n, act }: Task) -> Result<(), Failure> {
    step!(ctx, "hold", async { slowly(ctx, n, "hold").await }).await?;
    compensate!(ctx, "hold", async move |ctx| { slowly(ctx, n, "undo hold").await });
    step_tx!(ctx, "book", async |tx| {
        sqlx::query("INSERT INTO ledger (job) VALUES ($1)").bind(ctx.id().0).execute(tx.pg()?).await?;
        Ok(())
    })
    .await?;
    compensate!(ctx, "book", async move |ctx| { slowly(ctx, n, "undo book").await });
    sleep!(ctx, "rest", "100ms").await;
    step!(ctx, "pack", async { slowly(ctx, n, "pack").await }).await?;
    compensate!(ctx, "pack", async move |ctx| { slowly(ctx, n, "undo pack").await });
    if let Act::Refuse = act {
        return Err(Failure::terminal("as its act says").code("X_REFUSED"));
    }
    Ok(())
}

async fn slowly(ctx: &Ctx, n: i32, event: &str) -> Result<(), Failure> {
    log(ctx, n, event).await?;
    tokio::time::sleep(Duration::from_millis(n as u64 % 10 * 40)).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sagas_of_killed_workers_are_undone_or_complete_and_their_ledger_sums() {
    let (sagas, kills) = if is_full() { (4_000, 60) } else { (400, 8) };
    let scene = Scene::new(role!("worker", worker::main)).await;
    sqlx::raw_sql("CREATE TABLE ledger (job uuid NOT NULL)").execute(&scene.pool).await.expect("the ledger is made");
    let seed = Uuid::now_v7().as_u128() as u64;
    let mut random = Random(seed);
    let begun = Instant::now();
    let worker = || scene.worker().lease(2_000).set("PREFETCH", 5);
    let mut fleet = [worker().spawn(), worker().spawn()];
    for kill in 0..kills {
        let task = |n| Task { n, act: if n % 2 == 0 { Act::Refuse } else { Act::Sleep(0) } };
        scene.enqueue::<saga>((kill * sagas / kills..(kill + 1) * sagas / kills).map(task)).await;
        tokio::time::sleep(Duration::from_millis(200 + random.below(500))).await;
        let victim = random.below(2) as usize;
        fleet[victim].kill();
        fleet[victim] = worker().spawn();
    }
    scene.wait_for_all(PATIENCE * 4).await;

    let sagas = i64::from(sagas);
    let rescued = scene.count("SELECT count(DISTINCT job) FROM log WHERE crashes > 0").await;
    let took = begun.elapsed();
    println!("{sagas} sagas, {kills} workers killed, {rescued} sagas rescued, all in {took:.0?} (seed {seed})");
    assert!(rescued > 0, "no kill hit a saga: nothing is proved");
    assert_eq!(scene.count("SELECT count(*) FROM jobs.dead WHERE error_code = 'X_REFUSED'").await, sagas / 2);
    assert_eq!(scene.count("SELECT count(*) FROM jobs.dead").await, sagas / 2);
    // Whatever was in doubt, each booked once.
    assert_eq!(scene.count("SELECT count(*) FROM ledger").await, sagas);
    assert_eq!(scene.count("SELECT count(DISTINCT job) FROM ledger").await, sagas);
    let undone = "
        SELECT count(*)
        FROM jobs.dead AS d
        WHERE (
            SELECT array_agg(first.event ORDER BY first.id)
            FROM (SELECT event, min(id) AS id FROM log WHERE job = d.id AND event LIKE 'undo %' GROUP BY event) AS first
        ) = ARRAY['undo pack', 'undo book', 'undo hold']";
    assert_eq!(scene.count(undone).await, sagas / 2, "each undoes its steps, the last one first");
    let forward = "
        SELECT count(*)
        FROM log AS forward
        JOIN log AS undo ON undo.job = forward.job AND undo.event LIKE 'undo %' AND undo.id < forward.id
        WHERE forward.event NOT LIKE 'undo %'";
    assert_eq!(scene.count(forward).await, 0, "no step runs forward after the first undo");
    let wrongly = "
        SELECT count(*)
        FROM log
        WHERE event LIKE 'undo %'
            AND NOT EXISTS (SELECT FROM jobs.dead WHERE dead.id = log.job)";
    assert_eq!(scene.count(wrongly).await, 0, "what completed is not undone");
}
