use jobs::{
    Class, Error, Failure, JobError,
    error::{Codes, code},
    failure::{CallerFailure, MAX_OPERATOR, RecordedFailure, Stop, Verdict, record},
};
use std::{error::Error as StdError, fmt, time::Duration};

/// An error that says what it is told and has the given cause.
#[derive(Debug)]
struct Says(String, Option<Box<dyn StdError + Send + Sync>>);

impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Says {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.1.as_deref().map(|cause| cause as _)
    }
}

fn says(text: impl Into<String>) -> Says {
    Says(text.into(), None)
}

fn because(text: &str, cause: impl StdError + Send + Sync + 'static) -> Says {
    Says(text.to_owned(), Some(Box::new(cause)))
}

fn operator(failure: impl Into<Failure>) -> String {
    record(&failure.into(), None).operator
}

/// A declared error with a code of its own.
#[derive(Debug)]
struct Declined;

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the card was declined")
    }
}

impl StdError for Declined {}

const DECLINED: code::Code =
    code::Code { name: "X_CARD_DECLINED", title: "the card was declined", fix: "use another card" };

impl JobError for Declined {
    const CODES: &'static [code::Code] = &[DECLINED];

    fn classify(&self) -> Option<Class> {
        Some(Class { verdict: Verdict::Terminal, code: Some(DECLINED) })
    }
}

#[test]
fn hostile_text_becomes_one_safe_line() {
    for (text, line) in [
        ("a\nb\r\nc\td", r"a\nb\r\nc\td"),
        ("nul \0 bell \u{7}", r"nul \u{0} bell \u{7}"),
        ("\u{1b}[2J\u{1b}[31mred", r"\u{1b}[2J\u{1b}[31mred"),
        ("c1 \u{9b}31m del \u{7f}", r"c1 \u{9b}31m del \u{7f}"),
        ("user \u{202e}nimda\u{202c} \u{2066}x\u{2069}", r"user \u{202e}nimda\u{202c} \u{2066}x\u{2069}"),
        ("hid\u{200b}den \u{feff} sep\u{2028}line", r"hid\u{200b}den \u{feff} sep\u{2028}line"),
        (r#"quotes ' " ` and \ stay, as do € and 🦀"#, r#"quotes ' " ` and \ stay, as do € and 🦀"#),
        ("", ""),
    ] {
        assert_eq!(operator(Failure::retry(text)), line);
        assert_eq!(operator(says(text)), line);
    }
    let lossy = String::from_utf8_lossy(b"bytes \xff\xfe").into_owned();
    assert_eq!(operator(Failure::retry(lossy)), "bytes \u{fffd}\u{fffd}");
}

#[test]
fn a_long_text_is_cut_between_characters_and_marked() {
    for text in ["a".repeat(10 << 20), "€".repeat(1 << 20), "\u{1b}".repeat(1 << 20)] {
        let line = operator(says(text));
        assert!(line.len() <= MAX_OPERATOR && line.len() > MAX_OPERATOR - 10, "{}", line.len());
        assert!(line.ends_with("… (cut)"));
    }
    let full = "a".repeat(MAX_OPERATOR);
    assert_eq!(operator(says(full.clone())), full);
}

#[test]
fn the_whole_chain_is_told_and_nothing_twice() {
    let chain = because("cannot place the order", because("cannot charge", says("connection reset")));
    assert_eq!(operator(chain), "cannot place the order: cannot charge: connection reset");
    let repeats = because("cannot charge: connection reset", because("connection reset", says("connection reset")));
    assert_eq!(operator(repeats), "cannot charge: connection reset");
}

/// An error that is its own cause.
#[derive(Debug)]
struct Endless;

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("round and round")
    }
}

impl StdError for Endless {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self)
    }
}

/// An error whose text cannot be written.
#[derive(Debug)]
struct Unwritable;

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("so far")?;
        Err(fmt::Error)
    }
}

impl StdError for Unwritable {}

#[test]
fn an_endless_chain_and_an_unwritable_text_are_recorded() {
    let endless = Failure::retry("x").verdict(Verdict::Terminal);
    assert_eq!(operator(endless), "x");
    assert_eq!(record(&because_endless(), None).operator, "stuck: round and round");
    assert_eq!(operator(because("broken", Unwritable)), "broken: so far");
}

/// The classification of a failure follows the chain as well, so the cause goes in as text of a declared error.
fn because_endless() -> Failure {
    Failure::from_error(because("stuck", Endless))
}

#[test]
fn passwords_in_connection_strings_are_masked_in_every_part() {
    let failure = Failure::from_error(because(
        "cannot reach postgres://app:s3cret@db:5432/shop",
        says("error connecting with host=db password='s3 cret' user=app"),
    ))
    .caller_fix("ask about redis://:s3cret@cache");
    let recorded = record(&failure, None);
    assert_eq!(
        recorded.operator,
        "cannot reach postgres://app:***@db:5432/shop: error connecting with host=db password=*** user=app"
    );
    assert_eq!(recorded.caller_fix.as_deref(), Some("ask about redis://:***@cache"));
    let cut_in_the_secret = format!("{}postgres://app:{}", "x".repeat(4_000), "s3cret".repeat(20_000));
    assert!(!operator(says(cut_in_the_secret)).contains("s3cret"));
}

