//! Unpacking: reads Rust values from slots, for generated code. The reverse of [`pack`](crate::pack()).

use crate::attachment::Attachment;
use crate::plan::TypeId;
use crate::record::walk::octets;
use crate::record::{Record, Scalar, marker};
use crate::value::nillable::Nillable;
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
///         Ok(Self { x: from.value()?, y: from.value()?, value: from.value()?, note: from.value()? })
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

    /// True if an element of this type keeps its one slot where it is absent or nil: see
    /// [`Pack::is_scalar`](crate::Pack::is_scalar).
    fn is_scalar() -> bool {
        false
    }

    /// Reads the marker of a value that may be absent, then the value. An attribute that has its default counts as present.
    ///
    /// # Errors
    /// As [`unpack`](Self::unpack).
    #[inline]
    fn unpack_optional(from: &mut Unpacker<'_>) -> Result<Option<Self>, PackError> {
        if from.is_present()? {
            return Self::unpack(from).map(Some);
        }
        from.skip_slot::<Self>()?;
        Ok(None)
    }

    /// Reads the state of an element of type `ty` that may be nil, then the value.
    ///
    /// # Errors
    /// As [`unpack`](Self::unpack).
    #[inline]
    fn unpack_nillable(ty: TypeId, from: &mut Unpacker<'_>) -> Result<Nillable<Self>, PackError> {
        match from.state()? {
            ElementState::Present(found) if found == ty => Self::unpack(from).map(Nillable::Value),
            ElementState::Present(_) => Err(PackError::Mismatch),
            ElementState::Nil(_) => from.skip_slot::<Self>().map(|()| Nillable::Nil),
            ElementState::Absent => from.skip_slot::<Self>().map(|()| Nillable::Absent),
        }
    }

    /// The [fingerprint](crate::Plan::type_fingerprint) of the type this code was generated for. `None` if it was written by
    /// hand.
    fn fingerprint() -> Option<u64> {
        None
    }
}

