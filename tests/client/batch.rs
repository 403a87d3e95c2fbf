use crate::fixtures::{Mail, Note, SendMail, assert_empty, jobs};
use jobs::driver::Memory;

#[tokio::test]
async fn an_empty_batch_is_answered_at_once() {
    assert!(jobs().enqueue_many::<Note>([]).await.expect("nothing to do").is_empty());
}

#[tokio::test]
async fn answers_stand_in_input_order() {
    let jobs = jobs();
    let answers = jobs.enqueue_many::<Note>((0..100).map(|n| n.to_string())).await.expect("it is written");
    for (n, answer) in answers.into_iter().enumerate() {
        let record = jobs.find(answer.id()).await.expect("it is stored");
        assert_eq!(record.payload.as_str(), format!("\"{n}\""));
    }
}

#[tokio::test]
async fn the_hundred_thousandth_job_is_written_and_one_more_is_refused() {
    let jobs = jobs();
    let refusal = jobs.enqueue_many::<Note>(std::iter::repeat(String::new())).await.expect_err("it has no end");
    assert_eq!(
        refusal.to_string(),
        "a batch holds more than 100000 jobs, the limit; fix: split it (X_BATCH_TOO_LARGE)"
    );
    assert_empty(&jobs).await;
    let full = jobs.enqueue_many::<Note>(std::iter::repeat_n(String::new(), 100_000)).await.expect("it is allowed");
    assert_eq!(full.len(), 100_000);
}

#[tokio::test]
async fn the_refused_item_is_named_and_nothing_is_written() {
    let jobs = jobs();
    let bad = Mail { to: vec!["a".to_owned(), "b\0".to_owned()], ..Mail::to("acme") };
    let batch = [Mail::to("acme"), bad, Mail::to("acme")];
    let refusal = jobs.enqueue_many::<SendMail>(batch).await.expect_err("it is refused");
    assert_eq!(refusal.index(), Some(1));
    assert!(
        refusal.to_string().starts_with("item 1: the payload of `mail.send` holds NUL in a string at `to[1]`;"),
        "{refusal}"
    );

    let large = ["a".to_owned(), "b".repeat(1 << 20)];
    let refusal = jobs.enqueue_many::<Note>(large).await.expect_err("it is refused");
    assert!(refusal.to_string().starts_with("item 1: the payload of `note` is 1048578 bytes of JSON"), "{refusal}");
    assert_empty(&jobs).await;
}

#[tokio::test]
async fn a_rolled_back_transaction_leaves_nothing_and_a_committed_one_all() {
    let jobs = jobs();
    let memory = jobs.driver().as_any().downcast_ref::<Memory>().expect("these jobs are in memory");

    let mut tx = memory.begin();
    jobs.enqueue::<Note>("a".to_owned()).in_tx(&mut tx).await.expect("it joins");
    drop(tx);
    assert_empty(&jobs).await;

    let mut tx = memory.begin();
    jobs.enqueue::<Note>("a".to_owned()).in_tx(&mut tx).delay("1h").await.expect("it joins");
    jobs.enqueue_many::<Note>(["b".to_owned()]).in_tx(&mut tx).await.expect("it joins");
    assert_empty(&jobs).await;
    tx.commit();
    assert_eq!(jobs.list(Default::default()).await.expect("memory answers").len(), 2);
}
