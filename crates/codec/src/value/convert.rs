//! Conversions between values and the types of Rust's standard library.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Object, Text, Value};

/// The value as JSON, on one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

macro_rules! from {
    ($($ty:ty => |$value:ident| $make:expr;)*) => {$(
        impl From<$ty> for Value {
            fn from($value: $ty) -> Self {
                $make
            }
        }
    )*};
}

from! {
    i8 => |value| Self::Int(value.into());
    i16 => |value| Self::Int(value.into());
    isize => |value| Self::Int(value as i64); // no target has wider ones
    u8 => |value| Self::Int(value.into());
    u16 => |value| Self::Int(value.into());
    usize => |value| Self::from(value as u64);
    char => |value| Self::from(&*value.encode_utf8(&mut [0; 4]));
    &String => |value| Self::Text(value.into());
    Box<str> => |value| Self::Text(value.into());
    Cow<'_, str> => |value| Self::Text(value.into());
    &[u8] => |value| Self::Bytes(value.to_vec());
    &[f64] => |value| Self::Doubles(value.to_vec());
    &[f32] => |value| Self::Floats(value.to_vec());
    &[i64] => |value| Self::Ints(value.to_vec());
    &[i32] => |value| Self::Ints(value.iter().map(|&value| value.into()).collect());
    &[&str] => |value| Self::Array(value.iter().map(|&value| value.into()).collect());
    &[String] => |value| Self::Array(value.iter().map(Into::into).collect());
    Vec<&str> => |value| Self::Array(value.into_iter().map(Into::into).collect());
    Vec<String> => |value| Self::Array(value.into_iter().map(Into::into).collect());
    Vec<bool> => |value| Self::Array(value.into_iter().map(Into::into).collect());
    Vec<u32> => |value| Self::Ints(value.into_iter().map(Into::into).collect());
    Vec<u64> => |value| Self::Array(value.into_iter().map(Into::into).collect());
    Vec<Object> => |value| Self::Array(value.into_iter().map(Into::into).collect());
    serde_json::Value => |value| Self::from_json(value);
    // An `xs:duration`.
    Duration => |value| Self::Text(duration(value));
    // An `xs:dateTime` in UTC.
    SystemTime => |value| Self::Text(date_time(value));
}

impl<T: Clone, const N: usize> From<[T; N]> for Value
where
    for<'t> Value: From<&'t [T]>,
{
    fn from(values: [T; N]) -> Self {
        Self::from(&values[..])
    }
}

impl<T: Clone, const N: usize> From<&[T; N]> for Value
where
    for<'t> Value: From<&'t [T]>,
{
    fn from(values: &[T; N]) -> Self {
        Self::from(&values[..])
    }
}

impl<K: Into<Text>, V: Into<Value>> From<BTreeMap<K, V>> for Value {
    fn from(members: BTreeMap<K, V>) -> Self {
        Self::object(members.into_iter().map(|(key, value)| (key, value.into())))
    }
}

/// The members are in no particular order.
impl<K: Into<Text>, V: Into<Value>> From<HashMap<K, V>> for Value {
    fn from(members: HashMap<K, V>) -> Self {
        Self::object(members.into_iter().map(|(key, value)| (key, value.into())))
    }
}

/// As [`Value::to_json`]: octets are texts, so are INF and NaN.
impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            // The nearest `f64` would have other digits.
            Value::Float(number) if number.is_finite() => {
                number.to_string().parse::<f64>().unwrap_or_default().into()
            }
            Value::Floats(_) | Value::Array(_) => {
                Self::Array(value.items().map(|item| Self::from(&*item)).collect())
            }
            Value::Object(object) => {
                let members = object.iter();
                Self::Object(
                    members
                        .map(|(key, value)| (key.to_owned(), value.into()))
                        .collect(),
                )
            }
            other => serde_json::to_value(other).unwrap_or_default(),
        }
    }
}

/// A [`Value`] does not have the type that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrongKind {
    /// The type that was asked for.
    pub expected: &'static str,
    /// The kind of value that it is.
    pub found: &'static str,
}

impl fmt::Display for WrongKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for WrongKind {}

macro_rules! try_from {
    ($($ty:ty, $expected:literal => |$value:ident| $make:expr;)*) => {$(
        impl TryFrom<&Value> for $ty {
            type Error = WrongKind;

            fn try_from($value: &Value) -> Result<Self, WrongKind> {
                let made: Option<Self> = $make;
                made.ok_or(WrongKind { expected: $expected, found: $value.kind() })
            }
        }

        impl TryFrom<Value> for $ty {
            type Error = WrongKind;

            fn try_from(value: Value) -> Result<Self, WrongKind> {
                Self::try_from(&value)
            }
        }
    )*};
}

/// The numbers of an array of any kind.
fn all<T>(value: &Value, one: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    if !value.is_array() {
        return None;
    }
    value.items().map(|item| one(&item)).collect()
}

