//! Hashes unique keys: SHA-256 over the length-prefixed job name, tenant, kind of key and text. Keys are stored, and the
//! SQL function `enqueue` computes the same: the parts and their order can't change.

use super::check;
use crate::{
    driver::NewUnique,
    error::{Error, code},
    job::UniqueKey,
    json::JsonText,
    spec::{Hold, JobSpec, OnConflict, Unique},
};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// How a key excludes where the job declares nothing.
pub(crate) const DEFAULT: Unique = Unique { hold: Hold::Live, on_conflict: OnConflict::Existing };

/// The key that the declaration asks for. Without a key of its own, a job that declares `unique` takes its whole input.
pub(super) fn declared(
    spec: &JobSpec,
    tenant: Option<&str>,
    key: Option<UniqueKey>,
    payload: &JsonText,
) -> Result<Option<NewUnique>, Error> {
    let key = match (key, spec.unique) {
        (Some(key), _) => key,
        (None, Some(_)) => UniqueKey::Json(payload.as_str().to_owned()),
        (None, None) => return Ok(None),
    };
    take(spec.name, tenant, &key, spec.unique.unwrap_or(DEFAULT)).map(Some)
}

/// A key of a job and tenant.
pub(crate) fn take(job: &str, tenant: Option<&str>, key: &UniqueKey, how: Unique) -> Result<NewUnique, Error> {
    let key = match key {
        UniqueKey::Text(text) => {
            check::key(job, text)?;
            hash(job, tenant, b"text", text)
        }
        UniqueKey::Json(text) => {
            let value: Value = serde_json::from_str(text).map_err(|error| {
                Error::new(code::KEY_INVALID, format!("the unique key of `{job}` is not JSON: {error}"))
            })?;
            let mut canonical = String::with_capacity(text.len());
            canonicalise(&value, &mut canonical);
            hash(job, tenant, b"json", &canonical)
        }
    };
    Ok(NewUnique { key, hold: how.hold, on_conflict: how.on_conflict })
}

fn hash(job: &str, tenant: Option<&str>, kind: &[u8], text: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    part(job.as_bytes());
    match tenant {
        Some(tenant) => {
            part(b"tenant");
            part(tenant.as_bytes());
        }
        None => part(b"none"),
    }
    part(kind);
    part(text.as_bytes());
    hash.finalize().into()
}

/// Writes JSON with the keys of its objects in order, so that a map's own order makes no difference.
fn canonicalise(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonicalise(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in sorted {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                canonicalise(value, text);
                text.push(',');
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}
