//! The fixed limits of the commands, in one table.

/// The greatest index of a `name[index]=value` plus one: an index makes an array of that length.
pub(crate) const MAX_ELEMENTS: usize = 100_000;

/// Up to this number, an error lists all operations.
pub(crate) const MAX_LISTED_OPERATIONS: usize = 8;

/// `replay`: a smaller ratio of times is noise.
pub(crate) const MIN_GAIN: f64 = 1.05;

/// `replay`: how many tags ahead the end of a difference is searched.
pub(crate) const MAX_TAGS_AHEAD: usize = 32;
