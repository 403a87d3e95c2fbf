//! Encodes and decodes payloads and outputs, refusing what cannot be stored exactly.

use crate::{
    error::{Error, code},
    failure::{Failure, Verdict},
    job::Job,
    json::JsonText,
};
use serde::{Serialize, de::DeserializeOwned};

/// The largest payload, in bytes of JSON, unless configured otherwise: 1 MiB.
pub const MAX_BYTES: usize = 1 << 20;

/// Encodes a payload.
pub(crate) fn encode<T: Serialize>(job: &str, value: &T) -> Result<JsonText, Error> {
    let text = serde_json::to_string(value).map_err(|error| {
        Error::new(code::PAYLOAD_INVALID, format!("the payload of `{job}` cannot be encoded: {error}"))
    })?;
    Ok(JsonText::trusted(text))
}

/// Decodes a payload of the current version.
pub(crate) fn decode<T: DeserializeOwned>(job: &str, payload: &JsonText) -> Result<T, Error> {
    payload.decode().map_err(|error| {
        Error::new(
            code::PAYLOAD_UNREADABLE,
            format!("the payload of `{job}` does not decode at `{}`: {}", error.path(), error.inner()),
        )
    })
}

/// Decodes a payload of an older version through the job's `upgrade`.
pub(crate) fn upgrade<J: Job>(payload: &JsonText, version: u16) -> Result<J::Input, Failure> {
    let old = decode::<serde_json::Value>(J::SPEC.name, payload)?;
    let new = J::upgrade(version, old)?;
    let text = encode(J::SPEC.name, &new)?;
    Ok(decode(J::SPEC.name, &text)?)
}

/// Encodes an output; `None` for `()`.
pub(crate) fn output<T: Serialize>(job: &str, value: &T) -> Result<Option<JsonText>, Failure> {
    let text = encode(job, value).map_err(|error| {
        Failure::of(
            code::JOB_OUTPUT_INVALID,
            Verdict::Terminal,
            format!("the output of `{job}` cannot be stored: {error}"),
        )
    })?;
    Ok((text.as_str() != "null").then_some(text))
}
