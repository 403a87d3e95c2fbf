//! Parses durations such as `"90s"` and `"1h30m"`, once for compile time and for run time.
//!
//! Grammar: one or more `<digits><unit>` parts, largest unit first, each unit at most once.
//! Units: `d` (24 hours), `h`, `m`, `s`, `ms`. Calendar units (months, years) do not exist: their length varies.

use std::{fmt, time::Duration};

/// The longest duration that a declaration may state: 100 years of 365 days.
pub const MAX: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Why a text is not a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurationError {
    /// The text is empty.
    Empty,
    /// A part does not begin with a digit.
    MissingNumber,
    /// A part has no unit, or one that does not exist.
    UnknownUnit,
    /// A unit stands twice, or a larger one after a smaller one.
    UnitOrder,
    /// The whole is longer than [`MAX`].
    TooLong,
}

impl DurationError {
    /// Says what is wrong and what would be right.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Empty => "a duration is empty: write one such as \"30s\" or \"1h30m\"",
            Self::MissingNumber => {
                "a duration part must begin with a whole number: write one such as \"30s\" or \"1h30m\""
            }
            Self::UnknownUnit => {
                "a duration part must end in one of the units d, h, m, s, ms: write one such as \"30s\" or \"1h30m\""
            }
            Self::UnitOrder => "duration units must go from large to small, each at most once: d, h, m, s, ms",
            Self::TooLong => "a duration is longer than 36500d, the limit",
        }
    }
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for DurationError {}

/// Parses a duration.
///
/// # Errors
/// [`DurationError`] says which rule of the grammar the text breaks.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use jobs_runtime::duration::{DurationError, parse};
/// assert_eq!(parse("1h30m"), Ok(Duration::from_secs(5_400)));
/// assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
/// assert_eq!(parse("30"), Err(DurationError::UnknownUnit));
/// assert_eq!(parse("1m1h"), Err(DurationError::UnitOrder));
/// ```
pub const fn parse(text: &str) -> Result<Duration, DurationError> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(DurationError::Empty);
    }
    let mut total_ms: u128 = 0;
    let mut smallest_so_far = u64::MAX;
    let mut at = 0;
    while at < bytes.len() {
        let digits_from = at;
        let mut number: u64 = 0;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            number = match number.checked_mul(10) {
                Some(shifted) => match shifted.checked_add((bytes[at] - b'0') as u64) {
                    Some(sum) => sum,
                    None => return Err(DurationError::TooLong),
                },
                None => return Err(DurationError::TooLong),
            };
            at += 1;
        }
        if at == digits_from {
            return Err(DurationError::MissingNumber);
        }
        let unit_from = at;
        while at < bytes.len() && !bytes[at].is_ascii_digit() {
            at += 1;
        }
        let unit_ms = match unit_milliseconds(bytes, unit_from, at) {
            Some(ms) => ms,
            None => return Err(DurationError::UnknownUnit),
        };
        if unit_ms >= smallest_so_far {
            return Err(DurationError::UnitOrder);
        }
        smallest_so_far = unit_ms;
        total_ms += number as u128 * unit_ms as u128;
        if total_ms > MAX.as_millis() {
            return Err(DurationError::TooLong);
        }
    }
    Ok(Duration::from_millis(total_ms as u64))
}

/// Parses a duration that stands in a declaration, where a bad one stops the build.
///
/// # Panics
/// In a `const` context, at compile time, with the text of the [`DurationError`]; also where the duration is zero,
/// since no declared duration may be.
#[must_use]
#[track_caller]
pub const fn must(text: &str) -> Duration {
    match parse(text) {
        Ok(duration) if duration.is_zero() => panic!("a duration must be longer than zero"),
        Ok(duration) => duration,
        Err(error) => panic!("{}", error.message()),
    }
}

/// What an API takes as a duration: a text in the grammar of [`parse`], or a [`Duration`] of at most [`MAX`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a duration",
    label = "neither a text such as \"5m\" nor a `Duration`",
    note = "write `\"90s\"` or `\"1h30m\"`, or pass a `std::time::Duration`"
)]
pub trait IntoDuration: Copy + fmt::Debug {
    /// The duration.
    ///
    /// # Errors
    /// [`DurationError`] says which rule it breaks.
    fn into_duration(self) -> Result<Duration, DurationError>;
}

impl IntoDuration for Duration {
    fn into_duration(self) -> Result<Duration, DurationError> {
        if self > MAX { Err(DurationError::TooLong) } else { Ok(self) }
    }
}

impl IntoDuration for &str {
    fn into_duration(self) -> Result<Duration, DurationError> {
        parse(self)
    }
}

impl IntoDuration for &String {
    fn into_duration(self) -> Result<Duration, DurationError> {
        parse(self)
    }
}

/// Writes a duration in the grammar of [`parse`], rounded down to milliseconds.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// assert_eq!(jobs_runtime::duration::format(Duration::from_secs(5_400)), "1h30m");
/// assert_eq!(jobs_runtime::duration::format(Duration::ZERO), "0s");
/// ```
#[must_use]
pub fn format(duration: Duration) -> String {
    let mut left = duration.as_millis();
    let mut text = String::new();
    for (unit, ms) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)] {
        if left >= ms {
            text.push_str(&format!("{}{unit}", left / ms));
            left %= ms;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

const fn unit_milliseconds(bytes: &[u8], from: usize, to: usize) -> Option<u64> {
    match to - from {
        1 => match bytes[from] {
            b'd' => Some(86_400_000),
            b'h' => Some(3_600_000),
            b'm' => Some(60_000),
            b's' => Some(1_000),
            _ => None,
        },
        2 if bytes[from] == b'm' && bytes[from + 1] == b's' => Some(1),
        _ => None,
    }
}
