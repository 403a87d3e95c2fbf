//! Names a step: name and key within their limits, and how messages call them. Pure.

use crate::{
    driver::StepRef,
    error::code,
    failure::{Failure, Verdict},
    steps::StepError,
};

/// The longest name and the longest key, in bytes.
pub(crate) const MAX_NAME: usize = 200;

/// The step as messages call it: its name, with its key in brackets where it has one.
pub(crate) fn label(id: &StepRef) -> String {
    let StepRef { name, key } = id;
    let shown = |text: &str| text.chars().take(MAX_NAME).collect::<String>();
    if key.is_empty() { shown(name) } else { format!("{} [{}]", shown(name), shown(key)) }
}

/// Refuses a name or key that cannot be stored.
///
/// # Errors
/// A terminal `X_STEP_NAME_INVALID` that says which of them breaks which rule.
pub(super) fn check(id: &StepRef) -> Result<(), StepError> {
    let what = if id.name.trim().is_empty() {
        "its name is blank".to_owned()
    } else if id.name.len() > MAX_NAME {
        format!("its name is {} bytes long, the limit is {MAX_NAME}", id.name.len())
    } else if id.key.len() > MAX_NAME {
        format!("its key is {} bytes long, the limit is {MAX_NAME}", id.key.len())
    } else if id.name.contains('\0') {
        "its name holds NUL".to_owned()
    } else if id.key.contains('\0') {
        "its key holds NUL".to_owned()
    } else {
        return Ok(());
    };
    let shown = label(id).replace('\0', "\\0");
    Err(StepError::new(shown, Failure::of(code::STEP_NAME_INVALID, Verdict::Terminal, what)))
}
