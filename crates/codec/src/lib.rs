//! The core of bsoap: a [`Plan`] says how messages are read and written, a [`Record`] holds the values of one.
//!
//! ```text
//! schema ──compiles──► Plan        text ──decode──► Record ──encode──► text
//! ```
//!
//! A Plan is built with [`plan::PlanBuilder`] and shared by `Arc`. How a message lies in a Record is described in
//! `docs/design/record-layout.md`.

#![forbid(unsafe_code)]

pub mod attachment;
pub mod decode;
pub mod encode;
mod escape;
mod expanded;
pub mod frame;
pub mod graph;
mod limits;
pub mod plan;
mod record;
pub mod repair;
mod value;

pub use attachment::Attachment;
pub use decode::{DecodeOptions, Decoder};
pub use encode::{EncodeOptions, Encoder, encode};
pub use plan::Plan;
pub use record::regions::{PathStep, Region, regions};
pub use record::{Column, HeapFull, Record, Scalar, WrongIdentity, marker};
pub use value::build::{
    self, Assembly, BuildError, BuildErrorKind, BuildOptions, build, build_leaf, build_with,
    replace_optional,
};
pub use value::convert::WrongKind;
pub use value::lexical::{AsText, Foreign};
pub use value::nearest::nearest;
pub use value::nillable::Nillable;
pub use value::octets::HexOctets;
pub use value::pack::{
    AttributeListPacker, NillablePacker, Octets, Pack, PackError, PackNillable, Packer, pack,
    pack_with,
};
pub use value::sample::{SampleTooLarge, sample, samples};
pub use value::serde_error::SerdeError;
pub use value::typed_serde;
pub use value::unpack::{
    AttributeListUnpacker, ElementState, NillableUnpacker, Unpack, UnpackNillable, Unpacker,
};
pub use value::view::{Field, Item, Items, Key, LeafView, Maker, Rows, TreeError, View};
pub use value::{MAX_DEPTH, Object, Text, Value};
