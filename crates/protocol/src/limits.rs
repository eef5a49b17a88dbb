//! The fixed limits of the crate.

/// The maximum number of bytes of namespace declarations that are copied into the elements of a fault's detail. Each element
/// gets a copy of the declarations around it. Elements beyond the limit are kept without these declarations.
pub(crate) const MAX_COPIED_DECLARATIONS: usize = 1 << 20;

/// The maximum depth to which faults are read (`Envelope/Body/Fault/Code/Subcode/…/Value`). Deeper subcodes are dropped.
pub(crate) const MAX_FAULT_DEPTH: usize = 24;

/// The maximum number of known names that an error message lists. If there are more, it lists only the most similar ones.
pub(crate) const MAX_LISTED_NAMES: usize = 8;

/// The maximum number of elements that an error message about an empty Body lists.
pub(crate) const MAX_LISTED_ELEMENTS: usize = 8;

/// The most reference parameters of an endpoint. Each becomes a header block of the answer, which is several times longer: a request
/// with thousands of them would make a service send far more than it received. By default, a Header may have as many blocks.
pub(crate) const MAX_REFERENCE_PARAMETERS: usize = 256;

/// Tags are counted only in messages of at most this many bytes, to find out whether the Header must be scanned. In longer ones
/// scanning the Header takes less time.
pub(crate) const MAX_COUNTED_BYTES: usize = 16 << 10;
