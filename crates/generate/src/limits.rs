//! The defaults of the limits on what is generated.

/// The maximum number of fields and variants of all types together. Each takes some kilobytes until its code is written.
pub(crate) const MAX_MEMBERS: usize = 200_000;
