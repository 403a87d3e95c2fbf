//! Futures that are held and not polled for a while keep nobody from going on.

use crate::{log::harness, waiting::Shipped};
use futures_util::{StreamExt, stream::FuturesUnordered};
use jobs::{Outcome, prelude::*};
use std::time::Duration;

/// Waits for three parcels at once, and for a receipt of each as it comes.
#[job(tenant = none)]
async fn handles_each(ctx: &Ctx) -> Result<u32, Failure> {
    let mut waits: FuturesUnordered<_> = (0..3)
        .map(|order| async move {
            let parcel: Result<Shipped, StepError> = wait_for!(ctx, "parcel", key = order).await;
            parcel
        })
        .collect();
    let mut sum = 0;
    while let Some(parcel) = waits.next().await {
        let parcel = parcel?.parcel;
        let receipt: Shipped = wait_for!(ctx, "receipt", key = format!("r{parcel}")).await?;
        sum += receipt.parcel;
    }
    Ok(sum)
}

#[tokio::test]
async fn waits_of_a_set_that_is_not_polled_do_not_hold_up_another_wait() {
    let (app, _) = harness!(handles_each);
    for order in 0..3 {
        Shipped { parcel: order }.publish(app.jobs(), order).await.expect("published");
        Shipped { parcel: 10 }.publish(app.jobs(), format!("r{order}")).await.expect("published");
    }
    let run = tokio::time::timeout(Duration::from_secs(5), app.run::<handles_each>(())).await.expect("it goes on");
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(app.output::<u32>(run.job).await, 30);
}
