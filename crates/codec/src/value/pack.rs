//! Packing: writes Rust values as slots, for generated code.
//!
//! Generated code knows the layout of its types (`docs/design/record-layout.md`), so packing writes slots one after the
//! other, in schema order. This is valid only for the Plan that the code was generated for: a
//! [`fingerprint`](Plan::type_fingerprint) of the layout is compared before, and the slots of code without one are checked
//! afterwards.
//!
//! ```
//! use bsoap_codec::{Pack, Packer};
//!
//! /// `{int x, int y, double value, string note?}`
//! struct Point { x: i32, y: i32, value: f64, note: Option<String> }
//!
//! impl Pack for Point {
//!     fn pack(&self, packer: &mut Packer<'_>) {
//!         packer.value(&self.x);
//!         packer.value(&self.y);
//!         packer.value(&self.value);
//!         packer.value(&self.note);
//!     }
//! }
//! ```

use std::fmt;
use std::sync::Arc;

use bsoap_datatypes::ConversionError;

use crate::attachment::{Attachment, reference};
use crate::plan::{ElementId, Plan, TypeId};
use crate::record::walk::{Event, Walk};
use crate::record::{HeapFull, Record, Scalar, marker};
use crate::value::Text as ShortText;
use crate::value::nillable::Nillable;

/// A Rust value that can be written into a Record.
///
/// What may be absent is an [`Option`], what is repeated or a list a [`Vec`]: they write their markers themselves. What may be
/// nil is written with [`Packer::nillable`].
pub trait Pack {
    /// Appends the slots of the value: those of attributes, then those of content; of a simple value, its one slot.
    fn pack(&self, packer: &mut Packer<'_>);

    /// True if an element of this type keeps its one slot where it is absent or nil: numbers, texts and whatever else is one
    /// slot.
    fn is_scalar() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Appends the marker of a value that may be absent, then the value.
    #[inline]
    fn pack_optional(value: Option<&Self>, packer: &mut Packer<'_>)
    where
        Self: Sized,
    {
        match value {
            Some(value) => {
                packer.present();
                value.pack(packer);
            }
            None => {
                packer.absent();
                packer.keep_slot::<Self>();
            }
        }
    }

    /// Appends the state of an element of type `ty` that may be nil, then the value; `None` is nil.
    #[inline]
    fn pack_nillable(value: Option<&Self>, ty: TypeId, packer: &mut Packer<'_>)
    where
        Self: Sized,
    {
        match value {
            Some(value) => {
                packer.state(ty);
                value.pack(packer);
            }
            None => {
                packer.nil(ty);
                packer.keep_slot::<Self>();
            }
        }
    }

    /// Appends the slots of many values.
    fn pack_all(values: &[Self], packer: &mut Packer<'_>)
    where
        Self: Sized,
    {
        values.iter().for_each(|value| value.pack(packer));
    }

    /// The [fingerprint](Plan::type_fingerprint) of the type this code was generated for. `None` if it was written by hand:
    /// then the slots are checked after packing.
    fn fingerprint(&self) -> Option<u64> {
        None
    }
}

/// Why a Rust value could not be packed, or read back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackError {
    /// The code was generated for another schema.
    OtherSchema,
    /// The slots do not fit the element: the code was not generated for this Plan.
    Mismatch,
    /// More than 4 GiB of text.
    TooLarge,
    /// A value that the Rust type cannot represent: an unlisted value of a closed enumeration.
    Value,
    /// A value that has no counterpart in the other type: a date without a zone as an instant, the year 0 in XML.
    Conversion(Box<ConversionError>),
    /// The octets of an attachment cannot be read.
    Attachment,
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conversion(error) => return error.fmt(f),
            Self::OtherSchema => "the code was generated for another schema: generate it again",
            Self::Mismatch => "the code does not fit the schema",
            Self::TooLarge => "more than 4 GiB of text",
            Self::Attachment => "the octets of an attachment cannot be read",
            Self::Value => "a value is not one that the Rust type of its field can represent",
        })
    }
}

