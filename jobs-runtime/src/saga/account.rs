//! Words what stands on the row of a job that could not undo all of its steps. Pure.

use crate::{
    driver::StepRef,
    error::code,
    failure::{self, Failure, RecordedFailure, Stop, Verdict},
};
use std::fmt::Write;

/// How many bytes of the cause and of the original failure are told.
const TEXT: usize = 700;
/// How many bytes of names are told in each list.
const NAMES: usize = 700;

/// What an unwinding came to that could not go on.
pub(crate) struct Account<'a> {
    /// Why it could not.
    pub(crate) why: String,
    /// What it unwound from.
    pub(crate) original: &'a RecordedFailure,
    /// The steps that are undone, in the order of their undoing.
    pub(crate) undone: Vec<String>,
    /// Those whose undoing an operator said to skip.
    pub(crate) skipped: Vec<String>,
    /// Those that are not, in the order in which they would be.
    pub(crate) not_undone: Vec<String>,
}

impl Account<'_> {
    /// The failure as it stands on the row: one line, at most 4 KiB, both lists by name.
    pub(crate) fn record(&self) -> RecordedFailure {
        let mut text = cut(&self.why);
        list(&mut text, "; not undone: ", &self.not_undone);
        list(&mut text, "; undone: ", &self.undone);
        if !self.skipped.is_empty() {
            list(&mut text, "; skipped: ", &self.skipped);
        }
        let _ = write!(text, "; it unwound from {}: {}", self.original.code, cut(&self.original.operator));
        let failure = Failure::of(code::JOB_COMPENSATION_FAILED, Verdict::Terminal, text);
        failure::record(&failure, Some(Stop::Terminal))
    }
}

/// A step as it is called in texts: its name, with its key in brackets where it has one.
pub(crate) fn label(step: &StepRef) -> String {
    let StepRef { name, key } = step;
    if key.is_empty() { format!("`{name}`") } else { format!("`{name}` [{key}]") }
}

fn list(text: &mut String, heading: &str, names: &[String]) {
    text.push_str(heading);
    if names.is_empty() {
        text.push_str("none");
    }
    let start = text.len();
    for (at, name) in names.iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        if text.len() - start + name.len() > NAMES {
            let _ = write!(text, "and {} more", names.len() - at);
            return;
        }
        text.push_str(name);
    }
}

fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT.min(text.len()));
    let mut kept = text[..end].to_owned();
    if end < text.len() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{Account, label};
    use crate::{driver::StepRef, failure::RecordedFailure};

    fn original(operator: &str) -> RecordedFailure {
        let code = "X_CARD_DECLINED".to_owned();
        RecordedFailure { code, operator: operator.to_owned(), caller_fix: None, stop: None }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| format!("`{name}`")).collect()
    }

    #[test]
    fn the_text_tells_what_is_undone_and_what_is_not() {
        let record = Account {
            why: "the compensation of `hold` failed 3 times, at last: no answer".to_owned(),
            original: &original("the card was declined"),
            undone: names(&["ship", "pack"]),
            skipped: Vec::new(),
            not_undone: names(&["hold"]),
        }
        .record();
        assert_eq!(record.code, "X_JOB_COMPENSATION_FAILED");
        assert_eq!(
            record.operator,
            "the compensation of `hold` failed 3 times, at last: no answer; not undone: `hold`; undone: `ship`, `pack`; it \
             unwound from X_CARD_DECLINED: the card was declined"
        );
    }

    #[test]
    fn lists_that_are_too_long_say_how_many_are_left_out() {
        let long = "x".repeat(200);
        let many = vec![format!("`{long}`"); 50];
        let record = Account {
            why: "y".repeat(4_000),
            original: &original(&"z".repeat(4_000)),
            undone: many.clone(),
            skipped: many.clone(),
            not_undone: many,
        }
        .record();
        assert!(record.operator.len() <= 4 * 1024, "{}", record.operator.len());
        assert_eq!(record.operator.matches("and 47 more").count(), 3, "{}", record.operator);
    }

    #[test]
    fn a_run_that_undid_nothing_says_so() {
        let original = original("refused");
        let account = Account {
            why: String::new(),
            original: &original,
            undone: vec![],
            skipped: vec![],
            not_undone: names(&["a"]),
        };
        assert!(account.record().operator.contains("; not undone: `a`; undone: none; "));
    }

    #[test]
    fn a_step_with_a_key_is_named_with_it() {
        let step = |key: &str| StepRef { name: "charge".to_owned(), key: key.to_owned() };
        assert_eq!([label(&step("")), label(&step("a-1"))], ["`charge`", "`charge` [a-1]"]);
    }
}
