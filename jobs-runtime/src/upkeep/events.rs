//! Purges expired events, by a durable job of this library's own: it is retried and reported as any job is.
//! Upstream: `lookout`, `registry`. Downstream: `enqueue`, `driver`.

use super::Signals;
use crate::{
    backoff::Backoff,
    client::Jobs,
    ctx::Ctx,
    error::Error,
    failure::Failure,
    job::{Job, JobDef},
    logged,
    spec::{Hold, JobSpec, Keep, OnConflict, Retry, Unique},
};
use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::time::sleep;

/// How many events one statement removes at most.
const BATCH: u32 = 5_000;
/// The longest wait of a worker between two enqueues, shortened at random so that a fleet's workers take turns.
const EVERY: Duration = Duration::from_secs(300);

/// Removes expired events until none is left. Every worker knows it, beside the jobs of its registry.
pub(crate) enum PurgeEvents {}

impl PurgeEvents {
    /// The definition, which a registry holds without listing it.
    pub(crate) const DEF: &'static JobDef = &JobDef::of::<Self>();

    /// One at a time for each queue: the workers of one queue may be gone while another's go on.
    const ALONE: Unique = Unique { hold: Hold::Live, on_conflict: OnConflict::Existing };
}

impl Job for PurgeEvents {
    type Input = ();
    type Output = ();
    const SPEC: JobSpec = JobSpec::new("jobs.purge_events")
        .retry(Retry::new(10, Backoff::exponential("1s", "10m")))
        .keep(Keep::None)
        .written("Removes events that have expired, until none is left.", file!(), line!(), &[]);

    fn tenant((): &()) -> Option<String> {
        None
    }

    fn run(ctx: &Ctx, (): ()) -> BoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            // What a drain leaves is found by the next look.
            while !ctx.is_cancelled() {
                let events = ctx.jobs().driver().purge_events(BATCH).await?;
                if events > 0 {
                    tracing::debug!(event = logged::EVENTS_PURGED, events, "removed expired events");
                }
                if events < u64::from(BATCH) {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// Enqueues the purge each time a look found expired events, on the first of the worker's queues.
pub(crate) async fn purge_events(jobs: &Jobs, queues: &[String], signals: &Signals) -> Result<(), Error> {
    let Some(queue) = queues.first() else { return Ok(()) };
    loop {
        signals.expired.notified().await;
        let purge = jobs.enqueue::<PurgeEvents>(()).queue(queue).unique_with(queue, PurgeEvents::ALONE);
        purge.await.inspect_err(|_| signals.expired.notify_one())?;
        sleep(EVERY.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
    }
}
