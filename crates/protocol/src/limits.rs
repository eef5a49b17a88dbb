//! The fixed limits of the crate, in one table.

/// Bytes of namespace declarations copied to the elements of a fault's detail: each element gets a copy of those that are declared
/// around it. Beyond that, elements are kept without.
pub(crate) const MAX_COPIED_DECLARATIONS: usize = 1 << 20;

/// The depth to which faults are read, `Envelope/Body/Fault/Code/Subcode/…/Value`: deeper subcodes are not kept.
pub(crate) const MAX_FAULT_DEPTH: usize = 24;

/// Messages list up to this many known names; of more, only the most similar.
pub(crate) const MAX_LISTED_NAMES: usize = 8;
