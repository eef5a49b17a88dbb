//! What the integration tests, benchmarks and fuzz targets share: plans built in a few lines, random plans, random
//! messages of a plan, a giant WSDL, HAProxy as it is shipped, and a check that every way to decode a message gives the same
//! result.
//!
//! Unit tests inside `crates/*/src` cannot use this crate: it is built against the library, not against the library's
//! test build, so its types would not be the same.
//!
//! ```
//! use bsoap_datatypes::Datatype;
//! use bsoap_testkit::schema::{MANY, Schema};
//!
//! let mut schema = Schema::new();
//! let item = schema.field("item", Datatype::Double, MANY);
//! let (plan, root) = schema.rooted("items", vec![item]);
//! let mut decoder = bsoap_codec::Decoder::new(plan, Default::default());
//! let record = decoder.decode(root, b"<items><item>1.5</item></items>");
//! assert!(record.is_ok());
//! ```

pub mod decode_paths;
pub mod encoded;
pub mod giant;
#[cfg(unix)]
pub mod haproxy;
pub mod hint;
pub mod message;
pub mod plan;
pub mod random;
pub mod schema;
pub mod template;
