//! The waist of bsoap: a [`Plan`] says how messages are read and written, a [`Record`] holds the values of one.
//!
//! ```text
//! schema ──compiles──► Plan        text ──decode──► Record + Index ──encode──► text
//! ```
//!
//! A Plan is built with [`plan::PlanBuilder`] and shared by `Arc`. How a message lies in a Record is told in
//! `docs/design/record-layout.md`.

#![forbid(unsafe_code)]

pub mod decode;
mod index;
pub mod plan;
mod record;

pub use decode::{DecodeOptions, Decoder};
pub use index::{Index, Place};
pub use plan::Plan;
pub use record::{Column, HeapFull, Record, Scalar, marker};
