//! What is remembered of an encoded message until it ends: references to simple values, and arrays with omitted items.

use std::collections::HashMap;

use crate::plan::LeafId;

/// What is remembered of an encoded message until it ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Links {
    /// The texts of the simple values that have an id.
    pub(super) values: HashMap<String, String>,
    /// The references to simple values.
    pub(super) pending: Vec<Pending>,
    /// The id of the open element.
    pub(super) current: Option<String>,
    /// The open arrays with an offset, or with positions of items.
    pub(super) arrays: Vec<OpenArray>,
    /// How many items have been omitted.
    pub(super) omitted: usize,
}

/// A reference to a simple value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pending {
    pub(super) slot: usize,
    pub(super) leaf: LeafId,
    pub(super) id: String,
    pub(super) path: String,
    pub(super) offset: u64,
}

/// An open array with an offset, or with positions of items.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenArray {
    /// How many levels of the stack are open with its element.
    pub(super) level: usize,
    /// The index of its first item.
    pub(super) offset: u64,
    /// The items with a position, each with those without one that follow.
    pub(super) runs: Vec<Run>,
}

/// Items that follow one another, from one with a position on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    /// Its first slot.
    pub(super) slot: usize,
    /// The number of items before it in the text.
    pub(super) item: u32,
    pub(super) position: u64,
}
