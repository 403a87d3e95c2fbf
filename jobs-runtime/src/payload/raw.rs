//! Checks JSON text that a value carries ready-made: it is kept as written, so it is walked instead of encoded.

use super::writer::Fault;
use serde::{
    Serialize,
    de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor},
};
use std::fmt;

/// The deepest nesting around and inside raw text: what a parser still reads. It is more than an encoded value may
/// have, so that a follow-up can hold the whole payload of the job that it follows.
const MAX_DEPTH: usize = 126;

/// The text of a raw value, checked for NUL and for nesting deeper than what is left at its depth.
pub(super) fn checked<T: Serialize + ?Sized>(value: &T, depth: usize) -> Result<String, Fault> {
    let refuse = |what: String| Fault { what, path: String::new() };
    let text = match serde_json::to_value(value).map_err(|error| refuse(error.to_string()))? {
        serde_json::Value::String(text) => text,
        _ => return Err(refuse("raw JSON that is not text".to_owned())),
    };
    let mut parser = serde_json::Deserializer::from_str(&text);
    Walk { depth: MAX_DEPTH.saturating_sub(depth) }
        .deserialize(&mut parser)
        .and_then(|()| parser.end())
        .map_err(|error| refuse(error.to_string()))?;
    Ok(text)
}

#[derive(Clone, Copy)]
struct Walk {
    depth: usize,
}

impl Walk {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Self { depth }),
            None => Err(E::custom(format_args!("nesting deeper than {MAX_DEPTH}"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if text.as_bytes().contains(&0) { Err(E::custom("NUL in a string")) } else { Ok(()) }
    }

    fn visit_bool<E: Error>(self, _value: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _value: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _value: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _value: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let item = self.deeper()?;
        while items.next_element_seed(item)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let item = self.deeper()?;
        while entries.next_key_seed(item)?.is_some() {
            entries.next_value_seed(item)?;
        }
        Ok(())
    }
}
