//! Sending: what of a message need not be converted to text again.

mod deflate;

pub use deflate::{Folded, Folds};
