//! The fixed limits of the crate, in one table. What a user can set is in `LoadLimits`.

/// In positions, columns count characters up to this many bytes of a line, and bytes beyond that.
pub(crate) const MAX_COUNTED_COLUMN: usize = 4096;

/// The depth to which anonymous types are expanded in a signature.
pub(crate) const INLINE_DEPTH: usize = 3;

/// The depth to which a message is expanded in a tree.
pub(crate) const EXPANDED_DEPTH: usize = 12;

/// The number of lines to which a message is expanded in a tree.
pub(crate) const EXPANDED_LINES: usize = 400;

/// The maximum number of prefixes that messages take from the documents; further namespaces get numbered prefixes.
pub(crate) const MAX_PREFIXES: usize = 1000;

/// The check that a content model is deterministic is abandoned after this many pairs of positions and visits.
pub(crate) const MAX_DETERMINISM_EDGES: usize = 1_000_000;

/// After this many comparisons of two particles, a restriction is accepted without further checks.
pub(crate) const MAX_RESTRICTION_STEPS: usize = 2_000_000;
