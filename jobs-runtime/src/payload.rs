//! Encodes and decodes payloads and outputs, refusing what cannot be stored exactly.
//! Upstream: `enqueue`. Downstream: `driver`, which keeps the text as it is.

mod key;
mod path;
mod raw;
pub(crate) mod writer;

use crate::{
    error::{Error, code},
    failure::{Failure, Verdict},
    job::Job,
    json::JsonText,
};
use serde::{Serialize, de::DeserializeOwned};

/// The largest payload, in bytes of JSON, unless configured otherwise: 1 MiB.
pub const MAX_BYTES: usize = 1 << 20;

/// Encodes a payload: NUL, non-finite numbers, integers beyond 64 bits, nesting deeper than 120 and map keys that JSON
/// cannot carry are refused with their path.
pub(crate) fn encode<T: Serialize>(job: &str, value: &T) -> Result<JsonText, Error> {
    match writer::write(value) {
        Ok(text) => Ok(JsonText::trusted(text)),
        Err(fault) => Err(Error::new(code::PAYLOAD_INVALID, format!("the payload of `{job}` holds {fault}"))),
    }
}

/// Refuses a payload that is larger than the limit.
pub(crate) fn check_size(job: &str, payload: &JsonText, limit: usize) -> Result<(), Error> {
    let bytes = payload.as_str().len();
    if bytes > limit {
        return Err(Error::new(
            code::PAYLOAD_TOO_LARGE,
            format!("the payload of `{job}` is {bytes} bytes of JSON, the limit is {limit}"),
        ));
    }
    Ok(())
}

/// Decodes a payload of the current version.
pub(crate) fn decode<T: DeserializeOwned>(job: &str, payload: &JsonText) -> Result<T, Error> {
    payload.decode().map_err(|error| {
        let path = error.path().to_string();
        // The path of the whole.
        let at = if path == "." { String::new() } else { format!(" at `{path}`") };
        let text = format!("the payload of `{job}` does not decode{at}: {}", error.inner());
        Error::new(code::PAYLOAD_UNREADABLE, text)
    })
}

/// Decodes a payload of an older version through the job's `upgrade`.
pub(crate) fn upgrade<J: Job>(payload: &JsonText, version: u16) -> Result<J::Input, Failure> {
    let old = decode::<serde_json::Value>(J::SPEC.name, payload)?;
    let new = J::upgrade(version, old)?;
    let text = encode(J::SPEC.name, &new)?;
    Ok(decode(J::SPEC.name, &text)?)
}

/// Encodes an output, at most [`MAX_BYTES`] of JSON; `None` for `()`.
pub(crate) fn output<T: Serialize>(job: &str, value: &T) -> Result<Option<JsonText>, Failure> {
    let refused = |what: String| {
        Failure::of(code::JOB_OUTPUT_INVALID, Verdict::Terminal, format!("the output of `{job}` {what}"))
    };
    let text = writer::write(value).map_err(|fault| refused(format!("holds {fault}")))?;
    if text.len() > MAX_BYTES {
        return Err(refused(format!("is {} bytes of JSON, the limit is {MAX_BYTES}", text.len())));
    }
    Ok((text != "null").then(|| JsonText::trusted(text)))
}
