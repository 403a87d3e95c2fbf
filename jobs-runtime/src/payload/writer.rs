//! Writes a value as JSON text and refuses, with its path, what would not come back as it was. `serde_json` alone
//! writes a non-finite float as `null` and lets NUL and 128-bit integers pass.

use super::{
    path::{Path, Segment},
    raw,
};
use serde::ser::{self, Serialize};
use std::fmt::{self, Display};

/// The deepest nesting. The parser's own limit is 128.
pub(crate) const MAX_DEPTH: usize = 120;

/// How `serde_json` marks a value that is JSON text already.
const RAW: &str = "$serde_json::private::RawValue";
/// How `serde_json` marks a number of arbitrary precision.
const NUMBER: &str = "$serde_json::private::Number";

/// Why a value cannot be stored, and where in it.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) what: String,
    pub(crate) path: String,
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at `{}`", self.what, self.path)
    }
}

impl std::error::Error for Fault {}

impl ser::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self { what: message.to_string(), path: String::new() }
    }
}

/// Encodes a value as compact JSON.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<String, Fault> {
    let mut writer = Writer::default();
    match value.serialize(&mut writer) {
        Ok(()) => String::from_utf8(writer.text)
            .map_err(|_| Fault { what: "text that is not UTF-8".to_owned(), path: ".".to_owned() }),
        Err(mut fault) => {
            fault.path = writer.path.render(&writer.text);
            Err(fault)
        }
    }
}

/// The encoder: the text so far, and where it stands in the value.
#[derive(Default)]
pub(super) struct Writer {
    text: Vec<u8>,
    path: Path,
    depth: usize,
}

impl Writer {
    fn refuse<T>(&self, what: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { what: what.into(), path: String::new() })
    }

    fn push(&mut self, text: &str) -> Result<(), Fault> {
        self.text.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn push_str(&mut self, text: &str) -> Result<(), Fault> {
        if text.as_bytes().contains(&0) {
            return self.refuse("NUL in a string");
        }
        serde_json::to_writer(&mut self.text, text).map_err(ser::Error::custom)
    }

    fn push_float<F: Serialize>(&mut self, float: F, finite: bool) -> Result<(), Fault> {
        if !finite {
            return self.refuse("a number that is not finite");
        }
        serde_json::to_writer(&mut self.text, &float).map_err(ser::Error::custom)
    }

    fn open(&mut self, bracket: u8) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.refuse(format!("nesting deeper than {MAX_DEPTH}"));
        }
        self.text.push(bracket);
        Ok(())
    }

    fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        self.text.push(bracket);
    }

    fn separate(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.text.push(b',');
        }
    }

    fn value<T: Serialize + ?Sized>(&mut self, at: Segment, value: &T) -> Result<(), Fault> {
        self.path.enter(at);
        value.serialize(&mut *self)?;
        self.path.leave();
        Ok(())
    }

    fn open_variant(&mut self, variant: &'static str) -> Result<(), Fault> {
        self.path.enter(Segment::Field(variant));
        self.open(b'{')?;
        self.push_str(variant)?;
        self.text.push(b':');
        Ok(())
    }

    fn close_variant(&mut self) {
        self.close(b'}');
        self.path.leave();
    }
}

macro_rules! display {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, value: $type) -> Result<(), Fault> {
            self.push(&value.to_string())
        })*
    };
}

impl<'w> ser::Serializer for &'w mut Writer {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Compound<'w>;
    type SerializeTuple = Compound<'w>;
    type SerializeTupleStruct = Compound<'w>;
    type SerializeTupleVariant = Compound<'w>;
    type SerializeMap = Compound<'w>;
    type SerializeStruct = Compound<'w>;
    type SerializeStructVariant = Compound<'w>;

