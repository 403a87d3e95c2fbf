//! What differs on Postgres: the caller's transaction is one of sqlx's.

use crate::{
    fixtures::{Mail, Note, SendMail, registry},
    roundtrip::{Every, Keep, every},
    support::Db,
};
use jobs::{
    Enqueued, Jobs,
    driver::{Memory, pg::Pg},
};
use std::sync::Arc;

async fn jobs(db: &Db) -> (Jobs, sqlx::PgPool) {
    let pool = db.pool(2).await;
    let driver = Pg::new(pool.clone()).expect("the driver takes a pool");
    (Jobs::new(Arc::new(driver), registry()), pool)
}

async fn count(jobs: &Jobs) -> usize {
    jobs.list(Default::default()).await.expect("the database answers").len()
}

#[tokio::test]
async fn an_enqueue_joins_the_callers_transaction() {
    let db = Db::new();
    let (jobs, pool) = jobs(&db).await;

    let mut tx = pool.begin().await.expect("a transaction begins");
    let lost = jobs.enqueue::<Note>("a".to_owned()).unique("k").in_tx(&mut tx).await.expect("it joins");
    assert_eq!(count(&jobs).await, 0, "nobody else sees it yet");
    tx.rollback().await.expect("it rolls back");
    assert_eq!(count(&jobs).await, 0);

    let mut tx = pool.begin().await.expect("a transaction begins");
    let kept = jobs.enqueue::<Note>("a".to_owned()).unique("k").in_tx(&mut *tx).await.expect("a connection joins, too");
    let batch = [Mail::to("acme"), Mail::to("globex")];
    jobs.enqueue_many::<SendMail>(batch).in_tx(&mut tx).await.expect("it joins");
    tx.commit().await.expect("it commits");
    assert!(kept.is_inserted() && kept.id() != lost.id(), "the key of the rolled back job was free");
    assert_eq!(count(&jobs).await, 3);
}

#[tokio::test]
async fn a_transaction_of_another_store_is_refused() {
    let db = Db::new();
    let (jobs, _) = jobs(&db).await;
    let mut foreign = Memory::new().begin();
    let refusal = jobs.enqueue::<Note>("a".to_owned()).in_tx(&mut foreign).await.expect_err("it is refused");
    assert_eq!(refusal.code().name, "X_TRANSACTION_FOREIGN");
    assert_eq!(count(&jobs).await, 0);
}

#[tokio::test]
async fn every_value_comes_back_as_it_was() {
    let db = Db::new();
    let (jobs, _) = jobs(&db).await;
    let mut random = fastrand_like(7);
    let floats = std::iter::repeat_with(|| f64::from_bits(random())).filter(|f| f.is_finite());
    let mut input = every();
    input.f = floats.take(20_000).collect();
    let inputs = [every(), input];
    let answers = jobs.enqueue_many::<Keep>(inputs.clone()).await.expect("all of it is storable");
    for (input, answer) in inputs.iter().zip(&answers) {
        let record = jobs.find(answer.id()).await.expect("it is stored");
        let back: Every = record.payload.decode().expect("it reads back");
        assert!(back.f.iter().map(|f| f.to_bits()).eq(input.f.iter().map(|f| f.to_bits())));
        assert_eq!(&back, input);
    }
    let record = jobs.find(answers[0].id()).await.expect("it is stored");
    assert!(record.payload.as_str().contains(r#"{"b": 1.0, "a": [18446744073709551615, -0.0]}"#), "the text is kept");
}

/// A sequence of bits that is the same in every run (xorshift64*, S. Vigna, 2016).
fn fastrand_like(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

#[tokio::test]
async fn a_full_batch_keeps_its_order_and_its_duplicates() {
    let db = Db::new();
    let (jobs, _) = jobs(&db).await;
    let keys = (0..10_000).map(|n| format!("k{}", n % 9_000));
    let notes = (0..10_000).map(|n| n.to_string());
    let answers = jobs.enqueue_many::<Note>(notes).unique_each(keys).await.expect("it is written");
    assert_eq!(answers.iter().filter(|answer| answer.is_inserted()).count(), 9_000);
    for n in 9_000..10_000 {
        assert_eq!(answers[n].id(), answers[n - 9_000].id());
    }
    let record = jobs.find(answers.last().map(Enqueued::id).expect("there are some")).await.expect("it is stored");
    assert_eq!(record.payload.as_str(), "\"999\"");
}

#[tokio::test]
async fn a_key_that_is_taken_by_the_sql_function_is_the_one_that_rust_takes() {
    let db = Db::new();
    let (jobs, pool) = jobs(&db).await;
    let by_sql = |kind: &'static str, tenant: Option<&'static str>, payload: serde_json::Value| {
        let call =
            "SELECT jobs.enqueue(kind => $1, payload => $2::json, queue => 'q', tenant => $3, unique_key => 'k€')";
        sqlx::query_scalar::<_, uuid::Uuid>(call).bind(kind).bind(payload).bind(tenant).fetch_one(&pool)
    };
    let first = by_sql("note", None, "a".into()).await.expect("SQL enqueues");
    let again = jobs.enqueue::<Note>("b".to_owned()).unique("k€").await.expect("it is told");
    assert_eq!((again.is_inserted(), again.id().0), (false, first));

    let first = jobs.enqueue::<SendMail>(Mail::to("acme")).unique("k€").await.expect("it is free");
    let mail = serde_json::json!({ "org": "acme", "to": [], "size": 1 });
    let again = by_sql("mail.send", Some("acme"), mail).await.expect("SQL is told");
    assert_eq!(again, first.id().0);
}

#[tokio::test]
async fn a_refused_connection_says_why_and_what_to_do() {
    let db = Db::new();
    let (before, _) = db.url().rsplit_once('/').expect("a URL has a path");
    let (scheme, host) =
        before.split_once("//").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1))).unwrap();
    for (url, says, code) in [
        (String::new(), "it is empty; fix: write one such as `postgres://", "X_STORE_CONFIG_INVALID"),
        ("localhost".to_owned(), "it does not begin with `postgres://`", "X_STORE_CONFIG_INVALID"),
        ("mysql://a:s3cret@b/c".to_owned(), "it does not begin with `postgres://`", "X_STORE_CONFIG_INVALID"),
        ("postgres://a:s3cret@b:port/c".to_owned(), "invalid port number", "X_STORE_CONFIG_INVALID"),
        (format!("{before}/nowhere"), "`nowhere`", "X_STORE_FAILED"),
        (format!("{scheme}//nobody:s3cret@{host}/shop"), "fix: correct user and password", "X_STORE_UNAVAILABLE"),
    ] {
        let refusal = Jobs::connect(&url).await.expect_err("it cannot be connected to");
        let said = refusal.to_string().replace('"', "`");
        assert_eq!(refusal.code().name, code, "{said}");
        assert!(said.contains(says), "{said}");
        assert!(!format!("{refusal:?}").contains("s3cret"), "{refusal:?}");
    }
}