impl std::error::Error for PackError {}

impl From<ConversionError> for PackError {
    #[cold]
    fn from(error: ConversionError) -> Self {
        Self::Conversion(Box::new(error))
    }
}

/// Makes a Record from a Rust value.
///
/// # Errors
/// If the [`Pack`] implementation of the value was not generated for this element, or the text is too long.
pub fn pack(plan: &Arc<Plan>, root: ElementId, value: &dyn Pack) -> Result<Record, PackError> {
    let mut record = Record::new(plan.clone(), root);
    let element = plan.element(root);
    if element.has_state {
        record.push(marker::state(marker::PRESENT, element.ty));
    }
    into_record(&mut record, root, value)?;
    Ok(record)
}

/// Makes a Record of the slots that `write` appends: all slots of the element, its state first if it has one.
///
/// # Errors
/// If the slots do not fit the element.
pub fn pack_with(
    plan: &Arc<Plan>,
    root: ElementId,
    write: impl FnOnce(&mut Packer<'_>),
) -> Result<Record, PackError> {
    let mut record = Record::new(plan.clone(), root);
    write_into(&mut record, write)?;
    let element = plan.element(root);
    let (ty, begin) = match record.slots.first() {
        Some(&state) if element.has_state => (marker::actual_type(state), 1),
        _ => (element.ty, 0),
    };
    let is_nil = element.has_state
        && record
            .slots
            .first()
            .is_some_and(|&state| marker::presence(state) == marker::NIL);
    if !is_nil {
        check(&record, ty, begin)?;
    }
    Ok(record)
}

/// Appends the slots that `write` writes.
#[inline]
pub(crate) fn write_into(
    record: &mut Record,
    write: impl FnOnce(&mut Packer<'_>),
) -> Result<(), PackError> {
    let mut packer = Packer {
        record,
        problem: None,
    };
    write(&mut packer);
    packer.problem.map_or(Ok(()), Err)
}

/// Checks that the slots from `begin` on are exactly those of a value of a type.
fn check(record: &Record, ty: TypeId, begin: usize) -> Result<(), PackError> {
    if ty.index() >= record.plan.type_count() {
        return Err(PackError::Mismatch);
    }
    let mut walk = Walk::over(record, ty, begin);
    while let Some(event) = walk.next().map_err(|_| PackError::Mismatch)? {
        // Arrays of one slot for each item have no markers.
        if let Event::Array { element, .. } = event
            && record.plan.element(element).stride == Some(1)
        {
            walk.jump(event).map_err(|_| PackError::Mismatch)?;
        }
    }
    if walk.at() != record.slots.len() {
        return Err(PackError::Mismatch);
    }
    Ok(())
}

/// Appends the attributes and content of an element whose state marker has been written.
pub(crate) fn into_record(
    record: &mut Record,
    id: ElementId,
    value: &dyn Pack,
) -> Result<(), PackError> {
    let begin = record.slots.len();
    let ty = record.plan.element(id).ty;
    let fingerprint = value.fingerprint();
    if fingerprint.is_some_and(|fingerprint| fingerprint != record.plan.type_fingerprint(ty)) {
        return Err(PackError::OtherSchema);
    }
    write_into(record, |packer| value.pack(packer))?;
    if fingerprint.is_none() || cfg!(debug_assertions) {
        check(record, ty, begin)?;
    }
    Ok(())
}

/// Receives the slots of a Rust value, in schema order.
#[derive(Debug)]
pub struct Packer<'r> {
    record: &'r mut Record,
    /// The first value that could not be appended.
    problem: Option<PackError>,
}

impl<'r> Packer<'r> {
    /// Appends a value: of an [`Option`] or a [`Vec`], its marker first.
    #[inline]
    pub fn value<T: Pack>(&mut self, value: &T) {
        value.pack(self);
    }

    /// Appends a number or a boolean.
    #[inline]
    pub fn scalar<T: Scalar>(&mut self, value: T) {
        self.record.push(value.into_slot());
    }

    /// Appends text: a string, decimal, date …, a QName as `{namespace}local`, or the XML of a wildcard.
    #[inline]
    pub fn text(&mut self, text: &str) {
        self.octets(text.as_bytes());
    }

    /// Appends the octets of base64Binary or hexBinary.
    #[inline]
    pub fn octets(&mut self, octets: &[u8]) {
        if self.record.push_octets(octets) == Err(HeapFull) {
            self.problem.get_or_insert(PackError::TooLarge);
        }
    }

    /// Appends a reference to an attachment instead of the octets of base64Binary.
    pub fn attachment(&mut self, attachment: &Attachment) {
        let index = self.record.attach(attachment);
        self.octets(&reference::octets(index));
    }

    /// Appends text that a value shows.
    pub fn display(&mut self, value: &impl fmt::Display) {
        let mut text = ShortText::default();
        // Writing to memory cannot fail.
        let _ = fmt::Write::write_fmt(&mut text, format_args!("{value}"));
        self.text(&text);
    }

    /// Appends an empty text instead of a value that the other type cannot represent. Packing then ends with this error.
    #[cold]
    pub fn refuse(&mut self, error: ConversionError) {
        self.problem.get_or_insert(error.into());
        self.text("");
    }

    /// Appends repeated values, or the items of a list: their count, then each value.
    #[inline]
    pub fn array<T: Pack>(&mut self, values: &[T]) {
        self.count(values.len());
        T::pack_all(values, self);
    }

    /// For an element of type `ty` that may be nil: [`NillablePacker::value`] appends it.
    #[inline]
    pub fn nillable(&mut self, ty: u32) -> NillablePacker<'_, 'r> {
        NillablePacker {
            packer: self,
            ty: TypeId(ty),
        }
    }

    /// For an optional attribute that is a list: [`AttributeListPacker::value`] appends it.
    #[inline]
    pub fn attribute_list(&mut self) -> AttributeListPacker<'_, 'r> {
        AttributeListPacker { packer: self }
    }

    /// Appends the slot that a scalar has even if it is absent or nil.
    #[inline]
    fn keep_slot<T: Pack>(&mut self) {
        if T::is_scalar() {
            self.zero();
        }
    }

    /// Appends the count of what follows.
    #[inline]
    pub fn count(&mut self, count: usize) {
        self.record.push(count as u64);
    }

    /// The branch of a choice, child of an `all` or element of mixed content that follows, by its
    /// number from 0.
    #[inline]
    pub fn branch(&mut self, index: u32) {
        self.record.push(1 + u64::from(index));
    }

    /// No branch of a choice; text of mixed content.
    #[inline]
    pub fn no_branch(&mut self) {
        self.zero();
    }

    /// What follows is there.
    #[inline]
    pub fn present(&mut self) {
        self.record.push(marker::PRESENT);
    }

    /// What would follow is not there.
    #[inline]
    pub fn absent(&mut self) {
        self.record.push(marker::ABSENT);
    }

    /// An element with a state follows, of this type.
    #[inline]
    pub fn state(&mut self, ty: TypeId) {
        self.record.push(marker::state(marker::PRESENT, ty));
    }

    /// An element with a state is nil.
    #[inline]
    pub fn nil(&mut self, ty: TypeId) {
        self.record.push(marker::state(marker::NIL, ty));
    }

    /// The empty slot that a scalar keeps where it is absent or nil.
    #[inline]
    pub fn zero(&mut self) {
        self.record.push(0);
    }
}

macro_rules! scalars {
    ($($ty:ty),*) => {$(
        impl Pack for $ty {
            #[inline]
            fn pack(&self, packer: &mut Packer<'_>) {
                packer.scalar(*self);
            }

            fn pack_all(values: &[Self], packer: &mut Packer<'_>) {
                packer.record.slots.extend(values.iter().map(|value| value.into_slot()));
            }

            #[inline]
            fn is_scalar() -> bool {
                true
            }
        }
    )*};
}

scalars!(f64, f32, i64, i32, i16, i8, u64, u32, u16, u8, bool);

impl Pack for String {
    #[inline]
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.text(self);
    }

    #[inline]
    fn is_scalar() -> bool {
        true
    }
}

