//! A column: the same slot of every row of an array, seen as numbers without copying.

use std::marker::PhantomData;

use crate::plan::LeafKind;

/// A number that a slot can hold.
pub trait Scalar: Copy + PartialEq + std::fmt::Debug {
    /// The number in a slot.
    fn from_slot(slot: u64) -> Self;
    /// The slot of a number.
    fn into_slot(self) -> u64;
    /// Whether every value of a leaf of this kind fits this type.
    fn holds(kind: LeafKind) -> bool;
}

/// Whether every integer of a leaf lies within these bounds.
fn within(kind: LeafKind, least: i128, greatest: i128) -> bool {
    match kind {
        LeafKind::Signed { min, max } => i128::from(min) >= least && i128::from(max) <= greatest,
        LeafKind::Unsigned { max } => least <= 0 && i128::from(max) <= greatest,
        _ => false,
    }
}

macro_rules! scalars {
    ($($ty:ty: $from:expr, $into:expr, $holds:expr;)*) => {$(
        impl Scalar for $ty {
            #[inline]
            fn from_slot(slot: u64) -> Self {
                ($from)(slot)
            }
            #[inline]
            fn into_slot(self) -> u64 {
                ($into)(self)
            }
            fn holds(kind: LeafKind) -> bool {
                ($holds)(kind)
            }
        }
    )*};
}

scalars! {
    f64: f64::from_bits, f64::to_bits, |kind| kind == LeafKind::Double;
    f32: |slot| f32::from_bits(slot as u32), |value: f32| u64::from(value.to_bits()), |kind| kind == LeafKind::Float;
    i64: |slot| slot as i64, |value| value as u64, |kind| within(kind, i64::MIN.into(), i64::MAX.into());
    i32: |slot| slot as i32, |value: i32| i64::from(value) as u64, |kind| within(kind, i32::MIN.into(), i32::MAX.into());
    i16: |slot| slot as i16, |value: i16| i64::from(value) as u64, |kind| within(kind, i16::MIN.into(), i16::MAX.into());
    i8: |slot| slot as i8, |value: i8| i64::from(value) as u64, |kind| within(kind, i8::MIN.into(), i8::MAX.into());
    u64: |slot| slot, |value| value, |kind| within(kind, 0, u64::MAX.into());
    u32: |slot| slot as u32, u64::from, |kind| within(kind, 0, u32::MAX.into());
    u16: |slot| slot as u16, u64::from, |kind| within(kind, 0, u16::MAX.into());
    u8: |slot| slot as u8, u64::from, |kind| within(kind, 0, u8::MAX.into());
    bool: |slot| slot != 0, u64::from, |kind| kind == LeafKind::Boolean;
}

/// The same slot of every row of an array: numbers that are `stride` slots apart.
#[derive(Clone, Copy, Debug)]
pub struct Column<'r, T> {
    slots: &'r [u64],
    stride: usize,
    number: PhantomData<T>,
}

impl<'r, T: Scalar> Column<'r, T> {
    /// The first slot of each row of `stride` slots. Of the last row only the first slot has to be there.
    pub(crate) fn new(slots: &'r [u64], stride: usize) -> Self {
        Self {
            slots,
            stride: stride.max(1),
            number: PhantomData,
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.slots.len().div_ceil(self.stride)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The distance between two numbers, in slots of 8 bytes.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The number in a row; `None` if there is no such row.
    pub fn get(&self, row: usize) -> Option<T> {
        self.slots
            .get(row.checked_mul(self.stride)?)
            .map(|&slot| T::from_slot(slot))
    }

    /// The numbers in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + use<'r, T> {
        self.slots
            .iter()
            .step_by(self.stride)
            .map(|&slot| T::from_slot(slot))
    }

    /// The numbers, copied.
    pub fn to_vec(&self) -> Vec<T> {
        self.iter().collect()
    }

    /// The slots from the first number on; rows are [`stride`](Self::stride) slots apart.
    pub fn slots(&self) -> &'r [u64] {
        self.slots
    }
}

macro_rules! slices {
    ($($ty:ty),*) => {$(
        impl<'r> Column<'r, $ty> {
            /// The numbers as a slice, without copying, if they are contiguous.
            pub fn as_slice(&self) -> Option<&'r [$ty]> {
                (self.stride == 1).then(|| bytemuck::cast_slice(self.slots))
            }
        }
    )*};
}

slices!(f64, i64, u64);
