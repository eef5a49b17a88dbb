//! Unpacking: reads Rust values from slots, for generated code. The reverse of [`pack`](crate::pack()).

use crate::plan::TypeId;
use crate::record::walk::octets;
use crate::record::{Record, Scalar, marker};
use crate::value::pack::{Octets, PackError};
use crate::value::view::View;

/// A Rust value that can be read from a Record.
///
/// ```
/// use bsoap_codec::{PackError, Unpack, Unpacker};
///
/// struct Point { x: i32, y: i32, value: f64, note: Option<String> }
///
/// impl Unpack for Point {
///     fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
///         Ok(Self { x: from.value()?, y: from.value()?, value: from.value()?, note: from.optional_value()? })
///     }
/// }
/// ```
pub trait Unpack: Sized {
    /// Reads the slots that [`Pack::pack`](crate::Pack::pack) writes.
    ///
    /// # Errors
    /// If the slots do not fit this type.
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError>;

    /// Reads many values.
    ///
    /// # Errors
    /// As [`unpack`](Self::unpack).
    fn unpack_all(from: &mut Unpacker<'_>, count: usize) -> Result<Vec<Self>, PackError> {
        // Each value has at least one slot, except for empty elements.
        let mut values = Vec::with_capacity(count.min(from.left()));
        for _ in 0..count {
            values.push(Self::unpack(from)?);
        }
        Ok(values)
    }

    /// The [fingerprint](crate::Plan::type_fingerprint) of the type this code was generated for. `None` if it was written by
    /// hand.
    fn fingerprint() -> Option<u64> {
        None
    }
}

/// The state of an element that may be nil or of a derived type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementState {
    /// It is absent.
    Absent,
    /// It is nil.
    Nil(TypeId),
    /// It is present; its value, of this type, follows.
    Present(TypeId),
}

impl View<'_> {
    /// The value of this element as a Rust type.
    ///
    /// # Errors
    /// If the code of the type was not generated for this element, or the element is nil.
    pub fn unpack<T: Unpack>(&self) -> Result<T, PackError> {
        let plan = self.record().plan();
        match T::fingerprint() {
            Some(fingerprint) if fingerprint != plan.type_fingerprint(self.type_id()) => {
                return Err(PackError::OtherSchema);
            }
            _ if self.is_nil() => return Err(PackError::Mismatch),
            _ => {}
        }
        T::unpack(&mut Unpacker::within(self))
    }
}

/// Reads the slots of a Rust value, in schema order.
#[derive(Debug)]
pub struct Unpacker<'r> {
    record: &'r Record,
    at: usize,
}

type Result<T, E = PackError> = std::result::Result<T, E>;

impl<'r> Unpacker<'r> {
    /// Reads from the first slot of a Record on, which is the state of the root if that has one.
    pub fn of(record: &'r Record) -> Self {
        Self { record, at: 0 }
    }

    /// Reads from the first slot of an element's attributes and content on, behind its state.
    pub fn within(view: &View<'r>) -> Self {
        Self {
            record: view.record(),
            at: view.first_slot(),
        }
    }

    #[inline]
    fn next(&mut self) -> Result<u64> {
        let slot = *self.record.slots.get(self.at).ok_or(PackError::Mismatch)?;
        self.at += 1;
        Ok(slot)
    }

    fn left(&self) -> usize {
        self.record.slots.len().saturating_sub(self.at)
    }

    /// Reads a value without markers.
    #[inline]
    pub fn value<T: Unpack>(&mut self) -> Result<T> {
        T::unpack(self)
    }

    /// Reads a number or a boolean.
    #[inline]
    pub fn scalar<T: Scalar>(&mut self) -> Result<T> {
        self.next().map(T::from_slot)
    }

