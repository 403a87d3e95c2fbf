//! Reads rows column by column, in the order of the statement. Upstream: the verbs. Downstream: nothing.

use crate::{
    driver::{Stage, StepKind, StepStatus},
    error::{Error, code},
    failure::{RecordedFailure, Stop},
    json::JsonText,
    logged,
    state::State,
};
use serde::de::DeserializeOwned;
use sqlx::{Decode, Postgres, Row, Type, postgres::PgRow};
use std::fmt::Display;

/// The columns of a row, read one after the other: names would be looked up per row and column.
pub(super) struct Columns<'r> {
    row: &'r PgRow,
    at: usize,
}

impl<'r> Columns<'r> {
    pub(super) fn of(row: &'r PgRow) -> Self {
        Self { row, at: 0 }
    }

    /// The next column.
    pub(super) fn next<T>(&mut self) -> Result<T, Error>
    where
        T: Decode<'r, Postgres> + Type<Postgres>,
    {
        let at = self.at;
        self.at += 1;
        self.row.try_get(at).map_err(|error| unreadable(at, error))
    }

    /// The next column, a number that is stored in a wider or signed type.
    pub(super) fn next_as<S, T>(&mut self) -> Result<T, Error>
    where
        S: Decode<'r, Postgres> + Type<Postgres>,
        T: TryFrom<S, Error: Display>,
    {
        let at = self.at;
        T::try_from(self.next::<S>()?).map_err(|error| unreadable(at, error))
    }

    /// The next column, JSON as text.
    pub(super) fn json(&mut self) -> Result<JsonText, Error> {
        Ok(JsonText::trusted(self.next::<&str>()?))
    }

    /// The next column, JSON as text or NULL.
    pub(super) fn json_or_null(&mut self) -> Result<Option<JsonText>, Error> {
        Ok(self.next::<Option<&str>>()?.map(JsonText::trusted))
    }

    /// The next column, JSON text of a type of ours.
    pub(super) fn decode<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let at = self.at;
        serde_json::from_str(self.next::<&str>()?).map_err(|error| unreadable(at, error))
    }

    /// The next column, JSON text of a type of ours. NULL is nothing, and so is what another release has written and
    /// this one cannot read: it must not stand in the way of the rest of the row, nor of other rows.
    pub(super) fn decode_if_readable<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        let at = self.at;
        let decoded = self.next::<Option<&str>>()?.map(serde_json::from_str).transpose();
        Ok(decoded.unwrap_or_else(|error| {
            let error = unreadable(at, error);
            tracing::warn!(event = logged::ROW_UNREADABLE, %error, "a value is left out");
            None
        }))
    }

    /// The next column, a state.
    pub(super) fn state(&mut self) -> Result<State, Error> {
        self.numbered(&State::ALL, "state", |state| state as i16)
    }

    /// The next column, a state or NULL.
    pub(super) fn state_or_null(&mut self) -> Result<Option<State>, Error> {
        let at = self.at;
        let number = self.next::<Option<i16>>()?;
        number.map(|number| known(at, number, &State::ALL, "state", |state| state as i16)).transpose()
    }

    /// The next column, a stage.
    pub(super) fn stage(&mut self) -> Result<Stage, Error> {
        self.numbered(&Stage::ALL, "stage", |stage| stage as i16)
    }

    /// The next column, what a record is of.
    pub(super) fn step_kind(&mut self) -> Result<StepKind, Error> {
        self.numbered(&StepKind::ALL, "kind of step", |kind| kind as i16)
    }

    /// The next column, how far a recorded step is.
    pub(super) fn step_status(&mut self) -> Result<StepStatus, Error> {
        self.numbered(&StepStatus::ALL, "status of a step", |status| status as i16)
    }

    fn numbered<T: Copy>(&mut self, all: &[T], what: &str, number: fn(T) -> i16) -> Result<T, Error> {
        let at = self.at;
        known(at, self.next()?, all, what, number)
    }

    /// The next two columns, why a parked run cannot go on.
    pub(super) fn parked(&mut self) -> Result<Option<RecordedFailure>, Error> {
        let code: Option<String> = self.next()?;
        let operator: Option<String> = self.next()?;
        Ok(code.map(|code| RecordedFailure {
            code,
            operator: operator.unwrap_or_default(),
            caller_fix: None,
            stop: None,
        }))
    }

    /// The next four columns, a failure.
    pub(super) fn failure(&mut self) -> Result<Option<RecordedFailure>, Error> {
        let code: Option<String> = self.next()?;
        let operator: Option<String> = self.next()?;
        let caller_fix = self.next()?;
        let stop = self.next::<Option<&str>>()?.and_then(|text| parse_stop(text).ok());
        Ok(code.map(|code| RecordedFailure { code, operator: operator.unwrap_or_default(), caller_fix, stop }))
    }
}

/// The text of a stop reason, as serde names it.
pub(super) fn stop_text(stop: Stop) -> &'static str {
    match stop {
        Stop::Terminal => "terminal",
        Stop::AttemptsExhausted => "attempts-exhausted",
        Stop::Quarantined => "quarantined",
        Stop::Discarded => "discarded",
        Stop::Cancelled => "cancelled",
    }
}

fn parse_stop(text: &str) -> Result<Stop, serde::de::value::Error> {
    use serde::{Deserialize, de::IntoDeserializer};
    Stop::deserialize(text.into_deserializer())
}

/// The value of a number.
fn known<T: Copy>(column: usize, stored: i16, all: &[T], what: &str, number: fn(T) -> i16) -> Result<T, Error> {
    let found = all.iter().copied().find(|value| number(*value) == stored);
    found.ok_or_else(|| unreadable(column, format!("{stored} is no {what}")))
}

/// What a stored value that cannot be read becomes.
fn unreadable(column: usize, error: impl Display) -> Error {
    Error::new(code::STORE_FAILED, format!("column {column} of a stored row cannot be read: {error}"))
}
