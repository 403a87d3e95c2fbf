//! Writes the keys of maps: strings, and what JSON carries as a string without loss (integers, booleans, characters,
//! unit variants). Other keys are refused.

use super::writer::{Fault, Writer};
use serde::ser::{Impossible, Serialize, Serializer};

/// Encodes one key into the writer's text.
pub(super) struct KeyWriter<'w>(pub(super) &'w mut Writer);

fn refuse<T>() -> Result<T, Fault> {
    Err(Fault { what: "a map key that JSON cannot carry".to_owned(), path: String::new() })
}

macro_rules! display {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, value: $type) -> Result<(), Fault> {
            self.0.serialize_str(&value.to_string())
        })*
    };
}

impl Serializer for KeyWriter<'_> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Impossible<(), Fault>;
    type SerializeTuple = Impossible<(), Fault>;
    type SerializeTupleStruct = Impossible<(), Fault>;
    type SerializeTupleVariant = Impossible<(), Fault>;
    type SerializeMap = Impossible<(), Fault>;
    type SerializeStruct = Impossible<(), Fault>;
    type SerializeStructVariant = Impossible<(), Fault>;

    display!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char
    );

    fn serialize_str(self, value: &str) -> Result<(), Fault> {
        if value.as_bytes().contains(&0) {
            return Err(Fault { what: "NUL in a map key".to_owned(), path: String::new() });
        }
        self.0.serialize_str(value)
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), Fault> {
        self.0.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_f32(self, _value: f32) -> Result<(), Fault> {
        refuse()
    }

    fn serialize_f64(self, _value: f64) -> Result<(), Fault> {
        refuse()
    }

    fn serialize_bytes(self, _value: &[u8]) -> Result<(), Fault> {
        refuse()
    }

    fn serialize_none(self) -> Result<(), Fault> {
        refuse()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _value: &T) -> Result<(), Fault> {
        refuse()
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        refuse()
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Fault> {
        refuse()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<(), Fault> {
        refuse()
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq, Fault> {
        refuse()
    }

    fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple, Fault> {
        refuse()
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Self::SerializeTupleStruct, Fault> {
        refuse()
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleVariant, Fault> {
        refuse()
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap, Fault> {
        refuse()
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Self::SerializeStruct, Fault> {
        refuse()
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeStructVariant, Fault> {
        refuse()
    }
}
