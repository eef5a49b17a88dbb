//! Which numbers a text contains, and what separates them.

use super::separator::Separator;

/// The type of a number in a text, and what its slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `xs:double`: the bits of an `f64`.
    Double,
    /// `xs:float`: the bits of an `f32`.
    Float,
    /// An integer within bounds: an `i64`.
    Signed {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// An integer that is not negative, within a bound: a `u64`.
    Unsigned {
        /// The greatest value.
        max: u64,
    },
}

impl Number {
    /// The bounds of an integer, as far as they fit. (An integer outside of them is left to the slow path.)
    pub(super) fn bounds(self) -> (i64, i64) {
        match self {
            Self::Signed { min, max } => (min, max),
            Self::Unsigned { max } => (0, i64::try_from(max).unwrap_or(i64::MAX)),
            Self::Double | Self::Float => (0, 0),
        }
    }
}

/// A column of rows of numbers.
#[derive(Clone, Debug)]
pub struct Column {
    /// What it is.
    pub number: Number,
    /// The marker slot before its slot.
    pub marker: Option<u64>,
    /// The text after it, up to the next value, in this row or the next.
    pub separator: Separator,
}

/// A column whose values are padded to a width, so that all rows have the same length.
#[derive(Clone, Debug)]
pub struct PaddedColumn {
    /// What the value is.
    pub number: Number,
    /// The bytes for value and padding.
    pub width: usize,
    /// The text between value and padding: an end tag, or nothing.
    pub close: Separator,
    /// The text after the padding, up to the next value, in this row or the next.
    pub separator: Separator,
}

/// The byte that ends the values of all columns.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
pub(super) fn same_end(columns: &[Column]) -> Option<u8> {
    let end = columns.first()?.separator.end();
    let is_same = |column: &Column| column.separator.end() == end;
    columns.iter().all(is_same).then_some(end?)
}
