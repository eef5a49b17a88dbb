//! Header blocks as Rust values and dynamic ones, of requests and of answers.

use std::fmt;
use std::sync::Arc;

use bsoap_codec::repair::Repair;
use bsoap_codec::{
    DecodeOptions, Decoder, Item, Object, PackError, Record, Unpack, Value, View, decode,
};
use bsoap_protocol::header::{self, BlockAttributes};
use bsoap_schema::{Definitions, SoapVersion};

/// Why a header block is not the value that was asked for.
#[derive(Debug)]
pub(crate) enum BlockError {
    /// It does not match the Rust type.
    Type(String, PackError),
    /// It is not declared by the operation, nor by the schemas.
    Unknown(String),
    /// It does not match the schemas.
    Invalid(String, Box<decode::Error>),
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(name, error) => write!(f, "header block {name}: {error}"),
            Self::Unknown(name) => write!(
                f,
                "the schemas of the WSDL have no element for header block {name}, so it cannot be read as a Rust value"
            ),
            Self::Invalid(name, error) => write!(f, "header block {name}: {error}"),
        }
    }
}

impl std::error::Error for BlockError {}

/// Gives one of the header blocks of a message SOAP attributes. The error says what the block is that cannot have them.
pub(crate) fn set_attributes(
    headers: &mut Object,
    part: &str,
    attributes: &BlockAttributes,
    version: SoapVersion,
) -> Result<(), &'static str> {
    let Some(block) = headers.get_mut(part) else {
        return Err("is not set, so it cannot be given attributes");
    };
    let several = block.as_array().unwrap_or_default();
    if block.is_nil() || several.iter().any(Value::is_nil) {
        return Err("is nil, so it cannot be given attributes");
    }
    let plain = std::mem::take(block);
    *block = attributes.on(version, plain);
    Ok(())
}

/// By what an undeclared block is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schemas<'a> {
    pub(crate) definitions: &'a Definitions,
    pub(crate) version: SoapVersion,
    pub(crate) options: DecodeOptions,
}

/// A block as a Rust value. One of a simple type is read without the attributes that each block may have. One that is not
/// declared is read by the schemas.
pub(crate) fn unpack<T: Unpack>(
    schemas: Schemas<'_>,
    name: &str,
    block: Option<Item<'_>>,
) -> Result<Option<T>, BlockError> {
    match block {
        Some(Item::Element(view)) => unpack_view(&view).map(Some),
        Some(Item::Xml(xml)) => match undeclared(schemas, name, xml)? {
            Some(record) => unpack_view(&View::of(&record)).map(Some),
            None => Err(BlockError::Unknown(name.to_owned())),
        },
        _ => Ok(None),
    }
}

fn unpack_view<T: Unpack>(block: &View<'_>) -> Result<T, BlockError> {
    let unpacked = match T::fingerprint() {
        None if block.leaf().is_some() => block.unpack_text(),
        _ => block.unpack(),
    };
    unpacked.map_err(|error| BlockError::Type(block.name().to_owned(), error))
}

/// A block as a dynamic value. One that the schemas do not know is its XML.
pub(crate) fn value(
    schemas: Schemas<'_>,
    name: &str,
    block: Option<Item<'_>>,
) -> Result<Option<Value>, BlockError> {
    Ok(match block {
        Some(Item::Element(view)) => Some(view.to_value().unwrap_or_default()),
        Some(Item::Xml(xml)) => Some(match undeclared(schemas, name, xml)? {
            Some(record) => View::of(&record).to_value().unwrap_or_default(),
            None => xml.into(),
        }),
        _ => None,
    })
}

/// The Record of an undeclared block. `None` if the schemas have no such element.
fn undeclared(schemas: Schemas<'_>, name: &str, xml: &str) -> Result<Option<Record>, BlockError> {
    let element = header::name_of_xml(xml)
        .and_then(|name| schemas.definitions.element(&name.namespace, &name.local));
    let plain = header::without_soap_attributes(schemas.version, xml);
    let (Some(element), Some(plain)) = (element, plain) else {
        return Ok(None);
    };
    let plan = Arc::clone(schemas.definitions.plan());
    let mut decoder = Decoder::new(plan, schemas.options);
    let decoded = Repair::default().decode(&mut decoder, element, plain.as_bytes());
    let decoded = decoded.map_err(|error| BlockError::Invalid(name.to_owned(), Box::new(error)));
    decoded.map(Some)
}
