//! What an error says of itself reaches the failure, from wherever it stands in the chain of causes.

use jobs::{Class, Failure, JobError, failure::Verdict};
use std::{error::Error as StdError, time::Duration};

#[derive(Debug, thiserror::Error, JobError)]
enum ChargeError {
    #[error("the card was declined")]
    #[job_error(
        code = "X_CARD_DECLINED",
        title = "the bank declined the card",
        retry = terminal,
        caller_fix = "use another card"
    )]
    Declined,
    /// The bank is closed
    #[error("closed until the morning")]
    #[job_error(code = "X_BANK_CLOSED", retry = after("8h"))]
    Closed,
    #[error("asked to wait {wait:?}")]
    #[job_error(retry = after(wait))]
    Busy { wait: Duration },
    #[error("overloaded")]
    #[job_error(retry = after(_1))]
    Overloaded(u8, Option<Duration>),
    #[error("a line went down")]
    #[job_error(retry = backoff)]
    Down,
    #[error("could not read the answer")]
    Unread(#[source] ReadError),
}

#[derive(Debug, thiserror::Error, JobError)]
#[error("byte {at} is wrong")]
#[job_error(retry = after(Duration::from_secs(*at)))]
struct ReadError {
    at: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("the order failed")]
struct OrderError(#[source] ChargeError);

fn failed(error: impl StdError + Send + Sync + 'static) -> Failure {
    let result: Result<(), Failure> = (|| Err(error)?)();
    result.expect_err("it failed")
}

#[test]
fn each_case_says_what_shall_follow() {
    let verdict = |error: ChargeError| error.classify().map(|class| class.verdict);
    assert_eq!(verdict(ChargeError::Declined), Some(Verdict::Terminal));
    assert_eq!(verdict(ChargeError::Closed), Some(Verdict::After(Duration::from_hours(8))));
    let wait = Duration::from_secs(3);
    assert_eq!(verdict(ChargeError::Busy { wait }), Some(Verdict::After(wait)));
    assert_eq!(verdict(ChargeError::Overloaded(1, Some(wait))), Some(Verdict::After(wait)));
    assert_eq!(verdict(ChargeError::Overloaded(1, None)), Some(Verdict::Backoff));
    assert_eq!(verdict(ChargeError::Down), Some(Verdict::Backoff));
    assert_eq!(verdict(ChargeError::Unread(ReadError { at: 1 })), None);
    assert_eq!(
        ReadError { at: 9 }.classify(),
        Some(Class { verdict: Verdict::After(Duration::from_secs(9)), code: None })
    );
}

#[test]
fn a_code_carries_its_title_and_its_fix() {
    let codes: Vec<(&str, &str, &str)> =
        ChargeError::CODES.iter().map(|code| (code.name, code.title, code.fix)).collect();
    assert_eq!(
        codes,
        [
            ("X_CARD_DECLINED", "the bank declined the card", "use another card"),
            ("X_BANK_CLOSED", "The bank is closed", ""),
        ]
    );
}

#[test]
fn the_question_mark_keeps_the_class() {
    let failure = failed(ChargeError::Declined);
    assert_eq!(failure.asks(), Verdict::Terminal);
    assert_eq!(failure.code_name(), "X_CARD_DECLINED");
    assert_eq!(failure.fix_for_caller(), Some("use another card"));
}

#[test]
fn a_class_is_found_below_errors_that_say_nothing() {
    assert_eq!(failed(OrderError(ChargeError::Declined)).asks(), Verdict::Terminal);
    let failure = failed(OrderError(ChargeError::Unread(ReadError { at: 7 })));
    assert_eq!(failure.asks(), Verdict::After(Duration::from_secs(7)));
    assert_eq!(failure.to_string(), "the order failed: could not read the answer: byte 7 is wrong");
}

/// What a job's own return type makes of an error, before any `?`.
macro_rules! returned {
    ($error:expr) => {{
        let error = $error;
        jobs::__private::failure!(error)
    }};
}

#[test]
fn a_job_may_return_a_failure_a_declared_error_any_error_a_box_or_a_text() {
    assert_eq!(returned!(Failure::cancel("enough")).asks(), Verdict::Cancel);
    assert_eq!(returned!(ChargeError::Declined).asks(), Verdict::Terminal);
    assert_eq!(returned!(OrderError(ChargeError::Declined)).asks(), Verdict::Terminal);
    let boxed: Box<dyn StdError + Send + Sync> = Box::new(OrderError(ChargeError::Declined));
    assert_eq!(returned!(boxed).asks(), Verdict::Terminal);
    assert_eq!(returned!("no luck").to_string(), "no luck");
    assert_eq!(returned!("no luck".to_owned()).asks(), Verdict::Backoff);
}

#[test]
fn declared_codes_are_known_to_the_process() {
    let codes = jobs::error::Codes::linked();
    assert_eq!(codes.get("X_CARD_DECLINED").map(|code| code.fix), Some("use another card"));
}
