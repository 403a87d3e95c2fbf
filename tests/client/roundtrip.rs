use crate::fixtures::{job, jobs, stored};
use futures_util::future::BoxFuture;
use jobs::{Ctx, Failure, Job, spec::JobSpec};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Every {
    pub(crate) f: Vec<f64>,
    pub(crate) g: Vec<f32>,
    i: Vec<i64>,
    u: Vec<u64>,
    wide: (i128, u128),
    text: BTreeMap<String, Option<String>>,
    by_number: HashMap<i64, bool>,
    by_char: BTreeMap<char, u8>,
    by_unit: BTreeMap<Kind, ()>,
    kinds: Vec<Kind>,
    bytes: Vec<u8>,
    raw: jobs::JsonText,
    flat: Flat,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Flat {
    #[serde(flatten)]
    rest: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Kind {
    Unit,
    New(u64),
    Tuple(i8, char),
    Struct { a: Option<i64> },
}

job!(Keep: Every, JobSpec::new("keep"));

pub(crate) fn every() -> Every {
    Every {
        f: vec![
            -0.0,
            0.0,
            5e-324,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            0.001_128_500_793_129_205_7,
            1_673_626_980.005_889_2,
        ],
        g: vec![-0.0, f32::MAX, f32::MIN_POSITIVE, 1e-45, 0.1],
        i: vec![i64::MIN, i64::MAX, 130_775_545_883_395_173, (1 << 53) + 1],
        u: vec![u64::MAX, 1_970_670_598_291_982_291, 0],
        wide: (i128::from(i64::MIN), u128::from(u64::MAX)),
        text: [("".to_owned(), None), ("\u{1f}\"\\\u{7f}€🦀".to_owned(), Some("\u{fffd}\u{2028}".to_owned()))].into(),
        by_number: [(i64::MIN, true), (7, false)].into(),
        by_char: [('"', 1), ('🦀', 2)].into(),
        by_unit: [(Kind::Unit, ())].into(),
        kinds: vec![Kind::Unit, Kind::New(u64::MAX), Kind::Tuple(-1, '\n'), Kind::Struct { a: None }],
        bytes: vec![0, 255],
        raw: jobs::JsonText::parse(r#"{"b": 1.0, "a": [18446744073709551615, -0.0]}"#).expect("it is JSON"),
        flat: Flat { rest: [("x".to_owned(), 1e300)].into() },
    }
}

#[tokio::test]
async fn every_value_comes_back_as_it_was() {
    let jobs = jobs();
    let input = every();
    let record = stored(&jobs, jobs.enqueue::<Keep>(input.clone()).await.expect("all of it is storable")).await;
    let back: Every = record.payload.decode().expect("it reads back");
    assert_eq!(back, input);
    assert!(back.f[0].is_sign_negative() && back.g[0].is_sign_negative());
    assert!(record.payload.as_str().contains(r#"{"b": 1.0, "a": [18446744073709551615, -0.0]}"#), "raw text is kept");
}

#[tokio::test]
async fn the_text_is_the_one_that_serde_json_writes() {
    let jobs = jobs();
    let record = stored(&jobs, jobs.enqueue::<Keep>(every()).await.expect("all of it is storable")).await;
    let as_value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("it is JSON");
    let theirs = serde_json::to_string(&every()).expect("it encodes");
    assert_eq!(as_value(record.payload.as_str()), as_value(&theirs));
    assert_eq!(record.payload.as_str().len(), theirs.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn finite_numbers_and_texts_survive_exactly(
        f in prop::collection::vec(any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |f| f.is_finite()), 0..20),
        g in prop::collection::vec(any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |g| g.is_finite()), 0..20),
        i in prop::collection::vec(any::<i64>(), 0..10),
        u in prop::collection::vec(any::<u64>(), 0..10),
        text in prop::collection::btree_map("[^\0]{0,8}", prop::option::of("[^\0]{0,8}"), 0..8),
    ) {
        let input = Every { f, g, i, u, text, ..every() };
        let jobs = jobs();
        let record = futures_util::FutureExt::now_or_never(async {
            let enqueued = jobs.enqueue::<Keep>(input.clone()).await.expect("all of it is storable");
            stored(&jobs, enqueued).await
        }).expect("memory answers at once");
        let back: Every = record.payload.decode().expect("it reads back");
        let bits = |every: &Every| (every.f.iter().map(|f| f.to_bits()).collect::<Vec<_>>(), every.g.iter().map(|g| g.to_bits()).collect::<Vec<_>>());
        prop_assert_eq!(bits(&back), bits(&input));
        prop_assert_eq!(back, input);
    }
}