try_from! {
    bool, "a boolean" => |value| value.as_bool();
    i64, "an integer of 64 bits" => |value| value.as_i64();
    i32, "an integer of 32 bits" => |value| value.as_i64().and_then(|it| it.try_into().ok());
    u64, "an integer that is not negative" => |value| value.as_u64();
    u32, "an integer of 32 bits that is not negative" => |value| value.as_u64().and_then(|it| it.try_into().ok());
    usize, "an integer that is not negative" => |value| value.as_u64().and_then(|it| it.try_into().ok());
    f64, "a number" => |value| value.as_f64();
    String, "a text" => |value| value.as_str().map(str::to_owned);
    PathBuf, "a text" => |value| value.as_str().map(PathBuf::from);
    Vec<u8>, "octets" => |value| value.as_bytes().map(<[u8]>::to_vec);
    Vec<f64>, "an array of numbers" => |value| match value {
        Value::Doubles(numbers) => Some(numbers.clone()),
        other => all(other, Value::as_f64),
    };
    Vec<i64>, "an array of integers" => |value| all(value, Value::as_i64);
    Vec<String>, "an array of texts" => |value| all(value, |item| item.as_str().map(str::to_owned));
    Object, "an object" => |value| value.as_object().cloned();
}

macro_rules! from_path {
    ($($ty:ty),*) => {$(
        /// It is an error if the path is not Unicode.
        impl TryFrom<$ty> for Value {
            type Error = WrongKind;

            fn try_from(path: $ty) -> Result<Self, WrongKind> {
                path.to_str().map(Self::from).ok_or(WrongKind {
                    expected: "a text",
                    found: "a path that is not Unicode",
                })
            }
        }
    )*};
}

from_path!(&Path, PathBuf);

/// The lexical form of an `xs:duration`, in seconds.
fn duration(value: Duration) -> Text {
    let mut text = compact_str::format_compact!("PT{}", value.as_secs());
    push_fraction(&mut text, value.subsec_nanos());
    text.push('S');
    text
}

/// The lexical form of an `xs:dateTime` in UTC.
fn date_time(value: SystemTime) -> Text {
    let (seconds, nanoseconds) = match value.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => (i128::from(since.as_secs()), since.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            let seconds = -i128::from(before.as_secs());
            match before.subsec_nanos() {
                0 => (seconds, 0),
                nanoseconds => (seconds - 1, 1_000_000_000 - nanoseconds),
            }
        }
    };
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    // There is no year 0000: 1 BC is -0001.
    let year = if year <= 0 { year - 1 } else { year };
    let sign = if year < 0 { "-" } else { "" };
    let mut text = compact_str::format_compact!(
        "{sign}{:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        year.unsigned_abs(),
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    push_fraction(&mut text, nanoseconds);
    text.push('Z');
    text
}

/// The year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
///
/// Years begin in March here, so that the leap day is the last of a year; an era is 400 years.
fn date(days: i128) -> (i128, i128, i128) {
    let days = days + 719_468; // since 0000-03-01
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + next, month, day)
}

fn push_fraction(text: &mut Text, nanoseconds: u32) {
    if nanoseconds > 0 {
        let digits = compact_str::format_compact!(".{nanoseconds:09}");
        text.push_str(digits.trim_end_matches('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_lexical_forms_of_xml_schema() {
        let at = |seconds: i64, nanoseconds: u32| {
            let whole = Duration::from_secs(seconds.unsigned_abs());
            let time = match seconds < 0 {
                true => SystemTime::UNIX_EPOCH - whole,
                false => SystemTime::UNIX_EPOCH + whole,
            };
            Value::from(time + Duration::from_nanos(nanoseconds.into()))
        };
        for (seconds, nanoseconds, text) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (951_782_400, 500_000_000, "2000-02-29T00:00:00.5Z"),
            (-1, 1, "1969-12-31T23:59:59.000000001Z"),
            (-2_203_891_200, 0, "1900-03-01T00:00:00Z"),
            (1_767_225_599, 0, "2025-12-31T23:59:59Z"),
        ] {
            assert_eq!(at(seconds, nanoseconds).as_str(), Some(text));
        }
        assert_eq!(
            Value::from(Duration::from_millis(90_250)).as_str(),
            Some("PT90.25S")
        );
        assert_eq!(Value::from(Duration::ZERO).as_str(), Some("PT0S"));
    }

    #[test]
    fn values_convert_from_and_to_the_types_of_rust() {
        assert_eq!(Value::from([1.5, 2.5]), Value::Doubles(vec![1.5, 2.5]));
        assert_eq!(Value::from(&[1i64, 2]), Value::Ints(vec![1, 2]));
        assert_eq!(Value::from(usize::MAX).as_u64(), Some(usize::MAX as u64));
        assert_eq!(Value::from(&b"ab"[..]), Value::Bytes(b"ab".to_vec()));
        assert_eq!(Value::try_from(Path::new("a/b")), Ok(Value::from("a/b")));
        assert_eq!(
            Vec::<f64>::try_from(Value::from([1i64, 2])),
            Ok(vec![1.0, 2.0])
        );
        let error = i32::try_from(Value::from(1i64 << 40)).expect_err("too large");
        assert_eq!(
            error.to_string(),
            "expected an integer of 32 bits, found an integer"
        );
        let value = Value::object([("a", Value::from(0.1f32)), ("b", Value::from(vec![1u8, 2]))]);
        let json = serde_json::Value::from(&value);
        assert_eq!(json, serde_json::json!({"a": 0.1, "b": "AQI="}));
        assert_eq!(Value::from(json)["a"].as_f64(), Some(0.1));
        assert_eq!(value["b"].to_string(), r#""AQI=""#);
    }
}
