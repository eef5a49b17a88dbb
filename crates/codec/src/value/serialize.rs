//! Makes a [`Value`] of any Rust type with `serde::Serialize`, by the convention of JSON, but without JSON: numbers stay
//! exact, and arrays of numbers become arrays of numbers.

use std::fmt::Display;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::serde_error::SerdeError;
use super::{Object, Text, Value};

type Result<T = Value> = std::result::Result<T, SerdeError>;

impl Value {
    /// The value of a Rust type with `Serialize`. Fields are named as in JSON: `@name` is an attribute, `#text` is the value
    /// of an element with attributes, a sequence is a repeated element, `None` is an absent or nil element.
    ///
    /// ```
    /// use bsoap_codec::Value;
    /// use serde::Serialize;
    ///
    /// #[derive(Serialize)]
    /// struct Price { #[serde(rename = "@currency")] currency: String, #[serde(rename = "#text")] amount: f64 }
    ///
    /// let price = Value::from_serialize(&Price { currency: "EUR".into(), amount: 2.5 })?;
    /// assert_eq!(price.to_json(), r##"{"@currency":"EUR","#text":2.5}"##);
    /// assert_eq!(Value::from_serialize(&[1.5, f64::INFINITY])?.as_doubles(), Some(&[1.5, f64::INFINITY][..]));
    /// # Ok::<(), bsoap_codec::SerdeError>(())
    /// ```
    ///
    /// # Errors
    /// If the `Serialize` implementation fails, or a map has keys that are no texts.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result {
        value.serialize(ToValue)
    }
}

/// Serializes to a [`Value`].
struct ToValue;

impl Serializer for ToValue {
    type Ok = Value;
    type Error = SerdeError;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Variant<Items>;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Variant<Members>;

    fn serialize_bool(self, value: bool) -> Result {
        Ok(value.into())
    }

    fn serialize_i8(self, value: i8) -> Result {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i16(self, value: i16) -> Result {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i32(self, value: i32) -> Result {
        Ok(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result {
        Ok(value.into())
    }

    /// Larger integers are texts, as those of `xs:integer` are.
    fn serialize_i128(self, value: i128) -> Result {
        Ok(i64::try_from(value).map_or_else(|_| value.to_string().into(), Value::Int))
    }

    fn serialize_u8(self, value: u8) -> Result {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u16(self, value: u16) -> Result {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u32(self, value: u32) -> Result {
        Ok(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result {
        Ok(value.into())
    }

    fn serialize_u128(self, value: u128) -> Result {
        Ok(u64::try_from(value).map_or_else(|_| value.to_string().into(), Value::from))
    }

    fn serialize_f32(self, value: f32) -> Result {
        Ok(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result {
        Ok(value.into())
    }

    fn serialize_char(self, value: char) -> Result {
        Ok(Value::from(&*value.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, value: &str) -> Result {
        Ok(value.into())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result {
        Ok(value.to_vec().into())
    }

    fn serialize_none(self) -> Result {
        Ok(Value::Nil)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result {
        Ok(Value::Nil)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result {
        Ok(Value::Object(Object::new()))
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result {
        let value = value
            .serialize(self)
            .map_err(|error| error.inside(variant))?;
        Ok(Value::object([(variant, value)]))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items> {
        Ok(Items::default())
    }

    fn serialize_tuple(self, _: usize) -> Result<Items> {
        Ok(Items::default())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items> {
        Ok(Items::default())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Variant<Items>> {
        let contents = Items::default();
        Ok(Variant { variant, contents })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members> {
        Ok(Members::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members> {
        Ok(Members::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Variant<Members>> {
        let contents = Members::default();
        Ok(Variant { variant, contents })
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result {
        Ok(Value::Text(compact_str::format_compact!("{value}")))
    }
}

/// An array that is being made. It is an array of numbers as long as all its values are numbers of one kind.
#[derive(Default)]
struct Items(Option<Value>);

impl Items {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let len = self.0.as_ref().map_or(0, Value::len);
        let value = value
            .serialize(ToValue)
            .map_err(|error| error.inside_item(len))?;
        match (&mut self.0, value) {
            (Some(Value::Doubles(numbers)), Value::Double(number)) => numbers.push(number),
            (Some(Value::Floats(numbers)), Value::Float(number)) => numbers.push(number),
            (Some(Value::Ints(numbers)), Value::Int(number)) => numbers.push(number),
            (Some(Value::Array(values)), value) => values.push(value),
            (Some(numbers), value) => {
                let values = numbers.items().map(std::borrow::Cow::into_owned);
                self.0 = Some(Value::Array(values.chain([value]).collect()));
            }
            (none, value) => {
                *none = Some(match value {
                    Value::Double(number) => Value::Doubles(vec![number]),
                    Value::Float(number) => Value::Floats(vec![number]),
                    Value::Int(number) => Value::Ints(vec![number]),
                    value => Value::Array(vec![value]),
                });
            }
        }
        Ok(())
    }

    fn finish(self) -> Value {
        self.0.unwrap_or_else(|| Value::Array(Vec::new()))
    }
}

/// An object that is being made.
#[derive(Default)]
struct Members {
    object: Object,
    key: Text,
}

impl Members {
    fn add<T: Serialize + ?Sized>(&mut self, key: Text, value: &T) -> Result<()> {
        let value = value
            .serialize(ToValue)
            .map_err(|error| error.inside(&key))?;
        self.object.insert(key, value);
        Ok(())
    }

    fn finish(self) -> Value {
        Value::Object(self.object)
    }
}

/// The contents of an enum's variant, which become the only member of an object.
struct Variant<C> {
    variant: &'static str,
    contents: C,
}

macro_rules! items {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait for Items {
            type Ok = Value;
            type Error = SerdeError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.add(value)
            }

            fn end(self) -> Result {
                Ok(self.finish())
            }
        }
    )*};
}

items!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field);

impl SerializeTupleVariant for Variant<Items> {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let added = self.contents.add(value);
        added.map_err(|error| error.inside(self.variant))
    }

    fn end(self) -> Result {
        Ok(Value::object([(self.variant, self.contents.finish())]))
    }
}

impl SerializeMap for Members {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.key = match key.serialize(ToValue)? {
            Value::Text(key) => key,
            Value::Int(key) => compact_str::format_compact!("{key}"),
            other => {
                return Err(serde::ser::Error::custom(format_args!(
                    "the key of a map is {}, but names are texts",
                    other.kind()
                )));
            }
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let key = std::mem::take(&mut self.key);
        self.add(key, value)
    }

    fn end(self) -> Result {
        Ok(self.finish())
    }
}

impl SerializeStruct for Members {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<()> {
        self.add(Text::const_new(key), value)
    }

    fn end(self) -> Result {
        Ok(self.finish())
    }
}

impl SerializeStructVariant for Variant<Members> {
    type Ok = Value;
    type Error = SerdeError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<()> {
        let added = self.contents.add(Text::const_new(key), value);
        added.map_err(|error| error.inside(self.variant))
    }

    fn end(self) -> Result {
        Ok(Value::object([(self.variant, self.contents.finish())]))
    }
}
