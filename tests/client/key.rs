use crate::fixtures::{Anything, Invoice, Mail, Note, Once, SendMail, assert_empty, job, jobs};
use futures_util::future::BoxFuture;
use jobs::{
    Ctx, Enqueued, Failure, Job, Jobs, Registry, State, UniqueKey,
    spec::{Hold, JobSpec, OnConflict, Unique},
};
use serde_json::{Value, json};

#[tokio::test]
async fn a_blank_over_long_or_nul_key_is_refused() {
    let jobs = jobs();
    let long = "k".repeat(300);
    for (key, says) in [
        ("", "is blank"),
        (" \t\u{a0}", "is blank"),
        (long.as_str(), "is 300 bytes long, the limit is 200"),
        ("a\0b", "holds NUL"),
    ] {
        let refusal = jobs.enqueue::<Note>("x".to_owned()).unique(key).await.expect_err("it is refused");
        assert_eq!(
            refusal.to_string(),
            format!("the unique key of `note` {says}; fix: use 1 to 200 bytes of text (X_KEY_INVALID)")
        );
    }
    assert_empty(&jobs).await;
    for key in ["k", &"k".repeat(200), "€".repeat(66).as_str()] {
        jobs.enqueue::<Note>("x".to_owned()).unique(key).await.expect("1 to 200 bytes are allowed");
    }
}

#[tokio::test]
async fn a_taken_key_is_answered_with_the_job_that_holds_it() {
    let jobs = jobs();
    let first = jobs.enqueue::<Note>("a".to_owned()).unique("k").await.expect("it is free");
    let second = jobs.enqueue::<Note>("b".to_owned()).unique("k").await.expect("it is told");
    assert_eq!(second, Enqueued::Existing { id: first.id(), state: Some(State::Ready) });
}

#[tokio::test]
async fn a_key_belongs_to_job_and_tenant_and_kind() {
    let jobs = jobs();
    let is_new = |enqueued: Result<Enqueued, jobs::Error>| enqueued.expect("it is answered").is_inserted();
    assert!(is_new(jobs.enqueue::<SendMail>(Mail::to("acme")).unique("k").await));
    assert!(is_new(jobs.enqueue::<SendMail>(Mail::to("globex")).unique("k").await));
    assert!(is_new(jobs.enqueue::<Note>("x".to_owned()).unique("k").await));
    assert!(!is_new(jobs.enqueue::<SendMail>(Mail::to("acme")).unique("k").await));
    // The lengths are part of the hash: no tenant can end where another's key begins.
    assert!(is_new(jobs.enqueue::<SendMail>(Mail::to("a")).unique("bc").await));
    assert!(is_new(jobs.enqueue::<SendMail>(Mail::to("ab")).unique("c").await));
    // A text that looks like the JSON of a declared key is another key.
    assert!(is_new(jobs.enqueue::<Invoice>(Mail::to("acme")).await));
    assert!(!is_new(jobs.enqueue::<Invoice>(Mail::to("acme")).await));
    assert!(is_new(jobs.enqueue::<Invoice>(Mail::to("acme")).unique(r#"{"size":1}"#).await));
}

#[tokio::test]
async fn a_declared_key_of_the_whole_input_ignores_the_order_of_maps() {
    let jobs = jobs();
    jobs.enqueue::<Once>(json!({ "a": 1, "b": [1, { "c": 2, "d": 3 }] })).await.expect("it is free");
    let text = r#"{"b": [1, {"d": 3, "c": 2}], "a": 1}"#;
    let again = jobs.enqueue_dynamic("once", jobs::JsonText::parse(text).expect("it is JSON")).await;
    assert!(again.expect_err("it is rejected").is_duplicate());
    jobs.enqueue::<Once>(json!({ "a": 1, "b": [{ "c": 2, "d": 3 }, 1] }))
        .await
        .expect("another order of items differs");
}

#[tokio::test]
async fn how_a_key_excludes_is_the_declared_way_unless_the_call_says_otherwise() {
    let jobs = jobs();
    jobs.enqueue::<Once>(json!(1)).unique("k").await.expect("it is free");
    let rejected = jobs.enqueue::<Once>(json!(2)).unique("k").await.expect_err("the job declares `reject`");
    assert_eq!(rejected.code().name, "X_JOB_DUPLICATE");
    let how = Unique { hold: Hold::Live, on_conflict: OnConflict::Existing };
    let existing = jobs.enqueue::<Once>(json!(2)).unique_with("k", how).await.expect("the call says `existing`");
    assert!(!existing.is_inserted());
}

#[tokio::test]
async fn a_batch_takes_a_key_for_each_job_in_order() {
    let jobs = jobs();
    let notes = |count: usize| (0..count).map(|n| n.to_string());
    let answers = jobs.enqueue_many::<Note>(notes(4)).unique_each(["a", "b", "a", "c"]).await.expect("it is written");
    let inserted: Vec<bool> = answers.iter().map(Enqueued::is_inserted).collect();
    assert_eq!(inserted, [true, true, false, true]);
    assert_eq!(answers[2].id(), answers[0].id());

    for (keys, says) in [
        (vec!["d"], "there are 1 unique keys for 2 jobs"),
        (vec!["d", "e", "f"], "there are more than 2 unique keys for 2 jobs"),
    ] {
        let refusal = jobs.enqueue_many::<Note>(notes(2)).unique_each(keys).await.expect_err("it is refused");
        assert_eq!(
            refusal.to_string(),
            format!("{says}; fix: pass one key for each job, in input order (X_KEY_INVALID)")
        );
    }
    let refusal = jobs.enqueue_many::<Note>(notes(2)).unique_each(["d", " "]).await.expect_err("it is refused");
    assert_eq!(
        refusal.to_string(),
        "item 1: the unique key of `note` is blank; fix: use 1 to 200 bytes of text (X_KEY_INVALID)"
    );
}

job!(BadKey: Value, JobSpec::new("bad.key"), key = |_: &Value| UniqueKey::Json("{".to_owned()));

#[tokio::test]
async fn a_declared_key_that_is_not_json_is_refused() {
    let registry = Registry::builder().job::<BadKey>().job::<Anything>().build().expect("they agree");
    let jobs: Jobs = Jobs::builder().registry(registry).memory().expect("memory needs nothing");
    let refusal = jobs.enqueue::<BadKey>(json!(1)).await.expect_err("it is refused");
    assert!(refusal.to_string().starts_with("the unique key of `bad.key` is not JSON: "), "{refusal}");
}
