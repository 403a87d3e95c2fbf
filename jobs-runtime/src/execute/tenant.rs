//! Refuses a job whose payload belongs to another tenant than its row, before anything of the body runs.

use crate::{
    error::code,
    failure::{Failure, Verdict},
};

/// Compares the row's tenant with the one that the payload resolves to. The text names neither tenant: the one who
/// reads it may belong to only one of them.
///
/// # Errors
/// A terminal `X_JOB_TENANT_MISMATCH`.
pub(super) fn check(job: &str, row: Option<&str>, payload: Option<&str>) -> Result<(), Failure> {
    if row == payload {
        return Ok(());
    }
    let text = match (row, payload) {
        (None, _) => format!("job `{job}` was queued without a tenant and its payload resolves to one"),
        (_, None) => format!("job `{job}` was queued for a tenant and its payload resolves to none"),
        _ => format!("job `{job}` was queued for one tenant and its payload resolves to another"),
    };
    Err(Failure::of(code::JOB_TENANT_MISMATCH, Verdict::Terminal, text))
}
