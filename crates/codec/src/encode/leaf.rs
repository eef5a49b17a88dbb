//! Writing single values.

use bsoap_datatypes::{binary, boolean, double, float, integer};

use crate::escape;
use crate::plan::program::{Form, Holder, LeafForm};
use crate::record::heap_range;

use super::error::ErrorKind;

impl LeafForm {
    /// Appends the lexical form of a value, escaped as its place requires, and returns its length.
    ///
    /// # Errors
    /// [`ErrorKind::Character`] for what XML cannot carry; [`ErrorKind::Mismatch`] if the slot does not point into the heap,
    /// or is that of a QName. What was written by then is taken back.
    pub fn write(&self, slot: u64, heap: &[u8], out: &mut Vec<u8>) -> Result<usize, ErrorKind> {
        let begin = out.len();
        if self.form.is_number() {
            let mut window = [0; 32];
            let length = number(self.form, slot, &mut window);
            out.extend_from_slice(&window);
            out.truncate(begin + length);
            return Ok(length);
        }
        let (start, length) = heap_range(slot);
        let octets = heap.get(start..start + length).ok_or(ErrorKind::Mismatch)?;
        let written = match (self.form, self.holder()) {
            (Form::Text, Holder::Xml) => {
                out.extend_from_slice(octets);
                Ok(())
            }
            (Form::Text, Holder::Attribute | Holder::AttributeList) => escape::value(octets, out),
            (Form::Text, _) => escape::text(octets, out),
            (Form::Base64, _) => {
                binary::write_base64(octets, out);
                Ok(())
            }
            (Form::Hex, _) => {
                binary::write_hex(octets, out);
                Ok(())
            }
            _ => return Err(ErrorKind::Mismatch),
        };
        match written {
            Ok(()) => Ok(out.len() - begin),
            Err(bad) => {
                out.truncate(begin);
                Err(bad.into())
            }
        }
    }
}

/// Writes a number of at most 24 bytes and returns its length.
#[inline(always)]
pub(super) fn number(form: Form, slot: u64, out: &mut [u8; 32]) -> usize {
    match form {
        Form::Double => double::format(f64::from_bits(slot), out),
        Form::Float => float::format(f32::from_bits(slot as u32), out),
        Form::Signed => integer::format_i64(slot as i64, out),
        Form::Unsigned => integer::format_u64(slot, out),
        _ => {
            // Copies of the same size for both values.
            out[..5].copy_from_slice(if slot == 0 { b"false" } else { b"true " });
            boolean::text(slot != 0).len()
        }
    }
}
