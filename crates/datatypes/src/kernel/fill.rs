//! Filling the blanks of a [form](super::form).

use super::Kernel;
use super::form::{Blank, Filled, Form, Sheet, WIDEST, Way};
use super::number::Number;
use crate::datetime::is_plain_date_time;

impl Kernel {
    /// Fills the blanks of a form from `text[at..]`, where the piece of the first begins. `told` has a byte for each: its
    /// length, plus `zero`. Nothing, if they cannot be filled all at once: there are too many, or what is told is no length
    /// below [`WIDEST`].
    ///
    /// What is in any doubt is left to the caller: strings with anything but plain ASCII, values of other leaf
    /// kinds. If the text is not of the form, what is in the sheet is unspecified.
    ///
    /// A string's slot is its place in the heap (low half) and its length (high half). What rooms hold behind their strings,
    /// and those of doubtful values, is unspecified.
    #[inline]
    pub fn fill(
        self,
        form: &Form,
        (text, at): (&[u8], usize),
        (told, zero): (&[u8], u8),
        sheet: Sheet<'_>,
    ) -> Option<Filled> {
        if sheet.slots.len() < form.slots
            || sheet.heap.len() < form.heap
            || form.blanks.len() > Form::MOST
            || form.blanks.len() != told.len()
        {
            return None;
        }
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if self != Self::PORTABLE {
            let is_wide = self.0 == super::Level::Avx512;
            return super::x86::fill(is_wide, form, (text, at), (told, zero), sheet);
        }
        portable(form, (text, at), (told, zero), sheet)
    }
}

/// [`Kernel::fill`] in plain Rust.
fn portable(
    form: &Form,
    (text, mut at): (&[u8], usize),
    (told, zero): (&[u8], u8),
    sheet: Sheet<'_>,
) -> Option<Filled> {
    let (mut is_same, mut doubtful) = (true, 0);
    for (index, ((blank, &way), &told)) in form.blanks.iter().zip(&form.ways).zip(told).enumerate()
    {
        let length = usize::from(told.wrapping_sub(zero));
        if length >= WIDEST {
            return None;
        }
        let begin = at + blank.length as usize;
        is_same &= text.get(at..begin) == Some(form.piece(blank));
        at = begin + length;
        let value = text.get(begin..at);
        match value.and_then(|value| form.slot_of(blank, way, value, sheet.heap)) {
            Some(slot) => sheet.slots[blank.slot as usize] = slot,
            None => doubtful |= 1 << index,
        }
    }
    is_same &= text.get(at..) == Some(form.tail());
    Some(Filled { is_same, doubtful })
}

impl Form {
    /// The slot of a value, if it is plain.
    fn slot_of(&self, blank: &Blank, way: Way, text: &[u8], heap: &mut [u8]) -> Option<u64> {
        let quote = match way {
            Way::Other => return None,
            Way::Double | Way::Float | Way::Integer => {
                let (min, max) = *self.bounds.get(blank.kind as usize)?;
                let number = match way {
                    Way::Double => Number::Double,
                    Way::Float => Number::Float,
                    _ => Number::Signed { min, max },
                };
                let (slot, length) = super::portable::read(number, text)?;
                return (length == text.len()).then_some(slot);
            }
            Way::Quoted => b'"',
            Way::Single => b'\'',
            Way::Text | Way::Uri | Way::DateTime => b'<',
        };
        let is_plain = |&byte: &u8| {
            matches!(byte, 0x20..=0x7e) && !matches!(byte, b'<' | b'&' | b']') && byte != quote
        };
        let is_good = match way {
            Way::DateTime => is_plain_date_time(text),
            Way::Uri => {
                let is_odd = |byte: &u8| matches!(byte, b' ' | b'%' | b'#');
                !text.iter().any(is_odd)
                    && text.first().is_some_and(u8::is_ascii_alphanumeric)
                    && text.last() != Some(&b':')
            }
            _ => !text.is_empty(),
        };
        let room = heap.get_mut(blank.room as usize..)?.get_mut(..WIDEST)?;
        if !is_good || !text.iter().all(is_plain) {
            return None;
        }
        room[..text.len()].copy_from_slice(text);
        Some(u64::from(blank.room) | (text.len() as u64) << 32)
    }
}
