//! Records that do not fit the code: they stop no undoing of what stands before them.

use crate::world::{World, act, harness, undo};
use jobs::{JobId, Resolution, driver::JobRecord, prelude::*, testing::Harness};

/// Charges once, with nobody to say what became of it.
#[job(tenant = none, retry(max_attempts = 1))]
async fn charge(ctx: &Ctx, _input: ()) -> Result<u64, Failure> {
    step!(ctx, "hold", async { act(ctx, "hold").await }).await?;
    compensate!(ctx, "hold", async move |ctx| { undo(ctx, "hold").await });
    let cents: u64 = step!(ctx, "charge", once, timeout = "20ms", async {
        std::future::pending::<()>().await;
        Ok(1)
    })
    .await?;
    compensate!(ctx, "charge", [cents], async move |ctx| {
        let _ = cents;
        undo(ctx, "charge").await
    });
    Ok(cents)
}

/// A run whose charge is answered for with what does not decode.
async fn answered_wrongly(app: &Harness) -> JobId {
    let job = app.run::<charge>(()).await.job;
    app.jobs().resolve_step(job, "charge", Resolution::done("text").unwrap()).await.unwrap();
    app.drain().await;
    let JobRecord { state, parked, .. } = app.find(job).await;
    assert_eq!((state, &*parked.unwrap().code), (State::Suspended, "X_STEP_MISMATCH"));
    job
}

#[tokio::test(start_paused = true)]
async fn a_step_that_does_not_decode_is_not_undone_and_what_stands_before_it_is() {
    let world = World::default();
    let app = harness(&world);
    let job = answered_wrongly(&app).await;
    app.jobs().roll_back(job).await.unwrap();
    app.drain().await;
    let JobRecord { state, failure, .. } = app.find(job).await;
    let failure = failure.unwrap();
    assert_eq!((state, &*failure.code), (State::Dead, "X_JOB_COMPENSATION_FAILED"), "{failure:?}");
    assert!(failure.operator.contains("not undone: `charge`"), "{failure:?}");
    assert_eq!(world.undone(), ["undo hold"]);
    app.jobs().skip_undo(job, "charge").await.unwrap();
    app.jobs().resume(job).await.unwrap();
    app.drain().await;
    assert_eq!(app.find(job).await.state, State::Cancelled);
    assert_eq!(world.undone(), ["undo hold"], "once");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_parked_for_a_record_that_does_not_fit_is_cancelled_at_once() {
    let world = World::default();
    let app = harness(&world);
    let job = answered_wrongly(&app).await;
    app.jobs().cancel(job).await.unwrap();
    assert_eq!(app.find(job).await.state, State::Cancelled);
    assert!(world.undone().is_empty());
}
