//! Hints: the sender gives the locations of its values in a header block that other receivers ignore. (The *Cache Parser* of
//! Lelli and Maron, "On Boosting the Web Service Performances for High Energy Experiments".)
//!
//! ```text
//! sender    values ──encode──► text and Outline ──► key, lengths ──► <b:hint key="…" at="…"/> between the slices of the text
//! receiver  key ──► skeleton ──► bytes between the values the same?  each value a lexical form of its type?  ──► Record
//!                       └ no skeleton, or a difference: a decoder reads the message, and a skeleton is made of it
//! ```
//!
//! A hint is never trusted: it selects a skeleton and gives locations, but every byte of the message is compared or read.
//! Values and errors are therefore those of a decoder. See `docs/design/hints.md`.

mod block;
mod outline;
mod reader;
mod skeleton;
mod skeletons;
mod writer;

pub use block::{Key, NAMESPACE};
pub use skeletons::{SkeletonCache, SkeletonCachePolicy, SkeletonCheckout};
pub use writer::{Hint, Writer};

pub use crate::stats::HintCounts;
