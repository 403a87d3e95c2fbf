//! A body with steps can be called in a unit test, and a test can stand in for its steps.

use crate::log::{Log, harness, note};
use jobs::{Outcome, prelude::*};

#[derive(Debug, Serialize, Deserialize)]
struct Approved(bool);

impl Event for Approved {
    const NAME: &'static str = "steps.approved";
}

#[job(tenant = none, name = "steps.printer")]
async fn printer(_ctx: &Ctx, input: String) -> Result<usize, Failure> {
    Ok(input.len())
}

#[job(tenant = none)]
async fn asks(ctx: &Ctx, input: u32) -> Result<(u32, bool, usize), Failure> {
    let price = step!(ctx, "price", async {
        note(ctx, "asked the shop");
        Ok(input * 2)
    })
    .await?;
    sleep!(ctx, "nap", "30d").await;
    let approved: Option<Approved> = wait_for!(ctx, "approved", key = input, timeout = "1d").await?;
    let pages = spawn!(ctx, "print", printer, format!("{price}")).await?.join().await?;
    Ok((price, approved.is_some_and(|approved| approved.0), pages))
}

#[tokio::test]
async fn a_body_is_called_like_the_fn_that_it_is() {
    let (app, _) = harness!(asks, printer);
    let log = Log::default();
    let ctx = Ctx::for_test(app.jobs()).state(log.clone()).mock_step("print", 3).build();
    assert_eq!(asks(&ctx, 4).await.expect("it works"), (8, false, 3));
    assert_eq!(log.take(), ["asked the shop"]);
    assert!(app.jobs().list(Default::default()).await.expect("it answers").is_empty(), "nothing is written");
}

#[tokio::test]
async fn a_test_stands_in_for_steps_waits_and_children() {
    let (app, log) = harness!(asks, printer);
    let ctx = Ctx::for_test(app.jobs())
        .state(log.clone())
        .mock_step("price", 50)
        .mock_step("approved", Approved(true))
        .mock_step("print", 7)
        .build();
    assert_eq!(asks(&ctx, 4).await.expect("it works"), (50, true, 7));
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn a_harness_stands_in_for_steps_of_all_its_runs() {
    let (app, log) = harness!(asks, printer);
    let app = app.mock_step("price", 50).mock_step("approved", Approved(true));
    let run = app.run::<asks>(4).await;
    assert_eq!(run.outcome, Outcome::Parked);
    app.clock().advance("30d");
    app.drain().await;
    assert_eq!(app.output::<(u32, bool, usize)>(run.job).await, (50, true, 2));
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn a_child_that_nothing_stands_in_for_says_what_to_do() {
    let (app, log) = harness!(asks, printer);
    let ctx = Ctx::for_test(app.jobs()).state(log).build();
    let error = asks(&ctx, 4).await.expect_err("nobody runs it");
    assert!(error.to_string().contains("`mock_step`"), "{error}");
}
