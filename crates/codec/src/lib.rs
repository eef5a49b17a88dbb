//! The waist of bsoap: a [`Plan`] says how messages are read and written, a [`Record`] holds the values of one.
//!
//! ```text
//! schema ──compiles──► Plan        text ──decode──► Record ──encode──► text
//! ```
//!
//! A Plan is built with [`plan::PlanBuilder`] and shared by `Arc`. How a message lies in a Record is told in
//! `docs/design/record-layout.md`.

#![forbid(unsafe_code)]

pub mod build;
pub mod decode;
pub mod encode;
mod escape;
mod expanded;
mod fingerprint;
pub mod frame;
mod json;
mod kept;
mod nearest;
mod pack;
mod path;
pub mod plan;
mod record;
mod regions;
mod sample;
mod shape;
mod unpack;
mod value;
mod view;
mod walk;

pub use build::{BuildError, BuildErrorKind, BuildOptions, build, build_leaf, build_with};
pub use decode::{DecodeOptions, Decoder};
pub use encode::{EncodeOptions, Encoder, encode};
pub use nearest::nearest;
pub use pack::{Octets, Pack, PackError, Packer, pack, pack_with};
pub use plan::Plan;
pub use record::{Column, HeapFull, Record, Scalar, marker};
pub use regions::{Region, regions};
pub use sample::sample;
pub use unpack::{State, Unpack, Unpacker};
pub use value::{MAX_DEPTH, Object, Value};
pub use view::{Item, Items, LeafView, Rows, TreeError, View};
