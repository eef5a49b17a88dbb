//! The numbers that a row is made of.

use bsoap_codec::plan::LeafKind;
use bsoap_datatypes::{boolean, double, float, integer};

/// Bytes that a number is formatted into.
pub(super) type Room = [u8; 32];

/// A number of a row.
pub trait Number: Copy {
    /// Whether it is a number of this kind, apart from its range.
    fn fits(kind: LeafKind) -> bool;

    /// Whether it lies outside of a range of integers.
    fn is_outside(self, min: i64, max: u64) -> bool;

    /// Writes its lexical form; what stands behind it is unspecified.
    fn format(self, room: &mut Room) -> usize;
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
            fn is_outside(self, min: i64, max: u64) -> bool {
                let value = i64::from(self);
                value < min || u64::try_from(value).is_ok_and(|value| value > max)
            }

            #[inline(always)]
            fn format(self, room: &mut Room) -> usize {
                integer::format_i64(self.into(), room)
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
            fn is_outside(self, min: i64, max: u64) -> bool {
                let value = u64::from(self);
                value > max || u64::try_from(min).is_ok_and(|min| value < min)
            }

            #[inline(always)]
            fn format(self, room: &mut Room) -> usize {
                integer::format_u64(self.into(), room)
            }
        }
    )*};
}

signed!(i8, i16, i32, i64);
unsigned!(u8, u16, u32, u64);

macro_rules! other {
    ($($ty:ty: $kinds:pat, $format:expr;)*) => {$(
        impl Number for $ty {
            fn fits(kind: LeafKind) -> bool {
                matches!(kind, $kinds)
            }

            #[inline(always)]
            fn is_outside(self, _: i64, _: u64) -> bool {
                false
            }

            #[inline(always)]
            fn format(self, room: &mut Room) -> usize {
                $format(self, room)
            }
        }
    )*};
}

other! {
    f64: LeafKind::Double, double::format;
    f32: LeafKind::Float, float::format;
    bool: LeafKind::Boolean, truth;
}

fn truth(value: bool, room: &mut Room) -> usize {
    let text = boolean::text(value).as_bytes();
    room[..text.len()].copy_from_slice(text);
    text.len()
}

/// The integers of a kind; all, if it is no kind of integer.
pub(super) fn range(kind: LeafKind) -> (i64, u64) {
    match kind {
        LeafKind::Signed { min, max } => (min, u64::try_from(max).unwrap_or(0)),
        LeafKind::Unsigned { max } => (0, max),
        _ => (i64::MIN, u64::MAX),
    }
}
