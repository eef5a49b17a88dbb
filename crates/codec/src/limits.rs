//! The fixed limits on what is made from a schema alone: samples, and values that a message lacks. What a message may cost
//! is set by `DecodeOptions`; how deep values nest, by [`MAX_DEPTH`](crate::MAX_DEPTH).

/// `sample_bytes`: the size of a sample in bytes, as a rough count. Optional elements end at half of it.
pub(crate) const MAX_SAMPLE_BYTES: usize = 1 << 20;

/// `sample_steps`: the number of particles, attributes and derived types that are visited for a sample. A schema can have
/// many of them without one byte of the sample.
pub(crate) const MAX_SAMPLE_STEPS: usize = 4_000_000;

/// `filled_bytes`: the size of all values that a message lacks and that are filled in from the defaults of the schema, in bytes
/// of memory: `minOccurs` can be any number.
pub(crate) const MAX_FILLED_BYTES: usize = 16 << 20;

/// Types with more members than this are looked up in a set.
pub(crate) const FEW_KEYS: usize = 64;
