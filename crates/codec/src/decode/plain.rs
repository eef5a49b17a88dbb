//! Values that can be read quickly: numbers, and texts that need no processing.

use bsoap_datatypes::kernel::{Kernel, Number};
use bsoap_datatypes::{double, float, integer};

use crate::plan::{Bounds, Leaf, LeafId, LeafKind, RealRange};

use super::options::Validation;
use super::trace::Site;

/// Reads the number at the front of a text. Returns its slot and its length.
#[inline(always)]
pub(super) fn number(kind: LeafKind, text: &[u8]) -> Option<(u64, usize)> {
    match kind {
        LeafKind::Double => double_slot(text),
        LeafKind::Float => float_slot(text),
        LeafKind::Signed { min, max } => signed_slot(text, min, max),
        LeafKind::Unsigned { max } => unsigned_slot(text, max),
        LeafKind::Boolean => boolean_slot(text),
        _ => None,
    }
}

/// As [`number`], for a number that is probably followed by the byte `end`: a double or float is read faster then.
#[inline(always)]
pub(super) fn number_before(
    kind: LeafKind,
    text: &[u8],
    at: usize,
    end: u8,
) -> Option<(u64, usize)> {
    let rest = text.get(at..)?;
    match kind {
        LeafKind::Double => Kernel::best()
            .read_real(Number::Double, (text, at), end)
            .or_else(|| double_slot(rest)),
        LeafKind::Float => Kernel::best()
            .read_real(Number::Float, (text, at), end)
            .or_else(|| float_slot(rest)),
        _ => number(kind, rest),
    }
}

/// How values of a leaf are read quickly. Its facets are a range of numbers, or can be proved from the length and the
/// characters of a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    pub(super) kind: LeafKind,
    pub(super) range: Option<RealRange>,
    /// Whether a text has to satisfy facets.
    pub(super) is_checked: bool,
    /// Whether the value can be read again alone.
    pub(super) is_alone: bool,
}

impl Plain {
    /// `None` if the facets of the leaf need the lexical form of a number. Enumerations are always checked, other facets only
    /// with full validation.
    #[inline(always)]
    pub(super) fn of(leaf: &Leaf, validation: Validation) -> Option<Self> {
        let is_full = leaf.has_facets && validation == Validation::Full;
        let is_checked = is_full || leaf.is_listed;
        let (kind, range) = match (is_checked, leaf.bounds) {
            (false, _) => (leaf.kind, None),
            (true, Some(Bounds::Integer(kind))) => (kind, None),
            (true, Some(Bounds::Real(range))) => (leaf.kind, Some(range)),
            (true, None) if leaf.is_verbatim => (leaf.kind, None),
            (true, None) => return None,
        };
        Some(Self {
            kind,
            range,
            is_checked,
            is_alone: !is_full && leaf.is_read_alone(),
        })
    }

    /// Whether a number is in the range.
    #[inline(always)]
    pub(super) fn has(&self, slot: u64) -> bool {
        self.range.is_none_or(|range| range.has(slot))
    }

    /// How the value can be read again alone; [`Site::NONE`] if its facets have to be checked.
    #[inline(always)]
    pub(super) fn site(&self, id: LeafId) -> Site {
        match self.is_alone {
            true => Site::content(id),
            false => Site::NONE,
        }
    }
}

#[inline(always)]
fn double_slot(text: &[u8]) -> Option<(u64, usize)> {
    double::parse_prefix(text).map(|(value, length)| (value.to_bits(), length))
}

#[inline(always)]
fn float_slot(text: &[u8]) -> Option<(u64, usize)> {
    float::parse_prefix(text).map(|(value, length)| (u64::from(value.to_bits()), length))
}

#[inline(always)]
fn signed_slot(text: &[u8], min: i64, max: i64) -> Option<(u64, usize)> {
    let (value, length) = integer::parse_prefix_i64(text)?;
    (min <= value && value <= max).then_some((value as u64, length))
}

#[inline(always)]
fn unsigned_slot(text: &[u8], max: u64) -> Option<(u64, usize)> {
    let (value, length) = integer::parse_prefix_u64(text)?;
    (value <= max).then_some((value, length))
}

#[inline(always)]
fn boolean_slot(text: &[u8]) -> Option<(u64, usize)> {
    match text {
        [b't', b'r', b'u', b'e', ..] => Some((1, 4)),
        [b'f', b'a', b'l', b's', b'e', ..] => Some((0, 5)),
        [bit @ (b'0' | b'1'), ..] => Some((u64::from(bit - b'0'), 1)),
        _ => None,
    }
}

/// Reads the number at the front of a text. Returns its slot and its length; `None` if the leaf is of another kind, or the
/// number is written in an unusual way. The text behind the number is not checked.
#[inline(always)]
pub fn parse_number(kind: LeafKind, text: &[u8]) -> Option<(u64, usize)> {
    number(kind, text)
}
