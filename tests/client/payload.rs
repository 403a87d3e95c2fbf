use crate::fixtures::{Anything, Note, assert_empty, job, jobs, stored};
use futures_util::future::BoxFuture;
use jobs::{Ctx, Failure, Job, Jobs, Registry, spec::JobSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    points: Vec<Point>,
    labels: BTreeMap<String, f32>,
    wide: i128,
    pair: (u128, Option<char>),
    shape: Shape,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Point {
    x: f64,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) enum Shape {
    #[default]
    None,
    Line(f64),
    Box {
        w: f64,
    },
    Tuple(u8, f64),
}

job!(Measure: Measured, JobSpec::new("measure"));
job!(ByKey: Vec<(BTreeMap<Key, u8>,)>, JobSpec::new("by.key"));

/// A key of a map that writes itself as what it is told.
#[derive(PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) enum Key {
    Float,
    Sequence,
    Nul,
}

impl Serialize for Key {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Float => serializer.serialize_f64(1.5),
            Self::Sequence => [1, 2].serialize(serializer),
            Self::Nul => serializer.serialize_str("a\0b"),
        }
    }
}

async fn refusal<J: Job>(jobs: &Jobs, input: J::Input) -> String {
    let refusal = jobs.enqueue::<J>(input).await.expect_err("it is refused");
    assert!(refusal.is_refused() && refusal.index().is_none());
    refusal.to_string()
}

#[tokio::test]
async fn what_cannot_be_stored_exactly_is_refused_with_its_path() {
    let jobs = jobs();
    let point = |x| Measured { points: vec![Point { x: 1.0 }, Point { x }], ..Measured::default() };
    let wide = |wide| Measured { wide, ..Measured::default() };
    let label = |label: &str, value| Measured { labels: [(label.to_owned(), value)].into(), ..Measured::default() };
    let shape = |shape| Measured { shape, ..Measured::default() };
    for (input, holds) in [
        (point(f64::NAN), "a number that is not finite at `points[1].x`"),
        (point(f64::INFINITY), "a number that is not finite at `points[1].x`"),
        (label("a b\n", f32::NEG_INFINITY), r"a number that is not finite at `labels.a b\n`"),
        (label("a\0", 1.0), "NUL in a map key at `labels`"),
        (wide(i128::from(u64::MAX) + 1), "an integer outside the range of i64 and u64 at `wide`"),
        (wide(i128::from(i64::MIN) - 1), "an integer outside the range of i64 and u64 at `wide`"),
        (
            Measured { pair: (u128::MAX, None), ..Measured::default() },
            "an integer outside the range of i64 and u64 at `pair[0]`",
        ),
        (Measured { pair: (0, Some('\0')), ..Measured::default() }, "NUL in a string at `pair[1]`"),
        (shape(Shape::Line(f64::NAN)), "a number that is not finite at `shape.Line`"),
        (shape(Shape::Box { w: f64::NAN }), "a number that is not finite at `shape.Box.w`"),
        (shape(Shape::Tuple(1, f64::NAN)), "a number that is not finite at `shape.Tuple[1]`"),
    ] {
        assert_eq!(
            refusal::<Measure>(&jobs, input).await,
            format!(
                "the payload of `measure` holds {holds}; fix: change the value at the path that the message names \
                 (X_PAYLOAD_INVALID)"
            )
        );
    }
    assert_empty(&jobs).await;
}

#[tokio::test]
async fn nul_is_refused_wherever_it_stands() {
    let jobs = jobs();
    for (input, holds) in [
        (json!("a\0b"), "NUL in a string at `.`"),
        (json!({ "t": ["x", "\0"] }), "NUL in a string at `t[1]`"),
        (json!({ "t": { "a\0b": 1 } }), "NUL in a map key at `t`"),
    ] {
        let said = refusal::<Anything>(&jobs, input).await;
        assert!(said.starts_with(&format!("the payload of `anything` holds {holds};")), "{said}");
    }
    assert_empty(&jobs).await;
}

#[tokio::test]
async fn a_map_key_that_json_cannot_carry_is_refused() {
    let jobs = jobs();
    for (key, holds) in [
        (Key::Float, "a map key that JSON cannot carry at `[0][0]`"),
        (Key::Sequence, "a map key that JSON cannot carry at `[0][0]`"),
        (Key::Nul, "NUL in a map key at `[0][0]`"),
    ] {
        let said = refusal::<ByKey>(&jobs, vec![([(key, 1)].into(),)]).await;
        assert!(said.starts_with(&format!("the payload of `by.key` holds {holds};")), "{said}");
    }
}

#[tokio::test]
async fn nesting_is_stored_to_120_and_refused_at_121() {
    let jobs = jobs();
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let deep = stored(&jobs, jobs.enqueue::<Anything>(nested(120)).await.expect("120 are allowed")).await;
    assert_eq!(deep.payload.decode::<Value>().expect("it reads back"), nested(120));
    let said = refusal::<Anything>(&jobs, nested(121)).await;
    assert!(said.starts_with("the payload of `anything` holds nesting deeper than 120 at `[0][0]"), "{said}");
}

#[tokio::test]
async fn one_mebibyte_is_stored_and_one_byte_more_is_refused() {
    let jobs = jobs();
    let text = |bytes: usize| "a".repeat(bytes - 2);
    let full = stored(&jobs, jobs.enqueue::<Note>(text(1 << 20)).await.expect("1 MiB is allowed")).await;
    assert_eq!(full.payload.as_str().len(), 1 << 20);
    assert_eq!(
        refusal::<Note>(&jobs, text((1 << 20) + 1)).await,
        "the payload of `note` is 1048577 bytes of JSON, the limit is 1048576; fix: store large data elsewhere and pass \
         a reference (X_PAYLOAD_TOO_LARGE)"
    );
    assert_eq!(jobs.list(Default::default()).await.expect("memory answers").len(), 1);
}

#[tokio::test]
async fn the_limit_counts_bytes_of_json_and_can_be_set() {
    let registry = Registry::builder().job::<Note>().build().expect("one job");
    let jobs = Jobs::builder().registry(registry).payload_limit(8).memory().expect("memory needs nothing");
    jobs.enqueue::<Note>("€€".to_owned()).await.expect("2 × 3 bytes and 2 quotes");
    let refusal = jobs.enqueue::<Note>("\n\n\n\n".to_owned()).await.expect_err("4 × 2 bytes and 2 quotes");
    assert_eq!(refusal.detail(), "the payload of `note` is 10 bytes of JSON, the limit is 8");
}
