//! Values that are read without looking at more than their first bytes.

use bsoap_datatypes::kernel::{Kernel, Number};
use bsoap_datatypes::{double, float, integer};

use crate::plan::{Bounds, Leaf, LeafId, LeafKind, RealRange};

use super::options::Validation;
use super::trace::Site;

/// The slot of the number at the front of a text, and its length.
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

/// The same of a number that most probably ends at a byte `end`: a double or float is then read sooner.
#[inline(always)]
pub(super) fn number_before(
    kind: LeafKind,
    text: &[u8],
    at: usize,
    end: u8,
) -> Option<(u64, usize)> {
    let found = match kind {
        LeafKind::Double => Kernel::best().read_real(Number::Double, (text, at), end),
        LeafKind::Float => Kernel::best().read_real(Number::Float, (text, at), end),
        _ => None,
    };
    found.or_else(|| number(kind, text.get(at..)?))
}

/// How the values of a leaf are read where little else need be looked at: all that its type asks for is a range of numbers,
/// or what the length and the characters of a string prove.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    pub(super) kind: LeafKind,
    pub(super) range: Option<RealRange>,
    pub(super) is_checked: bool,
}

impl Plain {
    /// `None` for a leaf whose facets want its text, unless that is its value.
    #[inline(always)]
    pub(super) fn of(leaf: &Leaf, validation: Validation) -> Option<Self> {
        let is_checked = leaf.has_facets && validation == Validation::Full;
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
        })
    }

    /// Whether a number is in the range.
    #[inline(always)]
    pub(super) fn has(&self, slot: u64) -> bool {
        self.range.is_none_or(|range| range.has(slot))
    }

    /// How the value can be read again alone: not at all where it must be looked at.
    #[inline(always)]
    pub(super) fn site(&self, id: LeafId) -> Site {
        if self.is_checked {
            Site::NONE
        } else {
            Site::content(id)
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

/// The slot of the number at the front of a text, and its length; nothing if the leaf is of another kind, or the number not
/// written plainly. What follows it is not looked at.
#[inline(always)]
pub fn parse_number(kind: LeafKind, text: &[u8]) -> Option<(u64, usize)> {
    number(kind, text)
}