impl Pack for str {
    #[inline]
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.text(self);
    }
}

/// A value that may be absent.
impl<T: Pack> Pack for Option<T> {
    #[inline]
    fn pack(&self, packer: &mut Packer<'_>) {
        T::pack_optional(self.as_ref(), packer);
    }
}

/// A repeated element, or a list.
impl<T: Pack> Pack for Vec<T> {
    #[inline]
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.array(self);
    }
}

impl<T: Pack> Pack for Box<T> {
    #[inline]
    fn pack(&self, packer: &mut Packer<'_>) {
        (**self).pack(packer);
    }

    #[inline]
    fn pack_optional(value: Option<&Self>, packer: &mut Packer<'_>) {
        T::pack_optional(value.map(|value| &**value), packer);
    }

    #[inline]
    fn pack_nillable(value: Option<&Self>, ty: TypeId, packer: &mut Packer<'_>) {
        T::pack_nillable(value.map(|value| &**value), ty, packer);
    }

    #[inline]
    fn is_scalar() -> bool {
        T::is_scalar()
    }
}

/// Octets: base64Binary or hexBinary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Octets(pub Vec<u8>);

impl Pack for Octets {
    #[inline]
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.octets(&self.0);
    }

    #[inline]
    fn is_scalar() -> bool {
        true
    }
}

