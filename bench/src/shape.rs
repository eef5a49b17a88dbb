//! Shapes: what kind of values a workload has, and the seeded generators of them.
//!
//! The first n values of a shape are the same for every N, so `dhard/100` is the beginning of
//! `dhard/100000`.

use serde::Deserialize;

use crate::encoded::distinct;
use crate::order::{Order, Reading};
use crate::random::Random;

/// The kinds of values.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    /// Doubles over all finite exponents, random bits, 17 significant digits.
    Dhard,
    /// Doubles uniform in [0, 1), 17 significant digits.
    Dunit,
    /// Short decimals with two places, 10.00 to 999.99.
    Dsmall,
    /// Integers, uniform over all of 32 bits.
    Int,
    /// Mesh interface objects {int x, int y, double value}: x and y below a million, value as in `dhard`.
    Mio,
    /// Samples of a sensor, ten seconds apart: the time in an attribute, a value as in `dsmall`.
    Samples,
    /// Words of 5 to 40 characters; one in eight has `&` or `<`, one in eight something beyond ASCII.
    String,
    /// A sensor's reading: a SOAP document of 13 elements, about 800 bytes.
    Small,
    /// An order: about 40 nested fields of all common types, optional parts present and absent, 10 lines.
    Order,
    /// What a real client and a real server said, as somebody recorded it: small messages of one rpc/encoded operation.
    Polling,
    /// The doubles of `dhard` in an rpc/encoded message.
    Encoded,
    /// The same, with the type of each item in its start tag.
    Typed,
    /// References of an rpc/encoded message to mesh interface objects, each of which is shared by two.
    Shared,
    /// Octets, as base64Binary.
    Base64,
    /// Octets, as hexBinary.
    Hex,
}

impl Shape {
    /// As in a case's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dhard => "dhard",
            Self::Dunit => "dunit",
            Self::Dsmall => "dsmall",
            Self::Int => "int",
            Self::Mio => "mio",
            Self::Samples => "samples",
            Self::String => "string",
            Self::Small => "small",
            Self::Order => "order",
            Self::Polling => "polling",
            Self::Encoded => "encoded",
            Self::Typed => "typed",
            Self::Shared => "shared",
            Self::Base64 => "base64",
            Self::Hex => "hex",
        }
    }

    /// The local name of the element in the body of its messages.
    pub(crate) fn body_element(self) -> &'static str {
        match self {
            Self::Dhard | Self::Dunit | Self::Dsmall | Self::Encoded | Self::Typed => "doubles",
            Self::Int => "ints",
            Self::Mio | Self::Shared => "mesh",
            Self::Samples => "samples",
            Self::String => "strings",
            Self::Small => "reading",
            Self::Order => "order",
            Self::Polling | Self::Base64 | Self::Hex => "",
        }
    }

    /// Whether its messages are rpc/encoded.
    pub(crate) fn is_encoded(self) -> bool {
        matches!(self, Self::Encoded | Self::Typed | Self::Shared)
    }

    /// Its first `count` values.
    pub(crate) fn generate(self, count: usize) -> Values {
        let mut random = Random::new(2005 + self as u64);
        let mut many = |mut one: Box<dyn FnMut(&mut Random) -> f64>| {
            Values::Doubles((0..count).map(|_| one(&mut random)).collect())
        };
        match self {
            Self::Dhard | Self::Encoded | Self::Typed => many(Box::new(any_double)),
            Self::Dunit => many(Box::new(Random::unit)),
            Self::Dsmall => many(Box::new(small_double)),
            Self::Int => Values::Ints((0..count).map(|_| random.bits() as i32).collect()),
            Self::Mio => Values::Mesh((0..count).map(|_| mesh(&mut random)).collect()),
            Self::Shared => {
                let values: Vec<_> = (0..distinct(count)).map(|_| mesh(&mut random)).collect();
                Values::Mesh(values.iter().cycle().take(count).copied().collect())
            }
            Self::Samples => {
                let value = |_| small_double(&mut random);
                let sample = |(number, value)| Sample { number, value };
                Values::Samples((0..).zip((0..count).map(value)).map(sample).collect())
            }
            Self::String => Values::Strings((0..count).map(|_| word(&mut random)).collect()),
            Self::Small => {
                Values::Readings((0..count).map(|_| Reading::generate(&mut random)).collect())
            }
            Self::Order => {
                Values::Orders((0..count).map(|_| Order::generate(&mut random)).collect())
            }
            Self::Polling => Values::Recorded,
            Self::Base64 | Self::Hex => {
                Values::Octets((0..count).map(|_| random.bits() as u8).collect())
            }
        }
    }
}

