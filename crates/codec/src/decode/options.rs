//! What a decoder permits and checks.

use bsoap_xml::Limits;

use crate::value::MAX_DEPTH;

use super::tolerance::Deviations;

/// How a message is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// The limits that protect against hostile documents. By default elements nest no deeper than a [`Value`](crate::Value)
    /// can ([`MAX_DEPTH`]); deeper messages can only be read as Records.
    pub limits: Limits,
    /// How much is checked.
    pub validation: Validation,
    /// Which deviations from the schema are accepted, with a [warning](super::Warning) each: those of a
    /// [mode](super::Tolerance), or others.
    pub accepted: Deviations,
    /// How many warnings of a message are kept, the first ones; at least one. Default 100.
    pub warnings: usize,
    /// The largest number of slots of a Record, 8 bytes each. Default 2²⁷, which is 1 GiB. An absent element takes slots
    /// too, so a small message can need a large Record. The limit that applies is at most the number of bytes of
    /// [`Limits::total_size`] (or 2²⁰, if that is more), and at most 2³² - 1.
    pub record_slots: usize,
    /// The largest number of bytes of strings in a Record. Default 1 GiB. The limit that applies is at most twice
    /// [`Limits::total_size`] (or 1 MiB, if that is more), since a name is stored with its namespace and copied XML with
    /// its declarations, and at most 4 GiB.
    pub record_heap: usize,
    /// The largest number of bytes of a Record, its slots and its strings, for each byte of the message. Default 40. An array of
    /// elements with many optional children, nearly all absent, exceeds it. It applies to Records of more than
    /// [`record_floor`](Self::record_floor) bytes.
    pub record_per_byte: usize,
    /// Records of up to this number of bytes are accepted however short the message is. Default 16 MiB.
    pub record_floor: usize,
    /// How many violations [`validate`](super::Decoder::validate) collects. Default 100.
    pub violations: usize,
    /// The largest number of bytes that references of an encoded message to simple values may add. Default 64 MiB.
    pub reference_expansion: usize,
    /// The largest number of items that the arrays of an encoded message may omit by their offsets and positions. Default
    /// 2²⁰.
    pub omitted_items: usize,
    /// Whether a whole message is read. Otherwise what depends on other parts of the message is refused.
    pub(crate) is_whole: bool,
    /// Whether the fast path is used, which recognises known tags by their bytes. The result is the same; only tests turn
    /// it off.
    pub fast: Fast,
}

impl DecodeOptions {
    /// The names of the limits. Errors have them, except `record_floor`, below which `record_per_byte` does not apply.
    pub const LIMITS: [&str; 14] = [
        "depth",
        "attributes",
        "name_length",
        "text_length",
        "markup_length",
        "total_size",
        "namespaces",
        "entity_expansion",
        "record_slots",
        "record_heap",
        "record_per_byte",
        "record_floor",
        "reference_expansion",
        "omitted_items",
    ];

    /// Sets the limit of this name. Returns `false` if there is none.
    ///
    /// ```
    /// use bsoap_codec::DecodeOptions;
    ///
    /// let mut options = DecodeOptions::default();
    /// assert!(options.set_limit("omitted_items", 1000) && options.omitted_items == 1000);
    /// assert!(options.set_limit("depth", 50) && options.limits.depth == 50);
    /// assert!(!options.set_limit("dept", 50));
    /// ```
    pub fn set_limit(&mut self, name: &str, value: u64) -> bool {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match name {
            "depth" => self.limits.depth = size,
            "attributes" => self.limits.attributes = size,
            "name_length" => self.limits.name_length = size,
            "text_length" => self.limits.text_length = size,
            "markup_length" => self.limits.markup_length = size,
            "total_size" => self.limits.total_size = value,
            "namespaces" => self.limits.namespaces = size,
            "entity_expansion" => self.limits.entity_expansion = size,
            "record_slots" => self.record_slots = size,
            "record_heap" => self.record_heap = size,
            "record_per_byte" => self.record_per_byte = size,
            "record_floor" => self.record_floor = size,
            "reference_expansion" => self.reference_expansion = size,
            "omitted_items" => self.omitted_items = size,
            _ => return false,
        }
        true
    }

    /// The options with the limits of a Record that apply, given how long a message may be.
    pub(super) fn fitted(mut self) -> Self {
        const LITTLE: u64 = 1 << 20;
        const FITS: u64 = u32::MAX as u64;

        let size = self.limits.total_size;
        let most = |bound: u64| usize::try_from(bound.clamp(LITTLE, FITS)).unwrap_or(usize::MAX);
        self.record_slots = self.record_slots.min(most(size));
        self.record_heap = self.record_heap.min(most(size.saturating_mul(2)));
        self
    }
}

impl Default for DecodeOptions {
    fn default() -> Self {
        let mut limits = Limits::default();
        limits.depth = MAX_DEPTH;
        Self {
            limits,
            validation: Validation::Lexical,
            accepted: Deviations::default(),
            warnings: 100,
            record_slots: 1 << 27,
            record_heap: 1 << 30,
            record_per_byte: 40,
            record_floor: 16 << 20,
            violations: 100,
            reference_expansion: 64 << 20,
            omitted_items: 1 << 20,
            is_whole: true,
            fast: Fast::On,
        }
    }
}

/// How much of a message is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validation {
    /// Structure, lexical forms and enumerations.
    #[default]
    Lexical,
    /// All facets, fixed values and qualified attributes too. An unlisted value of an enumeration is then an error, whatever
    /// [deviations](DecodeOptions::accepted) are accepted.
    Full,
}

/// Whether the fast path is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fast {
    /// It is used wherever gaps are known.
    #[default]
    On,
    /// Never: every tag is read by the slow path.
    Off,
}
