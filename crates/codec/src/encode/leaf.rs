//! Writing single values.

use bsoap_datatypes::{boolean, double, float, integer};

use crate::plan::program::Form;

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
