//! Sending: what of a message need not be converted to text again. (HPDC-13)

mod batch;
mod build;
mod chunk;
mod compare;
mod digest;
mod dut_table;
mod gzip;
mod layout;
mod lexical;
mod needle;
mod overflow;
mod overlay;
mod padding;
mod patch;
mod plain;
mod policy;
mod relay;
mod restructure;
mod savings;
mod set;
mod shift;
mod similarity;
mod steal;
mod template;
mod templates;
mod update;

pub use gzip::{GzipCache, GzipStream};
#[doc(hidden)]
pub use layout::{ChunkLayout, ValueLayout};
pub use overlay::{Cells, Layout, Number, Offer, Overlay, OverlayError, Piece, Row};
pub use policy::{Chunks, Order, Pad, Policy, Steal, Stuffing};
pub use relay::Part;
pub use savings::Savings;
pub use set::SetError;
pub use template::{Match, Outgoing, Pieces, Template};
pub use templates::{
    NoTemplate, Sent, StreamKey, TemplateCache, TemplateCachePolicy, TemplateCheckout,
};

pub use crate::stats::SendCounts;
