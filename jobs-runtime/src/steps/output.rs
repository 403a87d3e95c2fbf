//! Writes and reads the outputs of steps. Upstream: `begin`. Downstream: `payload`.

use crate::{
    error::code,
    failure::{Failure, Verdict},
    json::JsonText,
    payload::{self, writer},
};
use serde::{Serialize, de::DeserializeOwned};

/// What a step can return: owned data that serde can write and read again.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a step",
    label = "not owned data that serde can write and read",
    note = "a step's output is stored and read again by a replay: add `#[derive(Serialize, Deserialize)]` to the type, \
            from `jobs::prelude` or serde, or return `()`"
)]
pub trait StepOutput: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> StepOutput for T {}

/// Encodes an output.
///
/// # Errors
/// A terminal failure that says what it holds, or its size and the limit.
pub(super) fn encode<T: Serialize>(output: &T) -> Result<JsonText, Failure> {
    let text = writer::write(output).map_err(|fault| {
        Failure::of(code::STEP_OUTPUT_INVALID, Verdict::Terminal, format!("its output holds {fault}"))
    })?;
    if text.len() > payload::MAX_BYTES {
        let text = format!("its output is {} bytes of JSON, the limit is {}", text.len(), payload::MAX_BYTES);
        return Err(Failure::of(code::STEP_OUTPUT_TOO_LARGE, Verdict::Terminal, text));
    }
    Ok(JsonText::trusted(text))
}

/// Decodes a stored output.
///
/// # Errors
/// What does not fit and where.
pub(super) fn decode<T: DeserializeOwned>(output: Option<&JsonText>) -> Result<T, String> {
    let null = JsonText::trusted("null");
    output.unwrap_or(&null).decode().map_err(|error| {
        let path = error.path().to_string();
        // The path of the whole.
        let at = if path == "." { String::new() } else { format!(" at `{path}`") };
        format!("its recorded output does not decode{at}: {}", error.inner())
    })
}
