//! The shortest way from one connection to another: insert and notify, then listen and claim.

use super::{KIND, QUEUE, json};
use crate::{Outcome, PAUSE};
use sqlx::{PgPool, Row, postgres::PgListener};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use uuid::Uuid;

/// The times from the insert's return to the claimed row, one at a time.
pub(crate) async fn insert_to_claim(pool: &PgPool, url: &str, count: usize) -> Outcome<Vec<Duration>> {
    let mut listener = PgListener::connect(url).await?;
    listener.listen("ready").await?;
    let (claimed, mut is_claimed) = mpsc::unbounded_channel();
    let consumer = tokio::spawn(consume(listener, pool.clone(), claimed, count));
    let mut connection = pool.acquire().await?;
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        tokio::time::sleep(PAUSE).await;
        let statement = sqlx::query(include_str!("sql/insert_and_notify.sql"));
        statement.bind(Uuid::now_v7()).bind(KIND).bind(QUEUE).bind(json()?).execute(&mut *connection).await?;
        let returned = Instant::now();
        let claimed: Instant = is_claimed.recv().await.ok_or("the consumer has ended")?;
        times.push(claimed.saturating_duration_since(returned));
    }
    consumer.await??;
    Ok(times)
}

async fn consume(
    mut listener: PgListener,
    pool: PgPool,
    claimed: mpsc::UnboundedSender<Instant>,
    count: usize,
) -> Outcome {
    let mut connection = pool.acquire().await?;
    for _ in 0..count {
        listener.recv().await?;
        let row = sqlx::query(include_str!("sql/claim_one.sql")).bind(QUEUE).fetch_one(&mut *connection).await?;
        let _: &str = row.try_get("payload")?;
        claimed.send(Instant::now())?;
    }
    Ok(())
}