/// The values of a workload.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    Doubles(Vec<f64>),
    Ints(Vec<i32>),
    Mesh(Vec<Mesh>),
    Samples(Vec<Sample>),
    Strings(Vec<String>),
    Readings(Vec<Reading>),
    Orders(Vec<Order>),
    /// Messages of a recorded session, of which there is only the text.
    Recorded,
    Octets(Vec<u8>),
}

impl Values {
    /// A part of them.
    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> Self {
        match self {
            Self::Doubles(values) => Self::Doubles(values[range].to_vec()),
            Self::Ints(values) => Self::Ints(values[range].to_vec()),
            Self::Mesh(values) => Self::Mesh(values[range].to_vec()),
            Self::Samples(values) => Self::Samples(values[range].to_vec()),
            Self::Strings(values) => Self::Strings(values[range].to_vec()),
            Self::Readings(values) => Self::Readings(values[range].to_vec()),
            Self::Orders(values) => Self::Orders(values[range].to_vec()),
            Self::Recorded => Self::Recorded,
            Self::Octets(values) => Self::Octets(values[range].to_vec()),
        }
    }
}

/// A mesh interface object.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mesh {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) value: f64,
}

/// A sample of a sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// They are taken ten seconds apart.
    number: u32,
    pub(crate) value: f64,
}

impl Sample {
    /// When it was taken, as a dateTime.
    pub(crate) fn time(&self) -> String {
        let seconds = 10 * u64::from(self.number);
        let (minutes, hours) = (seconds / 60, seconds / 3600);
        let (second, minute, hour) = (seconds % 60, minutes % 60, hours % 24);
        let day = 1 + hours / 24 % 28;
        format!("2026-11-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

fn small_double(random: &mut Random) -> f64 {
    random.between(1000, 99_999) as f64 / 100.0
}

/// Random bits until they are a finite number.
fn any_double(random: &mut Random) -> f64 {
    loop {
        let value = f64::from_bits(random.bits());
        if value.is_finite() {
            return value;
        }
    }
}

fn mesh(random: &mut Random) -> Mesh {
    Mesh {
        x: random.below(1_000_000) as i32,
        y: random.below(1_000_000) as i32,
        value: any_double(random),
    }
}

/// A word of 5 to 40 characters.
fn word(random: &mut Random) -> String {
    let length = random.between(5, 40) as usize;
    let mut word: Vec<char> = (0..length)
        .map(|_| char::from(b'a' + random.below(26) as u8))
        .collect();
    let place = random.below(length as u64) as usize;
    match random.below(8) {
        0 => word[place] = if random.once_in(2) { '&' } else { '<' },
        1 => word[place] = ['é', 'ß', 'Ω', '語', '🜂'][random.below(5) as usize],
        _ => {}
    }
    word.into_iter().collect()
}

/// A double with 17 significant digits, as C's `%.17g` writes it.
pub(crate) fn seventeen_digits(value: f64) -> String {
    let scientific = format!("{value:.16e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..17).contains(&exponent) {
        let fixed = format!("{value:.*}", (16 - exponent) as usize);
        return if fixed.contains('.') {
            fixed.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            fixed
        };
    }
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    format!(
        "{digits}e{}{:02}",
        if exponent < 0 { '-' } else { '+' },
        exponent.abs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventeen_digits_are_written_as_c_writes_them() {
        let cases = [
            (0.1, "0.10000000000000001"),
            (1.0, "1"),
            (-1234.5, "-1234.5"),
            (1e-5, "1.0000000000000001e-05"),
            (0.0001, "0.0001"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (f64::MAX, "1.7976931348623157e+308"),
        ];
        for (value, text) in cases {
            assert_eq!(seventeen_digits(value), text);
        }
    }

    #[test]
    fn fewer_values_are_the_beginning_of_more() {
        let (Values::Doubles(few), Values::Doubles(many)) =
            (Shape::Dhard.generate(3), Shape::Dhard.generate(30))
        else {
            panic!("doubles")
        };
        assert_eq!(few, many[..3]);
    }
}