    display!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64
    );

    fn serialize_i128(self, value: i128) -> Result<(), Fault> {
        if i64::try_from(value).is_err() && u64::try_from(value).is_err() {
            return self.refuse("an integer outside the range of i64 and u64");
        }
        self.push(&value.to_string())
    }

    fn serialize_u128(self, value: u128) -> Result<(), Fault> {
        if u64::try_from(value).is_err() {
            return self.refuse("an integer outside the range of i64 and u64");
        }
        self.push(&value.to_string())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Fault> {
        self.push_float(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Fault> {
        self.push_float(value, value.is_finite())
    }

    fn serialize_char(self, value: char) -> Result<(), Fault> {
        self.push_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Fault> {
        self.push_str(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Fault> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Fault> {
        self.push("null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        self.push("null")
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Fault> {
        self.push("null")
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), Fault> {
        self.push_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.open_variant(variant)?;
        value.serialize(&mut *self)?;
        self.close_variant();
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Compound<'w>, Fault> {
        self.open(b'[')?;
        Ok(Compound::new(self, Shape::Seq))
    }

    fn serialize_tuple(self, len: usize) -> Result<Compound<'w>, Fault> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Compound<'w>, Fault> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'w>, Fault> {
        self.open_variant(variant)?;
        self.open(b'[')?;
        Ok(Compound::new(self, Shape::SeqVariant))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Compound<'w>, Fault> {
        self.open(b'{')?;
        Ok(Compound::new(self, Shape::Map))
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Compound<'w>, Fault> {
        if name == RAW || name == NUMBER {
            return Ok(Compound::new(self, Shape::Raw));
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'w>, Fault> {
        self.open_variant(variant)?;
        self.open(b'{')?;
        Ok(Compound::new(self, Shape::MapVariant))
    }
}

/// A sequence or map that is being written.
pub(super) struct Compound<'w> {
    writer: &'w mut Writer,
    shape: Shape,
    first: bool,
    index: usize,
    key: std::ops::Range<usize>,
}

enum Shape {
    Seq,
    SeqVariant,
    Map,
    MapVariant,
    Raw,
}

impl<'w> Compound<'w> {
    fn new(writer: &'w mut Writer, shape: Shape) -> Self {
        Self { writer, shape, first: true, index: 0, key: 0..0 }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.writer.separate(&mut self.first);
        self.writer.value(Segment::Index(self.index), value)?;
        self.index += 1;
        Ok(())
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
        if let Shape::Raw = self.shape {
            let text = raw::checked(value, self.writer.depth)?;
            return self.writer.push(&text);
        }
        self.writer.separate(&mut self.first);
        self.writer.push_str(name)?;
        self.writer.text.push(b':');
        self.writer.value(Segment::Field(name), value)
    }

    fn finish(self) -> Result<(), Fault> {
        match self.shape {
            Shape::Seq => self.writer.close(b']'),
            Shape::Map => self.writer.close(b'}'),
            Shape::SeqVariant => {
                self.writer.close(b']');
                self.writer.close_variant();
            }
            Shape::MapVariant => {
                self.writer.close(b'}');
                self.writer.close_variant();
            }
            Shape::Raw => {}
        }
        Ok(())
    }
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        self.writer.separate(&mut self.first);
        let from = self.writer.text.len();
        key.serialize(super::key::KeyWriter(&mut *self.writer))?;
        self.key = from..self.writer.text.len();
        self.writer.text.push(b':');
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.writer.value(Segment::Key(self.key.clone()), value)
    }

    fn end(self) -> Result<(), Fault> {
        self.finish()
    }
}

macro_rules! items {
    ($($trait:ident $method:ident),*) => {
        $(impl ser::$trait for Compound<'_> {
            type Ok = ();
            type Error = Fault;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                self.item(value)
            }

            fn end(self) -> Result<(), Fault> {
                self.finish()
            }
        })*
    };
}

items!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);

macro_rules! fields {
    ($($trait:ident),*) => {
        $(impl ser::$trait for Compound<'_> {
            type Ok = ();
            type Error = Fault;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Fault> {
                self.finish()
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);
