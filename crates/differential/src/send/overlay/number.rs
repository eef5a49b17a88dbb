//! The numbers that a row is made of.

use bsoap_codec::plan::LeafKind;

/// A number of a row.
pub trait Number: Copy {
    /// Whether it is a number of this kind, apart from its range.
    fn fits(kind: LeafKind) -> bool;

    /// Whether it is outside a range; numbers that are no integers never are.
    fn is_outside(self, range: Range) -> bool;

    /// Its slot, as in a [Record](bsoap_codec::Record).
    fn slot(self) -> u64;
}

macro_rules! numbers {
    ($($ty:ty: $kinds:pat, $integer:expr, $slot:expr;)*) => {$(
        impl Number for $ty {
            fn fits(kind: LeafKind) -> bool {
                matches!(kind, $kinds)
            }

            #[inline(always)]
            fn is_outside(self, range: Range) -> bool {
                let integer: i128 = $integer(self);
                (integer < range.min) | (integer > range.max)
            }

            #[inline(always)]
            fn slot(self) -> u64 {
                $slot(self)
            }
        }
    )*};
}

macro_rules! integers {
    ($($ty:ty as $wide:ty),*) => {
        numbers! {$(
            $ty: LeafKind::Signed { .. } | LeafKind::Unsigned { .. }, i128::from, |value| <$wide>::from(value) as u64;
        )*}
    };
}

integers!(
    i8 as i64, i16 as i64, i32 as i64, i64 as i64, u8 as u64, u16 as u64, u32 as u64, u64 as u64
);

numbers! {
    f64: LeafKind::Double, |_| 0, f64::to_bits;
    f32: LeafKind::Float, |_| 0, |value| u64::from(f32::to_bits(value));
    bool: LeafKind::Boolean, |_| 0, u64::from;
}

/// The range of integers that a number of a row may have.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    min: i128,
    max: i128,
}

impl Range {
    /// The range of a kind; unlimited if it is no kind of integer.
    pub(super) fn of(kind: LeafKind) -> Self {
        let (min, max) = match kind {
            LeafKind::Signed { min, max } => (min.into(), max.into()),
            LeafKind::Unsigned { max } => (0, max.into()),
            _ => (i128::MIN, i128::MAX),
        };
        Self { min, max }
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