    /// Reads text.
    #[inline]
    pub fn text(&mut self) -> Result<&'r str> {
        std::str::from_utf8(self.octets()?).map_err(|_| PackError::Mismatch)
    }

    /// Reads octets.
    #[inline]
    pub fn octets(&mut self) -> Result<&'r [u8]> {
        self.next()?;
        octets(self.record, self.at - 1).ok_or(PackError::Mismatch)
    }

    /// Reads repeated values, or the items of a list.
    #[inline]
    pub fn array<T: Unpack>(&mut self) -> Result<Vec<T>> {
        let count = self.count()?;
        T::unpack_all(self, count)
    }

    /// Reads an optional element that is not a scalar.
    #[inline]
    pub fn optional<T: Unpack>(&mut self) -> Result<Option<T>> {
        if self.is_present()? {
            T::unpack(self).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Reads an optional element that is a scalar.
    #[inline]
    pub fn optional_value<T: Unpack>(&mut self) -> Result<Option<T>> {
        let value = self.optional()?;
        if value.is_none() {
            self.next()?;
        }
        Ok(value)
    }

    /// Reads an optional attribute; one that has its default counts as present.
    #[inline]
    pub fn optional_attribute<T: Unpack>(&mut self) -> Result<Option<T>> {
        match self.next()? {
            marker::PRESENT | marker::DEFAULTED => T::unpack(self).map(Some),
            marker::ABSENT => self.next().map(|_| None),
            _ => Err(PackError::Mismatch),
        }
    }

    /// Reads a nillable element that is not a scalar; nil is `None`.
    #[inline]
    pub fn nillable<T: Unpack>(&mut self) -> Result<Option<T>> {
        match self.state()? {
            ElementState::Present(_) => T::unpack(self).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads a nillable element that is a scalar; nil is `None`.
    #[inline]
    pub fn nillable_value<T: Unpack>(&mut self) -> Result<Option<T>> {
        let value = self.nillable()?;
        if value.is_none() {
            self.next()?;
        }
        Ok(value)
    }

    /// Reads a count.
    #[inline]
    pub fn count(&mut self) -> Result<usize> {
        usize::try_from(self.next()?).map_err(|_| PackError::Mismatch)
    }

    /// Reads which branch or child follows: its index, or `None` if there is none.
    #[inline]
    pub fn branch(&mut self) -> Result<Option<u32>> {
        let marker = self.next()?;
        match u32::try_from(marker) {
            Ok(0) => Ok(None),
            Ok(branch) => Ok(Some(branch - 1)),
            Err(_) => Err(PackError::Mismatch),
        }
    }

    /// Reads a presence marker.
    #[inline]
    pub fn is_present(&mut self) -> Result<bool> {
        match self.next()? {
            marker::ABSENT => Ok(false),
            marker::PRESENT => Ok(true),
            _ => Err(PackError::Mismatch),
        }
    }

    /// Reads the state of an element that has one.
    #[inline]
    pub fn state(&mut self) -> Result<ElementState> {
        let slot = self.next()?;
        let ty = marker::actual_type(slot);
        match marker::presence(slot) {
            marker::ABSENT => Ok(ElementState::Absent),
            marker::PRESENT => Ok(ElementState::Present(ty)),
            marker::NIL => Ok(ElementState::Nil(ty)),
            _ => Err(PackError::Mismatch),
        }
    }

    /// Skips the slot that a scalar has even if it is absent or nil.
    #[inline]
    pub fn zero(&mut self) -> Result<()> {
        self.next().map(drop)
    }
}

macro_rules! scalars {
    ($($ty:ty),*) => {$(
        impl Unpack for $ty {
            #[inline]
            fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
                from.scalar()
            }

            fn unpack_all(from: &mut Unpacker<'_>, count: usize) -> Result<Vec<Self>> {
                let end = from.at.checked_add(count).ok_or(PackError::Mismatch)?;
                let slots = from.record.slots.get(from.at..end).ok_or(PackError::Mismatch)?;
                from.at = end;
                Ok(slots.iter().map(|&slot| Self::from_slot(slot)).collect())
            }
        }
    )*};
}

scalars!(f64, f32, i64, i32, i16, i8, u64, u32, u16, u8, bool);

impl Unpack for String {
    #[inline]
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        from.text().map(str::to_owned)
    }
}

impl Unpack for Octets {
    #[inline]
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        from.octets().map(|octets| Self(octets.to_vec()))
    }
}

impl<T: Unpack> Unpack for Box<T> {
    #[inline]
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        T::unpack(from).map(Self::new)
    }
}
