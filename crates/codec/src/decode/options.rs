//! What a decoder permits and checks.

use bsoap_xml::Limits;

use crate::value::MAX_DEPTH;

/// How a message is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// What a hostile document cannot pass. By default elements nest no deeper than a [`Value`](crate::Value) can
    /// ([`MAX_DEPTH`]): deeper ones can only be had as Records.
    pub limits: Limits,
    /// How much is checked.
    pub validation: Validation,
    /// What to do about elements and attributes the Plan does not have.
    pub unknown_elements: Unknown,
    /// What to do about elements without text whose type needs one.
    pub empty_values: Empty,
    /// The most slots of a Record, 8 bytes each. Default 2²⁷, which is 1 GiB. An absent element takes slots too, so a small
    /// message can ask for a large Record. Whatever is said here, there are no more than
    /// [`Limits::total_size`] has bytes, or 2²⁰ if that is more, and no more than 2³² - 1. (The densest text, a list of
    /// numbers of one digit, makes one for every two bytes; what is left out makes more.)
    pub record_slots: usize,
    /// The most bytes of strings in a Record. Default 1 GiB. Whatever is said here, there are no more than twice
    /// [`Limits::total_size`] (a name brings its namespace's along, and copied XML its declarations) or 1 MiB if that is
    /// more, and no more than 4 GiB.
    pub record_heap: usize,
    /// How many violations [`validate`](super::Decoder::validate) collects. Default 100.
    pub violations: usize,
    /// Whether tags met before are recognised by their bytes. The result is the same; only tests turn it off.
    pub fast: Fast,
}

impl DecodeOptions {
    /// The same with the bounds of a Record that hold in fact, given how long a message may be.
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
            unknown_elements: Unknown::Refuse,
            empty_values: Empty::Refuse,
            record_slots: 1 << 27,
            record_heap: 1 << 30,
            violations: 100,
            fast: Fast::On,
        }
    }
}

/// How much of a message is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validation {
    /// Structure and lexical forms.
    #[default]
    Lexical,
    /// Facets, fixed values and qualified attributes too.
    Full,
}

/// What to do about what the Plan does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// It is an error.
    #[default]
    Refuse,
    /// It is passed over, with all it contains.
    Skip,
}

/// What to do about an element without text, or with white space alone, whose type needs a text: `<id/>` of an `xs:int`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Empty {
    /// It is an error: an empty text is not one of its lexical forms.
    #[default]
    Refuse,
    /// It is absent where it may be missing, otherwise nil where it may be nil, otherwise an error. So it is with elements
    /// that occur once and have no attributes; a value that goes missing in an array would shift those after it.
    Absent,
}

/// Whether the fast path is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fast {
    /// Wherever it leads.
    #[default]
    On,
    /// Never: every tag is read as if it were the first of its kind.
    Off,
}
