//! Reads rows column by column, in the order of the statement. Upstream: the verbs. Downstream: nothing.

use crate::{
    driver::Stage,
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
        let at = self.at;
        self.state_or_null()?.ok_or_else(|| unreadable(at, "a state is missing"))
    }

    /// The next column, a state or NULL.
    pub(super) fn state_or_null(&mut self) -> Result<Option<State>, Error> {
        let at = self.at;
        let Some(code) = self.next::<Option<i16>>()? else { return Ok(None) };
        let known = State::ALL.into_iter().find(|state| *state as i16 == code);
        known.map(Some).ok_or_else(|| unreadable(at, format!("{code} is no state")))
    }

    /// The next column, a stage.
    pub(super) fn stage(&mut self) -> Result<Stage, Error> {
        let at = self.at;
        let code = self.next::<i16>()?;
        let known = Stage::ALL.into_iter().find(|stage| *stage as i16 == code);
        known.ok_or_else(|| unreadable(at, format!("{code} is no stage")))
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

/// What a stored value that cannot be read becomes.
fn unreadable(column: usize, error: impl Display) -> Error {
    Error::new(code::STORE_FAILED, format!("column {column} of a stored row cannot be read: {error}"))
}
