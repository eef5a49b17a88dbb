//! The numbers that a row is made of.

use bsoap_codec::plan::LeafKind;

/// A number of a row.
pub trait Number: Copy {
    /// Whether it is a number of this kind, apart from its range.
    fn fits(kind: LeafKind) -> bool;

    /// Whether it lies outside of a range of integers.
    fn is_outside(self, range: Range) -> bool;

    /// The slot that a [Record](bsoap_codec::Record) would have for it, if it is in range.
    fn slot(self) -> u64;
}

fn is_integer(kind: LeafKind) -> bool {
    matches!(kind, LeafKind::Signed { .. } | LeafKind::Unsigned { .. })
}

macro_rules! signed {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            fn fits(kind: LeafKind) -> bool {
                is_integer(kind)
            }

            #[inline(always)]
            fn is_outside(self, range: Range) -> bool {
                let value = i64::from(self);
                (value < range.min) | (value > range.most)
            }

            #[inline(always)]
            fn slot(self) -> u64 {
                i64::from(self) as u64
            }
        }
    )*};
}

macro_rules! unsigned {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            fn fits(kind: LeafKind) -> bool {
                is_integer(kind)
            }

            #[inline(always)]
            fn is_outside(self, range: Range) -> bool {
                let value = u64::from(self);
                (value < range.least) | (value > range.max)
            }

            #[inline(always)]
            fn slot(self) -> u64 {
                self.into()
            }
        }
    )*};
}

signed!(i8, i16, i32, i64);
unsigned!(u8, u16, u32, u64);

macro_rules! other {
    ($($ty:ty: $kinds:pat, $slot:expr;)*) => {$(
        impl Number for $ty {
            fn fits(kind: LeafKind) -> bool {
                matches!(kind, $kinds)
            }

            #[inline(always)]
            fn is_outside(self, _: Range) -> bool {
                false
            }

            #[inline(always)]
            fn slot(self) -> u64 {
                $slot(self)
            }
        }
    )*};
}

other! {
    f64: LeafKind::Double, f64::to_bits;
    f32: LeafKind::Float, |value| u64::from(f32::to_bits(value));
    bool: LeafKind::Boolean, u64::from;
}

/// The integers that a number of a row may be, by bounds for either kind of Rust's: which sign a number has is not to be
/// foretold, so nothing may branch on it.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    min: i64,
    most: i64,
    least: u64,
    max: u64,
}

impl Range {
    /// Of a kind; all, if it is no kind of integer.
    pub(super) fn of(kind: LeafKind) -> Self {
        let of = |min: i64, max: u64| Self {
            min,
            most: i64::try_from(max).unwrap_or(i64::MAX),
            least: u64::try_from(min).unwrap_or(0),
            max,
        };
        match kind {
            LeafKind::Signed { min, max } => match u64::try_from(max) {
                Ok(max) => of(min, max),
                // None that has no sign.
                Err(_) => Self {
                    min,
                    most: max,
                    least: u64::MAX,
                    max: 0,
                },
            },
            LeafKind::Unsigned { max } => of(0, max),
            _ => of(i64::MIN, u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_outside_if_its_kind_does_not_have_it() {
        let numbers = [
            i64::MIN,
            -129,
            -128,
            -2,
            -1,
            0,
            1,
            127,
            128,
            255,
            256,
            i64::MAX,
        ];
        let bounds = [
            (i64::MIN, i64::MAX),
            (i64::MIN, -1),
            (i64::MIN, 0),
            (-128, 127),
            (1, 255),
            (-128, -2),
        ];
        for (min, max) in bounds {
            let range = Range::of(LeafKind::Signed { min, max });
            for number in numbers {
                let is_in = (min..=max).contains(&number);
                assert_eq!(
                    number.is_outside(range),
                    !is_in,
                    "{number} in {min}..={max}"
                );
                if let Ok(number) = u64::try_from(number) {
                    assert_eq!(
                        number.is_outside(range),
                        !is_in,
                        "{number} in {min}..={max}"
                    );
                }
            }
            assert!(u64::MAX.is_outside(range));
        }
        for max in [0, 255, i64::MAX as u64, u64::MAX] {
            let range = Range::of(LeafKind::Unsigned { max });
            for number in numbers {
                let is_in = u64::try_from(number).is_ok_and(|number| number <= max);
                assert_eq!(number.is_outside(range), !is_in, "{number} to {max}");
            }
            assert_eq!(u64::MAX.is_outside(range), max < u64::MAX);
        }
    }
}