/// base64Binary whose octets travel beside the message.
impl Pack for Attachment {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.attachment(self);
    }

    fn is_scalar() -> bool {
        true
    }
}

/// Appends an element that may be nil.
#[derive(Debug)]
pub struct NillablePacker<'p, 'r> {
    packer: &'p mut Packer<'r>,
    ty: TypeId,
}

impl NillablePacker<'_, '_> {
    /// An [`Option`], [`Nillable`] or a [`Vec`] of `Option`s.
    #[inline]
    pub fn value<T: PackNillable>(self, value: &T) {
        value.pack_nillable(self.ty, self.packer);
    }
}

/// A value that may be nil.
pub trait PackNillable {
    /// Appends the state of an element of type `ty`, then its value.
    fn pack_nillable(&self, ty: TypeId, packer: &mut Packer<'_>);
}

/// `None` is nil.
impl<T: Pack> PackNillable for Option<T> {
    #[inline]
    fn pack_nillable(&self, ty: TypeId, packer: &mut Packer<'_>) {
        T::pack_nillable(self.as_ref(), ty, packer);
    }
}

impl<T: Pack> PackNillable for Nillable<T> {
    #[inline]
    fn pack_nillable(&self, ty: TypeId, packer: &mut Packer<'_>) {
        match self {
            Self::Absent => {
                packer.absent();
                packer.keep_slot::<T>();
            }
            Self::Nil => T::pack_nillable(None, ty, packer),
            Self::Value(value) => T::pack_nillable(Some(value), ty, packer),
        }
    }
}

impl<T: PackNillable> PackNillable for Vec<T> {
    fn pack_nillable(&self, ty: TypeId, packer: &mut Packer<'_>) {
        packer.count(self.len());
        self.iter()
            .for_each(|value| value.pack_nillable(ty, packer));
    }
}

/// Appends an optional attribute that is a list.
#[derive(Debug)]
pub struct AttributeListPacker<'p, 'r> {
    packer: &'p mut Packer<'r>,
}

impl AttributeListPacker<'_, '_> {
    /// The list; an attribute that is absent has the count 0.
    #[inline]
    pub fn value<T: Pack>(self, value: &Option<Vec<T>>) {
        self.packer.value(value);
        if value.is_none() {
            self.packer.zero();
        }
    }
}