// Exhaustive: generated code handles each state.
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

    /// The simple content of this element as a Rust type, without its attributes.
    ///
    /// # Errors
    /// If the element has no simple content, or is nil.
    pub fn unpack_text<T: Unpack>(&self) -> Result<T, PackError> {
        let leaf = self.leaf().filter(|_| !self.is_nil());
        let at = leaf.ok_or(PackError::Mismatch)?.slot();
        T::unpack(&mut Unpacker {
            record: self.record(),
            at,
        })
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

    /// Reads from the first slot of an element on, which is its state if it has one.
    pub fn at_state(view: &View<'r>) -> Self {
        let has_state = view.record().plan().element(view.element_id()).has_state;
        Self {
            record: view.record(),
            at: view.first_slot() - usize::from(has_state),
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

    /// Reads text and parses it.
    ///
    /// # Errors
    /// [`PackError::Value`] if it cannot be parsed.
    #[inline]
    pub fn parsed<T: std::str::FromStr>(&mut self) -> Result<T> {
        self.text()?.parse().map_err(|_| PackError::Value)
    }

    /// Reads octets.
    #[inline]
    pub fn octets(&mut self) -> Result<&'r [u8]> {
        self.next()?;
        octets(self.record, self.at - 1).ok_or(PackError::Mismatch)
    }

    /// Reads the octets of base64Binary as an attachment; of octets in the message, one is made.
    ///
    /// # Errors
    /// As for [`octets`](Self::octets).
    pub fn attachment(&mut self) -> Result<Attachment> {
        let octets = self.octets()?;
        let attached = self.record.attachment(octets).cloned();
        Ok(attached.unwrap_or_else(|| Attachment::from_bytes(octets)))
    }

    /// Reads repeated values, or the items of a list.
    #[inline]
    pub fn array<T: Unpack>(&mut self) -> Result<Vec<T>> {
        let count = self.count()?;
        T::unpack_all(self, count)
    }

    /// For an element of type `ty` that may be nil: [`NillableUnpacker::value`] reads it.
    #[inline]
    pub fn nillable(&mut self, ty: u32) -> NillableUnpacker<'_, 'r> {
        NillableUnpacker {
            from: self,
            ty: TypeId(ty),
        }
    }

    /// For an optional attribute that is a list: [`AttributeListUnpacker::value`] reads it.
    #[inline]
    pub fn attribute_list(&mut self) -> AttributeListUnpacker<'_, 'r> {
        AttributeListUnpacker { from: self }
    }

    #[inline]
    fn skip_slot<T: Unpack>(&mut self) -> Result<()> {
        if T::is_scalar() { self.zero() } else { Ok(()) }
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

    /// Reads a presence marker; a value that the schema gives counts as present.
    #[inline]
    pub fn is_present(&mut self) -> Result<bool> {
        match self.next()? {
            marker::ABSENT => Ok(false),
            marker::PRESENT | marker::DEFAULTED => Ok(true),
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

            #[inline]
            fn is_scalar() -> bool {
                true
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

    #[inline]
    fn is_scalar() -> bool {
        true
    }
}

impl Unpack for Octets {
    #[inline]
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        let octets = from.octets()?;
        match from.record.attachment(octets) {
            Some(attachment) => attachment
                .read()
                .map(Self)
                .map_err(|_| PackError::Attachment),
            None => Ok(Self(octets.to_vec())),
        }
    }

    #[inline]
    fn is_scalar() -> bool {
        true
    }
}

impl Unpack for Attachment {
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        from.attachment()
    }

    fn is_scalar() -> bool {
        true
    }
}

impl<T: Unpack> Unpack for Option<T> {
    #[inline]
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        T::unpack_optional(from)
    }
}

impl<T: Unpack> Unpack for Vec<T> {
    #[inline]
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        from.array()
    }
}

impl<T: Unpack> Unpack for Box<T> {
    #[inline]
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self> {
        T::unpack(from).map(Self::new)
    }

    #[inline]
    fn unpack_optional(from: &mut Unpacker<'_>) -> Result<Option<Self>> {
        Ok(T::unpack_optional(from)?.map(Self::new))
    }

    #[inline]
    fn unpack_nillable(ty: TypeId, from: &mut Unpacker<'_>) -> Result<Nillable<Self>> {
        Ok(T::unpack_nillable(ty, from)?.map(Self::new))
    }

    #[inline]
    fn is_scalar() -> bool {
        T::is_scalar()
    }
}

/// Reads an element that may be nil.
#[derive(Debug)]
pub struct NillableUnpacker<'p, 'r> {
    from: &'p mut Unpacker<'r>,
    ty: TypeId,
}

impl NillableUnpacker<'_, '_> {
    /// An [`Option`], [`Nillable`] or a [`Vec`] of `Option`s.
    ///
    /// # Errors
    /// If the slots do not fit.
    #[inline]
    pub fn value<T: UnpackNillable>(self) -> Result<T> {
        T::unpack_nillable(self.ty, self.from)
    }
}

/// A value that may be nil.
pub trait UnpackNillable: Sized {
    /// Reads the state of an element of type `ty`, then its value.
    ///
    /// # Errors
    /// If the slots do not fit.
    fn unpack_nillable(ty: TypeId, from: &mut Unpacker<'_>) -> Result<Self>;
}

/// `None` is nil.
impl<T: Unpack> UnpackNillable for Option<T> {
    #[inline]
    fn unpack_nillable(ty: TypeId, from: &mut Unpacker<'_>) -> Result<Self> {
        T::unpack_nillable(ty, from).map(Nillable::into_option)
    }
}

impl<T: Unpack> UnpackNillable for Nillable<T> {
    #[inline]
    fn unpack_nillable(ty: TypeId, from: &mut Unpacker<'_>) -> Result<Self> {
        T::unpack_nillable(ty, from)
    }
}

impl<T: UnpackNillable> UnpackNillable for Vec<T> {
    fn unpack_nillable(ty: TypeId, from: &mut Unpacker<'_>) -> Result<Self> {
        let count = from.count()?;
        // Each value has at least its state.
        let mut values = Self::with_capacity(count.min(from.left()));
        for _ in 0..count {
            values.push(T::unpack_nillable(ty, from)?);
        }
        Ok(values)
    }
}

/// Reads an optional attribute that is a list.
#[derive(Debug)]
pub struct AttributeListUnpacker<'p, 'r> {
    from: &'p mut Unpacker<'r>,
}

impl AttributeListUnpacker<'_, '_> {
    /// The list, or `None` if the attribute is absent.
    ///
    /// # Errors
    /// If the slots do not fit.
    #[inline]
    pub fn value<T: Unpack>(self) -> Result<Option<Vec<T>>> {
        let list: Option<Vec<T>> = self.from.value()?;
        if list.is_none() {
            self.from.zero()?;
        }
        Ok(list)
    }
}
