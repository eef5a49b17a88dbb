//! Octets in Rust types: of base64Binary and of hexBinary, which have different lexical forms.

use std::fmt;
use std::str::FromStr;

use bsoap_datatypes::{LexicalError, binary};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::pack::{Octets, Pack, PackError, Packer};
use super::unpack::{Unpack, Unpacker};

/// Octets of hexBinary.
///
/// ```
/// use bsoap_codec::HexOctets;
///
/// let octets: HexOctets = "00fF".parse()?;
/// assert_eq!(octets, HexOctets(vec![0, 255]));
/// assert_eq!(octets.to_string(), "00FF");
/// # Ok::<(), bsoap_datatypes::LexicalError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HexOctets(pub Vec<u8>);

impl Pack for HexOctets {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.octets(&self.0);
    }

    fn is_scalar() -> bool {
        true
    }
}

impl Unpack for HexOctets {
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        from.octets().map(|octets| Self(octets.to_vec()))
    }

    fn is_scalar() -> bool {
        true
    }
}

macro_rules! octets {
    ($($ty:ident: $parse:path, $write:path;)*) => {$(
        impl FromStr for $ty {
            type Err = LexicalError;

            fn from_str(text: &str) -> Result<Self, LexicalError> {
                let mut octets = Vec::new();
                $parse(text.as_bytes(), &mut octets)?;
                Ok(Self(octets))
            }
        }

        /// The lexical form.
        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut text = Vec::new();
                $write(&self.0, &mut text);
                f.write_str(&String::from_utf8_lossy(&text))
            }
        }

        impl From<Vec<u8>> for $ty {
            fn from(octets: Vec<u8>) -> Self {
                Self(octets)
            }
        }

        impl From<$ty> for Vec<u8> {
            fn from(octets: $ty) -> Self {
                octets.0
            }
        }

        /// The lexical form; octets in formats that nobody reads.
        impl Serialize for $ty {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match serializer.is_human_readable() {
                    true => serializer.collect_str(self),
                    false => serializer.serialize_bytes(&self.0),
                }
            }
        }

        impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Read;

                impl<'de> Visitor<'de> for Read {
                    type Value = $ty;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("octets, or their text")
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$ty, E> {
                        text.parse().map_err(E::custom)
                    }

                    fn visit_bytes<E: Error>(self, octets: &[u8]) -> Result<$ty, E> {
                        Ok($ty(octets.to_vec()))
                    }

                    fn visit_byte_buf<E: Error>(self, octets: Vec<u8>) -> Result<$ty, E> {
                        Ok($ty(octets))
                    }

                    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<$ty, A::Error> {
                        let mut octets = Vec::new();
                        while let Some(octet) = items.next_element()? {
                            octets.push(octet);
                        }
                        Ok($ty(octets))
                    }
                }

                match deserializer.is_human_readable() {
                    true => deserializer.deserialize_any(Read),
                    false => deserializer.deserialize_byte_buf(Read),
                }
            }
        }
    )*};
}

octets! {
    Octets: binary::parse_base64, binary::write_base64;
    HexOctets: binary::parse_hex, binary::write_hex;
}
