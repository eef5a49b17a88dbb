//! Sending: what of a message need not be converted to text again.

mod deflate;
mod overlay;

pub use deflate::{Folded, Folds};
pub use overlay::{Cells, Layout, Number, Offer, Overlay, OverlayError, Piece, Row};
