//! Writes single values, for patches.

use bsoap_codec::encode::{escape_attribute, escape_content};
use bsoap_datatypes::{binary, boolean, double, float, integer};

use bsoap_xml::scan;

use super::compare::Values;
use super::dut_table::SlotKind;

/// Space for the lexical form of a number.
pub(crate) type Number = [u8; 32];

/// A value that cannot be written: its slot is not valid, or it has a character that XML does not allow. Encoding the
/// message reports which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unwritable;

/// Writes a number and returns its length.
#[inline(always)]
pub(crate) fn number(kind: SlotKind, slot: u64, out: &mut Number) -> usize {
    match kind {
        SlotKind::Double => double::format(f64::from_bits(slot), out),
        SlotKind::Float => float::format(f32::from_bits(slot as u32), out),
        SlotKind::Signed => integer::format_i64(slot as i64, out),
        SlotKind::Unsigned => integer::format_u64(slot, out),
        _ => {
            let text = boolean::text(slot != 0).as_bytes();
            out[..text.len()].copy_from_slice(text);
            text.len()
        }
    }
}

/// The lexical form of a value: of a number, it is written to `digits`; of others, see [`text`].
#[inline]
pub(crate) fn form<'v>(
    kind: SlotKind,
    slot: u64,
    values: &Values<'v>,
    digits: &'v mut Number,
    escaped: &'v mut Vec<u8>,
) -> Result<&'v [u8], Unwritable> {
    if kind.is_number() {
        let length = number(kind, slot, digits);
        Ok(&digits[..length])
    } else {
        text(kind, slot, values, escaped)
    }
}

/// The lexical form of a value in the heap: the octets themselves if nothing is escaped, otherwise written to `escaped`.
#[inline]
pub(crate) fn text<'v>(
    kind: SlotKind,
    slot: u64,
    values: &Values<'v>,
    escaped: &'v mut Vec<u8>,
) -> Result<&'v [u8], Unwritable> {
    let octets = values.octets(slot).ok_or(Unwritable)?;
    escaped.clear();
    match kind {
        SlotKind::Text if scan::find_text_escape(octets) == octets.len() => return Ok(octets),
        SlotKind::Attribute if scan::find_value_escape(octets) == octets.len() => {
            return Ok(octets);
        }
        SlotKind::Fragment => return Ok(octets),
        SlotKind::Base64 => binary::write_base64(octets, escaped),
        SlotKind::Hex => binary::write_hex(octets, escaped),
        SlotKind::Text => escape_content(octets, escaped).map_err(|_| Unwritable)?,
        SlotKind::Attribute => escape_attribute(octets, escaped).map_err(|_| Unwritable)?,
        _ => return Err(Unwritable),
    }
    Ok(escaped)
}
