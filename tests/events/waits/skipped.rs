//! Events that a wait cannot take: what does not decode, and what says that it is another tenant's.

use super::{Happened, Key, is, key, output, wait_once, wait_twice, worker};
use crate::fixtures::{on_both, settled};
use jobs::{prelude::*, testing::Harness};
use serde_json::json;

/// Somebody has paid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[event(name = "thing.paid", tenant = self.org)]
struct Paid {
    org: String,
    cents: u64,
}

/// Waits for a payment.
#[job(queue = "waits", tenant = input.org)]
async fn wait_paid(ctx: &Ctx, input: Key) -> Result<u64, Failure> {
    let paid: Paid = wait_for!(ctx, "paid", key = input.key).await?;
    Ok(paid.cents)
}

/// Waits for one event, for an hour at most.
#[job(queue = "waits", tenant = input.org)]
async fn wait_an_hour(ctx: &Ctx, input: Key) -> Result<Option<String>, Failure> {
    let happened: Option<Happened> = wait_for!(ctx, "first", key = input.key, timeout = "1h").await?;
    Ok(happened.map(|happened| happened.0))
}

fn harness<J: Job>() -> Harness {
    Harness::with(Registry::builder().job::<J>().build().unwrap())
}

#[tokio::test]
async fn an_event_that_does_not_decode_is_skipped_and_the_next_one_is_taken() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let worker = worker(&jobs).await;
        let parked = wait_twice::enqueue(&jobs, key("a")).await.unwrap().id();
        is(&jobs, parked, State::Suspended).await;
        for payload in [json!({"not": "text"}), json!("one"), json!(7), json!("two")] {
            jobs.publish_dynamic("thing.happened", "a", payload).await.unwrap();
        }
        let both = ("one".to_owned(), "two".to_owned());
        assert_eq!(output::<(String, String)>(&settled(&jobs, parked).await), both);
        let late = wait_once::enqueue(&jobs, key("a")).await.unwrap().id();
        assert_eq!(output::<String>(&settled(&jobs, late).await), "one", "they were there before it");
        worker.drain().await;
    }
}

#[tokio::test]
async fn an_event_that_was_skipped_does_not_wake_the_run_again_and_its_timeout_holds() {
    let app = harness::<wait_an_hour>();
    let job = app.run::<wait_an_hour>(key("a")).await.job;
    app.jobs().publish_dynamic("thing.happened", "a", json!({"not": "text"})).await.unwrap();
    assert_eq!(app.drain().await.len(), 1, "it looks at the event once");
    assert_eq!(app.drain().await.len(), 0, "and not again");
    let record = app.find(job).await;
    assert_eq!((record.state, record.parked), (State::Suspended, None));
    app.clock().advance("1h");
    app.drain().await;
    assert_eq!(output::<Option<String>>(&app.find(job).await), None);
}

#[tokio::test]
async fn an_event_whose_payload_is_another_tenants_is_skipped_whatever_tenant_it_was_published_for() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let worker = worker(&jobs).await;
        let job = wait_paid::enqueue(&jobs, key("a")).await.unwrap().id();
        is(&jobs, job, State::Suspended).await;
        let publish =
            |org: &str, cents: u64| jobs.publish_dynamic("thing.paid", "a", json!({"org": org, "cents": cents}));
        publish("globex", 1).await.unwrap();
        publish("globex", 2).tenant("acme").await.unwrap();
        publish("acme", 3).await.unwrap();
        assert_eq!(output::<u64>(&settled(&jobs, job).await), 3);
        worker.drain().await;
    }
}
