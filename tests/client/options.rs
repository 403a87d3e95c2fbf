use crate::fixtures::{Mail, Note, SendMail, assert_empty, jobs, stored};
use jobs::{
    State,
    backoff::Backoff,
    chrono::{DateTime, TimeDelta, Utc},
    enqueue::Enqueue,
};
use serde_json::json;
use std::time::Duration;

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Refines a note and says why it was refused.
async fn refusal(refine: impl for<'a> FnOnce(Enqueue<'a>) -> Enqueue<'a>) -> String {
    let jobs = jobs();
    let refusal = refine(jobs.enqueue::<Note>("x".to_owned())).await.expect_err("it is refused");
    assert!(refusal.is_refused() && refusal.index().is_none());
    assert_empty(&jobs).await;
    refusal.to_string()
}

#[tokio::test]
async fn what_the_caller_says_stands_on_the_row() {
    let jobs = jobs();
    let soon = Utc::now() + TimeDelta::hours(1);
    let enqueued = jobs
        .enqueue::<SendMail>(Mail::to("acme"))
        .at(soon)
        .priority(-3)
        .queue("mail.bulk")
        .tenant("acme")
        .max_attempts(2)
        .backoff(Backoff::fixed("1s"))
        .timeout("30s")
        .expires_after(Duration::from_secs(60))
        .metadata(&json!({ "z": u64::MAX, "a": -0.0 }))
        .tag("newsletter")
        .tag("weekly")
        .enqueued_by("user:7")
        .trace(TRACE)
        .await
        .expect("all of it is allowed");
    let record = stored(&jobs, enqueued).await;
    assert_eq!(record.state, State::Delayed);
    assert_eq!(record.due_at, Some(soon));
    assert_eq!((record.priority, record.queue.as_str()), (-3, "mail.bulk"));
    assert_eq!(record.tenant.as_deref(), Some("acme"));
    let metadata = record.metadata.expect("it was given");
    assert_eq!(metadata.as_str(), r#"{"a":-0.0,"tags":["newsletter","weekly"],"z":18446744073709551615}"#);
    assert_eq!(record.enqueued_by.as_deref(), Some("user:7"));
    assert_eq!(record.trace.as_deref(), Some(TRACE));
}

#[tokio::test]
async fn odd_queue_names_are_refused() {
    let long = "q".repeat(101);
    for (queue, shown, says) in [
        ("", "", "a name is empty: use 1 to 100 of the characters a-z, 0-9, `_`, `.`, `-`"),
        ("Mail", "Mail", "a name holds a character other than a-z, 0-9, `_`, `.`, `-`"),
        ("a b", "a b", "a name holds a character other than a-z, 0-9, `_`, `.`, `-`"),
        ("a\0\n", r"a\0\n", "a name holds a character other than a-z, 0-9, `_`, `.`, `-`"),
        (&long, &long[..100], "a name is longer than 100 bytes, the limit"),
    ] {
        assert_eq!(
            refusal(|note| note.queue(queue)).await,
            format!("the queue `{shown}` is not a queue's name: {says}; fix: rename the queue (X_QUEUE_NAME_INVALID)")
        );
    }
}

#[tokio::test]
async fn times_outside_their_limits_are_refused() {
    let days = |days: i64| Utc::now() + TimeDelta::days(days);
    for (said, expected) in [
        (
            refusal(|note| note.delay("36501d")).await,
            "`delay` of \"36501d\" is refused: a duration is longer than 36500d, the limit",
        ),
        (
            refusal(|note| note.delay(Duration::from_secs(u64::MAX))).await,
            "`delay` of 18446744073709551615s is refused: a duration is longer than 36500d, the limit",
        ),
        (
            refusal(|note| note.delay("5 minutes")).await,
            "`delay` of \"5 minutes\" is refused: a duration part must end in one of the units d, h, m, s, ms: write one such \
             as \"30s\" or \"1h30m\"",
        ),
        (refusal(|note| note.timeout(Duration::ZERO)).await, "`timeout` is zero; it must be longer"),
        (refusal(|note| note.expires_after("0s")).await, "`expires_after` is zero; it must be longer"),
    ] {
        assert_eq!(said, format!("{expected}; fix: use a duration of at most 36500 days (X_TIME_INVALID)"));
    }
    for time in [days(36_501), DateTime::<Utc>::MAX_UTC, DateTime::<Utc>::MIN_UTC] {
        let said = refusal(|note| note.at(time)).await;
        assert!(said.contains(" lies outside 1970 to 36500 days from now"), "{said}");
    }
    let jobs = jobs();
    jobs.enqueue::<Note>("x".to_owned()).delay("36500d").await.expect("the longest delay is allowed");
    let past = jobs.enqueue::<Note>("x".to_owned()).at(days(-1)).await.expect("a time that has passed is allowed");
    assert_eq!(stored(&jobs, past).await.state, State::Ready);
}

#[tokio::test]
async fn overrides_outside_their_limits_are_refused() {
    let second = Duration::from_secs(1);
    let backoff = |base, max| Backoff { base, max, ..Backoff::fixed("1s") };
    for (said, expected) in [
        (
            refusal(|note| note.max_attempts(0)).await,
            "`max_attempts` is 0; the first run counts, so it must be at least 1",
        ),
        (refusal(|note| note.max_attempts(u32::MAX)).await, "`max_attempts` is 4294967295, the limit is 2147483647"),
        (
            refusal(|note| note.backoff(backoff(Duration::ZERO, second))).await,
            "`backoff` has a base of zero; it must be longer",
        ),
        (
            refusal(|note| note.backoff(backoff(second * 2, second))).await,
            "`backoff` has a max that is shorter than its base",
        ),
        (
            refusal(|note| note.backoff(backoff(second, Duration::MAX))).await,
            "`backoff` has a max longer than 36500d, the limit",
        ),
    ] {
        assert_eq!(said, format!("{expected}; fix: correct the value that the message names (X_OVERRIDE_INVALID)"));
    }
}

#[tokio::test]
async fn metadata_and_tags_outside_their_limits_are_refused() {
    let fix = "fix: use strings and finite numbers, at most 16 KiB in all (X_METADATA_INVALID)";
    let text = |bytes: usize| json!({ "t": "a".repeat(bytes - 8) });
    assert_eq!(
        refusal(|note| note.metadata(&text((16 << 10) + 1))).await,
        format!("the metadata is 16385 bytes of JSON, the limit is 16384; {fix}")
    );
    assert_eq!(refusal(|note| note.metadata(&[1])).await, format!("the metadata is not a JSON object; {fix}"));
    assert_eq!(
        refusal(|note| note.metadata(&json!({ "a": ["\0"] }))).await,
        format!("the metadata holds NUL in a string at `a[0]`; {fix}")
    );
    assert_eq!(
        refusal(|note| note.metadata(&json!({ "tags": 1 })).tag("x")).await,
        format!("the metadata has a key `tags`, which `.tag(..)` writes; {fix}")
    );
    let fix = "fix: use at most 32 tags of 1 to 100 bytes (X_TAG_INVALID)";
    assert_eq!(refusal(|note| note.tag(" ")).await, format!("a tag is blank; {fix}"));
    assert_eq!(refusal(|note| note.tag("a\0")).await, format!("a tag holds NUL; {fix}"));
    assert_eq!(
        refusal(|note| note.tag("t".repeat(101))).await,
        format!("a tag is 101 bytes long, the limit is 100; {fix}")
    );
    assert_eq!(
        refusal(|note| (0..33).fold(note, |note, n| note.tag(n.to_string()))).await,
        format!("a job has 33 tags, the limit is 32; {fix}")
    );
    let jobs = jobs();
    jobs.enqueue::<Note>("x".to_owned()).metadata(&text(16 << 10)).await.expect("16 KiB are allowed");
}

#[tokio::test]
async fn actors_and_traces_outside_their_limits_are_refused() {
    let fix = "fix: use 1 to 200 bytes of text (X_ACTOR_INVALID)";
    for (actor, says) in
        [("", "is blank"), ("a\0", "holds NUL"), (&"a".repeat(201), "is 201 bytes long, the limit is 200")]
    {
        assert_eq!(refusal(|note| note.enqueued_by(actor)).await, format!("the text of `enqueued_by` {says}; {fix}"));
    }
    for trace in [
        "",
        "00",
        &TRACE.to_uppercase(),
        &TRACE.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
        &"a".repeat(9_000),
    ] {
        assert!(refusal(|note| note.trace(trace)).await.contains("X_TRACE_INVALID"));
    }
}

#[tokio::test]
async fn the_ambient_trace_is_recorded_and_a_malformed_one_left_out() {
    for (current, recorded) in [
        ((|| Some(TRACE.to_owned())) as fn() -> Option<String>, Some(TRACE)),
        (|| Some("not a trace".to_owned()), None),
        (|| None, None),
    ] {
        let jobs = jobs::Jobs::builder().registry(Default::default()).trace_context(current).memory();
        let jobs = jobs.expect("memory needs nothing");
        let record = stored(&jobs, jobs.enqueue::<Note>("x".to_owned()).await.expect("it is written")).await;
        assert_eq!(record.trace.as_deref(), recorded);
    }
}

#[tokio::test]
async fn a_tenant_that_the_input_does_not_resolve_to_is_refused_without_naming_either() {
    let jobs = jobs();
    let fix = "fix: enqueue it again for the right tenant (X_JOB_TENANT_MISMATCH)";
    let other = jobs.enqueue::<SendMail>(Mail::to("acme")).tenant("globex").await.expect_err("it is refused");
    assert_eq!(
        other.to_string(),
        format!("job `mail.send` is queued for one tenant and its input resolves to another; {fix}")
    );
    let none = jobs.enqueue::<Note>("x".to_owned()).tenant("acme").await.expect_err("it is refused");
    assert_eq!(none.to_string(), format!("job `note` is queued for a tenant and declares `tenant = none`; {fix}"));
    let batch = [Mail::to("acme"), Mail::to("globex")];
    let second = jobs.enqueue_many::<SendMail>(batch).tenant("acme").await.expect_err("it is refused");
    assert_eq!(second.index(), Some(1));
    assert_empty(&jobs).await;
}

#[tokio::test]
async fn a_blank_over_long_or_nul_tenant_is_refused() {
    let jobs = jobs();
    for (tenant, says) in
        [("", "is blank"), ("  ", "is blank"), (&"t".repeat(129), "is 129 bytes long, the limit is 128")]
    {
        let refusal = jobs.enqueue::<SendMail>(Mail::to(tenant)).await.expect_err("it is refused");
        assert_eq!(
            refusal.to_string(),
            format!("the tenant of `mail.send` {says}; fix: use 1 to 128 bytes of text (X_TENANT_INVALID)")
        );
    }
    let stated = jobs.enqueue::<SendMail>(Mail::to("acme")).tenant("a\0").await.expect_err("it is refused");
    assert_eq!(stated.detail(), "the tenant of `mail.send` holds NUL");
    jobs.enqueue::<SendMail>(Mail::to(&"t".repeat(128))).await.expect("128 bytes are allowed");
}

#[tokio::test]
async fn the_first_refusal_stands() {
    let said = refusal(|note| note.queue("Bad").delay("never").unique("")).await;
    assert!(said.contains("X_QUEUE_NAME_INVALID"), "{said}");
}