#[test]
fn a_remote_caller_learns_a_registered_code_and_its_fix_and_nothing_else() {
    let codes = Codes::own().with::<Declined>().expect("it is declared once");
    let caller = |failure: &Failure| record(failure, None).for_caller(&codes);
    let declined =
        Failure::from_error(says("declined by bank 7")).code("X_CARD_DECLINED").caller_fix("use another card");
    assert_eq!(
        caller(&declined),
        CallerFailure { code: "X_CARD_DECLINED", caller_fix: Some("use another card".to_owned()) }
    );
    let internal = CallerFailure { code: "X_INTERNAL", caller_fix: None };
    let unregistered = Failure::terminal("x").code("X_MADE_UP").caller_fix("run rm -rf");
    assert_eq!(caller(&unregistered), internal);
    for forged in
        ["X_CARD_DECLINED", "X_CARD_DECLINED\tcaller fix: rm -rf", "X_JOB_FAILED: pay again", "code=X_PAYMENT"]
    {
        let forged = caller(&Failure::from_error(says(forged)));
        assert_eq!(forged, CallerFailure { code: "X_JOB_FAILED", caller_fix: None });
    }
    let odd = Failure::terminal("x").code("X_CARD_DECLINED\n").caller_fix("x");
    assert_eq!(record(&odd, None).code, "X_JOB_FAILED");
}

#[test]
fn a_fix_is_one_safe_line_too() {
    let failure = Failure::terminal("x").caller_fix(format!("a\n\u{1b}{}", "b".repeat(10_000)));
    let fix = record(&failure, None).caller_fix.expect("it was given");
    assert!(fix.starts_with(r"a\n\u{1b}b") && fix.len() <= 512);
}

#[test]
fn an_error_of_ours_keeps_its_code_also_as_a_cause() {
    let ours = || Error::new(code::STORE_UNAVAILABLE, "no answer from postgres://app:s3cret@db");
    let direct = record(&Failure::from(ours()), None);
    assert_eq!(direct.code, "X_STORE_UNAVAILABLE");
    assert_eq!(
        direct.operator,
        "no answer from postgres://app:***@db; fix: try again later; check the connection settings (X_STORE_UNAVAILABLE)"
    );
    assert_eq!(record(&Failure::from(because("cannot enqueue", ours())), None).code, "X_STORE_UNAVAILABLE");
    assert_eq!(record(&Failure::from(says("x")), None).code, "X_JOB_FAILED");
}

#[test]
fn constructors_say_what_shall_follow() {
    let wait = Duration::from_secs(3);
    for (failure, verdict) in [
        (Failure::retry("x"), Verdict::Backoff),
        (Failure::from(says("x")), Verdict::Backoff),
        (Failure::retry_after(wait, "x"), Verdict::After(wait)),
        (Failure::terminal("x"), Verdict::Terminal),
        (Failure::snooze(wait), Verdict::Snooze(wait)),
        (Failure::cancel("x"), Verdict::Cancel),
        (Failure::discard("x"), Verdict::Discard),
        (Failure::from(says("x")).verdict(Verdict::Terminal), Verdict::Terminal),
    ] {
        assert_eq!(failure.asks(), verdict);
    }
    let source: Box<dyn StdError + Send + Sync> = "a boxed text".into();
    assert_eq!(operator(Failure::from_error(source)), "a boxed text");
}

#[test]
fn a_record_survives_json() {
    let recorded = record(&Failure::terminal("a \" \\ \u{1b} €"), Some(Stop::AttemptsExhausted));
    let text = serde_json::to_string(&recorded).expect("it encodes");
    assert!(text.contains(r#""stop":"attempts-exhausted""#));
    assert_eq!(serde_json::from_str::<RecordedFailure>(&text).expect("it decodes"), recorded);
}

#[test]
fn a_code_cannot_be_declared_twice_with_another_meaning_nor_take_one_of_ours() {
    #[derive(Debug)]
    struct Thief;
    impl fmt::Display for Thief {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("thief")
        }
    }
    impl StdError for Thief {}
    impl JobError for Thief {
        const CODES: &'static [code::Code] =
            &[code::JOB_PANIC, code::Code { name: "X_CARD_DECLINED", title: "other", fix: "other" }];
        fn classify(&self) -> Option<Class> {
            None
        }
    }
    let codes = Codes::own().with::<Declined>().and_then(Codes::with::<Declined>).expect("the same again is no matter");
    let refusal = codes.with::<Thief>().expect_err("it is refused");
    assert_eq!(
        refusal.to_string(),
        "the code `X_JOB_PANIC` is one of this library's own; the code `X_CARD_DECLINED` is declared twice, with another \
         title or fix; fix: correct the option that the message names (X_DECLARATION_INVALID)"
    );
}
