//! Filling the blanks of a [form](super::form).

use super::Kernel;
use super::form::{Blank, BlankReader, FillTarget, Filled, Form, LengthBytes, WIDEST};
use super::number::Number;
use crate::datetime::is_plain_date_time;

impl Kernel {
    /// Fills the blanks of a form from `text[at..]`, where the text before the first begins. `None` if they cannot be filled
    /// together: there are too many, or a given length is not below [`WIDEST`].
    ///
    /// The caller decodes the values that are left undecided: strings with anything but plain ASCII, and values of other leaf
    /// kinds. If the text does not have the form, the contents of the target are unspecified.
    ///
    /// A string's slot is its offset in the heap (low half) and its length (high half). The heap after each string, and where
    /// undecided values go, is unspecified.
    #[inline]
    pub fn fill(
        self,
        form: &Form,
        (text, at): (&[u8], usize),
        lengths: LengthBytes<'_>,
        target: FillTarget<'_>,
    ) -> Option<Filled> {
        if target.slots.len() < form.slots
            || target.heap.len() < form.heap
            || form.blanks.len() > Form::MAX_BLANKS
            || form.blanks.len() != lengths.bytes.len()
        {
            return None;
        }
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        if self != Self::PORTABLE {
            return super::wide::fill(form, (text, at), lengths, target);
        }
        portable(form, (text, at), lengths, target)
    }
}

/// [`Kernel::fill`] in plain Rust.
fn portable(
    form: &Form,
    (text, mut at): (&[u8], usize),
    lengths: LengthBytes<'_>,
    target: FillTarget<'_>,
) -> Option<Filled> {
    let (mut is_same, mut undecided) = (true, 0);
    let blanks = form.blanks.iter().zip(&form.readers).zip(lengths.bytes);
    for (index, ((blank, &reader), &length)) in blanks.enumerate() {
        let length = usize::from(length.wrapping_sub(lengths.zero));
        if length >= WIDEST {
            return None;
        }
        let begin = at + blank.length as usize;
        is_same &= text.get(at..begin) == Some(form.piece(blank));
        at = begin + length;
        let value = text.get(begin..at);
        match value.and_then(|value| form.slot_of(blank, reader, value, target.heap)) {
            Some(slot) => target.slots[blank.slot as usize] = slot,
            None => undecided |= 1 << index,
        }
    }
    is_same &= text.get(at..) == Some(form.tail());
    Some(Filled { is_same, undecided })
}

impl Form {
    /// The slot of a value; `None` if the slow path must decide.
    fn slot_of(
        &self,
        blank: &Blank,
        reader: BlankReader,
        text: &[u8],
        heap: &mut [u8],
    ) -> Option<u64> {
        let quote = match reader {
            BlankReader::Other => return None,
            BlankReader::Double | BlankReader::Float | BlankReader::Integer => {
                let (min, max) = *self.bounds.get(blank.kind as usize)?;
                let number = match reader {
                    BlankReader::Double => Number::Double,
                    BlankReader::Float => Number::Float,
                    _ => Number::Signed { min, max },
                };
                let (slot, length) = super::portable::read(number, text)?;
                return (length == text.len()).then_some(slot);
            }
            BlankReader::Quoted => b'"',
            BlankReader::Single => b'\'',
            BlankReader::Text | BlankReader::Uri | BlankReader::DateTime => b'<',
        };
        let is_plain = |&byte: &u8| {
            matches!(byte, 0x20..=0x7e) && !matches!(byte, b'<' | b'&' | b']') && byte != quote
        };
        let is_good = match reader {
            BlankReader::DateTime => is_plain_date_time(text),
            BlankReader::Uri => {
                let is_special = |byte: &u8| matches!(byte, b' ' | b'%' | b'#');
                !text.iter().any(is_special)
                    && text.first().is_some_and(u8::is_ascii_alphanumeric)
                    && text.last() != Some(&b':')
            }
            _ => !text.is_empty(),
        };
        let string = heap.get_mut(blank.heap as usize..)?.get_mut(..WIDEST)?;
        if !is_good || !text.iter().all(is_plain) {
            return None;
        }
        string[..text.len()].copy_from_slice(text);
        Some(u64::from(blank.heap) | (text.len() as u64) << 32)
    }
}
