//! The fixed limits of the crate. What a user can set is in `LoadLimits`.

/// In positions, columns count characters in the first bytes of a line, up to this number of bytes. Beyond it, they count
/// bytes.
pub(crate) const MAX_COUNTED_COLUMN: usize = 4096;

/// The maximum depth to which anonymous types are expanded in a signature.
pub(crate) const INLINE_DEPTH: usize = 3;

/// The maximum depth to which a message is expanded in an outline.
pub(crate) const EXPANDED_DEPTH: usize = 12;

/// The maximum number of members of the outline of a message.
pub(crate) const EXPANDED_LINES: usize = 400;

/// The maximum number of derived types that a line of an outline lists.
pub(crate) const LISTED_TYPES: usize = 8;

/// The maximum number of values of an enumeration that a line of an outline lists.
pub(crate) const LISTED_VALUES: usize = 32;

/// The maximum number of prefixes that messages take from the documents. Further namespaces get numbered prefixes.
pub(crate) const MAX_PREFIXES: usize = 1000;

/// The maximum number of pairs of positions and visits in the check that a content model is deterministic. Beyond it, the
/// check is abandoned.
pub(crate) const MAX_DETERMINISM_EDGES: usize = 1_000_000;

/// The maximum number of comparisons of two particles. Beyond it, a restriction is accepted without further checks.
pub(crate) const MAX_RESTRICTION_STEPS: usize = 2_000_000;
