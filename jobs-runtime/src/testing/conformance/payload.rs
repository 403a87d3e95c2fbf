//! Payloads: the bytes that went in come out, at each attempt and in each state.

use super::{Fixture, HandWorker, hand::finish, job};
use crate::{
    driver::{Change, Finish, NewJob, Written},
    json::JsonText,
    state::State,
};
use std::time::Duration;

/// Documents that a store which decodes and encodes would change.
const DOCUMENTS: &[&str] = &[
    r#"{"z":1,"a":2,"z2":{"b":1,"a":2}}"#,
    r#"[9223372036854775807,-9223372036854775808,18446744073709551615,9007199254740993]"#,
    r#"[0.0011285007931292057,1673626980.0058892,2.2250738585072014e-308,5e-324,1.7976931348623157e308]"#,
    r#"[-0.0,0.1,1e2,1E+2,1.10]"#,
    r#"{"id":1970670598291982291}"#,
    r#"  { "spaced" :  [ 1 , 2 ]  }  "#,
    r#"{"same":1,"same":2}"#,
    r#"["\u00e4\ud83e\udd80","ä🦀","\/","\"\\"]"#,
    r#"{"":"","\t":"\u001b[31m","'; DROP TABLE jobs; --":null}"#,
    r#"null"#,
    r#""text""#,
    r#"{}"#,
];

async fn is_unchanged(store: &dyn Fixture, new: &NewJob) {
    let record = store.record(new.id).await;
    assert_eq!(record.payload.as_str(), new.payload.as_str(), "as {}", record.state);
}

/// The text of a payload is the same in the queue, at each attempt, when dead, requeued, and completed.
pub async fn a_payload_is_kept_byte_for_byte(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for document in DOCUMENTS {
        let new = NewJob { payload: JsonText::trusted(*document), ..job() };
        store.insert(new.clone()).await;
        is_unchanged(store, &new).await;
        let claimed = worker.claim_one().await;
        assert_eq!(claimed.payload.as_str(), *document);
        is_unchanged(store, &new).await;
        worker.retry(&claimed, Duration::from_secs(1)).await;
        is_unchanged(store, &new).await;
        store.advance_secs(2).await;
        worker.renew().await.expect("renewed");
        store.promote().await;
        let claimed = worker.claim_one().await;
        assert_eq!(claimed.payload.as_str(), *document);
        worker.finish(&claimed, State::Dead).await;
        is_unchanged(store, &new).await;
        store.driver().requeue(new.id).await.expect("a dead job is requeued");
        let claimed = worker.claim_one().await;
        assert_eq!(claimed.payload.as_str(), *document);
        worker.finish(&claimed, State::Completed).await;
        is_unchanged(store, &new).await;
    }
}

/// Outputs, metadata and the payloads of follow-ups are kept as exactly.
pub async fn outputs_metadata_and_follow_ups_are_kept_byte_for_byte(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    for document in DOCUMENTS {
        let text = JsonText::trusted(*document);
        let metadata = Some(JsonText::trusted(format!("{{\"z\":{document},\"a\":1}}")));
        let id = store.insert(NewJob { metadata: metadata.clone(), ..job() }).await;
        let claimed = worker.claim_one().await;
        assert_eq!(claimed.metadata, metadata);
        let next = NewJob { payload: text.clone(), ..job() };
        let end =
            Finish { output: Some(text.clone()), follow_up: Some(Box::new(next.clone())), ..finish(State::Completed) };
        assert!(matches!(worker.write(&claimed, Change::Finish(end)).await, Written::Landed), "{document}");
        let record = store.record(id).await;
        assert_eq!((record.output, record.metadata), (Some(text), metadata));
        is_unchanged(store, &next).await;
        worker.finish(&worker.claim_one().await, State::Completed).await;
    }
}

/// A payload of a mebibyte is kept, alone and in a batch.
pub async fn a_payload_of_a_mebibyte_is_kept(store: &dyn Fixture) {
    let worker = HandWorker::start(store.driver()).await;
    let large = |letter: &str| JsonText::trusted(format!("\"{}\"", letter.repeat((1 << 20) - 2)));
    let jobs = ["x", "\\\\", "y"].map(|letter| NewJob { payload: large(letter), ..job() });
    store.enqueue(&jobs).await;
    let claimed = worker.claim(3).await;
    for (claimed, new) in claimed.iter().zip(&jobs) {
        assert!(claimed.payload == new.payload);
    }
}

/// Strings with an escaped NUL are an enqueue's to refuse; a store that gets one keeps it or refuses it, and stays up.
pub async fn an_escaped_nul_is_kept_or_refused(store: &dyn Fixture) {
    let new = NewJob { payload: JsonText::trusted(r#"{"t":"a\u0000b"}"#), ..job() };
    match store.driver().enqueue(std::slice::from_ref(&new), None).await {
        Ok(_) => is_unchanged(store, &new).await,
        Err(_) => assert!(store.find(new.id).await.is_none()),
    }
    store.insert(job()).await;
}

/// Random numbers, any integer of 64 bits and any finite float, come back bit for bit.
pub async fn random_numbers_come_back_bit_for_bit(store: &dyn Fixture) {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let worker = HandWorker::start(store.driver()).await;
    for _ in 0..10 {
        let floats: Vec<f64> =
            (0..4_000).map(|_| f64::from_bits(random.u64(..))).filter(|float| float.is_finite()).collect();
        let integers: Vec<(i64, u64)> = (0..4_000).map(|_| (random.i64(..), random.u64(..))).collect();
        let text = serde_json::to_string(&(&floats, &integers)).expect("finite numbers are JSON");
        store.insert(NewJob { payload: JsonText::trusted(text), ..job() }).await;
        let claimed = worker.claim_one().await;
        let (floats_back, integers_back): (Vec<f64>, Vec<(i64, u64)>) = claimed.payload.decode().expect("it decodes");
        let bits = |floats: &[f64]| floats.iter().map(|float| float.to_bits()).collect::<Vec<_>>();
        assert!(bits(&floats) == bits(&floats_back) && integers == integers_back, "not the same, seed {seed}");
        worker.finish(&claimed, State::Completed).await;
    }
}
