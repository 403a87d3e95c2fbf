//! Encodes the caller's own key-value pairs. Tags stand among them, under `tags`.

use super::check;
use crate::{
    error::{Error, code},
    json::JsonText,
    payload::writer,
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The largest metadata, in bytes of JSON.
pub(super) const MAX_BYTES: usize = 16 * 1024;
/// The most tags of a job.
const MAX_TAGS: usize = 32;

/// Encodes metadata: a JSON object.
pub(super) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<JsonText, Error> {
    let text = writer::write(value).map_err(|fault| invalid(format!("the metadata holds {fault}")))?;
    if !text.starts_with('{') {
        return Err(invalid("the metadata is not a JSON object".to_owned()));
    }
    Ok(JsonText::trusted(text))
}

/// Adds the tags to the metadata and checks the size of the whole.
pub(super) fn with_tags(metadata: Option<JsonText>, tags: &[String]) -> Result<Option<JsonText>, Error> {
    let metadata = if tags.is_empty() { metadata } else { Some(tagged(metadata.as_ref(), tags)?) };
    if let Some(text) = &metadata {
        let bytes = text.as_str().len();
        if bytes > MAX_BYTES {
            return Err(invalid(format!("the metadata is {bytes} bytes of JSON, the limit is {MAX_BYTES}")));
        }
    }
    Ok(metadata)
}

fn tagged(metadata: Option<&JsonText>, tags: &[String]) -> Result<JsonText, Error> {
    if tags.len() > MAX_TAGS {
        return Err(Error::new(code::TAG_INVALID, format!("a job has {} tags, the limit is {MAX_TAGS}", tags.len())));
    }
    for tag in tags {
        check::tag(tag)?;
    }
    let unreadable = |error: serde_json::Error| invalid(format!("the metadata does not read back: {error}"));
    let mut entries: BTreeMap<String, Box<RawValue>> = match metadata {
        Some(text) => serde_json::from_str(text.as_str()).map_err(unreadable)?,
        None => BTreeMap::new(),
    };
    let list = serde_json::value::to_raw_value(tags).map_err(unreadable)?;
    if entries.insert("tags".to_owned(), list).is_some() {
        return Err(invalid("the metadata has a key `tags`, which `.tag(..)` writes".to_owned()));
    }
    serde_json::to_string(&entries).map(JsonText::trusted).map_err(unreadable)
}

fn invalid(what: String) -> Error {
    Error::new(code::METADATA_INVALID, what)
}
