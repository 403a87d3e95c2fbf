use crate::fixtures::{assert_empty, jobs, stored};
use jobs::JsonText;
use serde_json::{Value, json};

async fn refusal(name: &str, input: Value) -> String {
    let jobs = jobs();
    let refusal = jobs.enqueue_dynamic(name, input).await.expect_err("it is refused");
    assert_empty(&jobs).await;
    refusal.to_string()
}

#[tokio::test]
async fn a_job_is_enqueued_by_its_name_or_alias_with_tenant_and_key_resolved() {
    let jobs = jobs();
    for name in ["mail.send", "send_mail"] {
        let input = json!({ "org": "acme", "to": [], "size": u64::MAX, "unknown": true });
        let record = stored(&jobs, jobs.enqueue_dynamic(name, input).priority(5).await.expect("it decodes")).await;
        assert_eq!(record.kind, "mail.send");
        assert_eq!((record.queue.as_str(), record.priority), ("mail", 5));
        assert_eq!(record.tenant.as_deref(), Some("acme"));
        assert_eq!(record.payload.as_str(), r#"{"org":"acme","to":[],"size":18446744073709551615}"#);
    }
    let invoice = json!({ "org": "acme", "to": [], "size": 7 });
    let first = jobs.enqueue_dynamic("invoice", invoice.clone()).await.expect("it decodes");
    assert_eq!(jobs.enqueue_dynamic("invoice", invoice).await.expect("it decodes").id(), first.id());
}

#[tokio::test]
async fn an_unknown_job_is_refused() {
    assert_eq!(
        refusal("mail.sned\n", json!({})).await,
        r"no job `mail.sned\n` is registered in this process; fix: register it, or link its crate with `use the_crate as _;` (X_JOB_UNKNOWN)"
    );
}

#[tokio::test]
async fn an_input_that_does_not_decode_is_refused_with_the_path_of_the_fault() {
    for (input, at) in [
        (
            json!({ "org": "acme", "to": ["a", 7], "size": 1 }),
            " at `to[1]`: invalid type: integer `7`, expected a string",
        ),
        (json!({ "org": "acme", "to": [], "size": -1 }), " at `size`: invalid value: integer `-1`, expected u64"),
        (json!({ "org": "acme", "to": [] }), ": missing field `size`"),
        (json!([]), ": invalid length 0, expected struct Mail with 3 elements"),
    ] {
        let said = refusal("mail.send", input).await;
        assert!(said.starts_with(&format!("the payload of `mail.send` does not decode{at}")), "{said}");
        assert!(said.ends_with("(X_PAYLOAD_UNREADABLE)"), "{said}");
    }
}

#[tokio::test]
async fn a_hostile_input_meets_the_same_refusals_as_a_typed_one() {
    let nul = json!({ "org": "acme", "to": ["\0"], "size": 1 });
    assert!(refusal("mail.send", nul).await.contains("holds NUL in a string at `to[0]`"));
    let blank = json!({ "org": " ", "to": [], "size": 1 });
    assert!(refusal("mail.send", blank).await.contains("the tenant of `mail.send` is blank"));
    let jobs = jobs();
    let deep = "[".repeat(100_000);
    assert!(JsonText::parse(deep).is_err());
    let trusted = jobs.enqueue_dynamic("anything", JsonText::trusted("1e999")).await.expect_err("it is refused");
    assert_eq!(trusted.code().name, "X_PAYLOAD_UNREADABLE");
}
