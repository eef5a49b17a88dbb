//! The C library: strtod, strtol, snprintf with `%.17g` and `%d`. Unsafe, because C is.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};

use super::numbers::{Does, EVERYTHING, Numbers};

/// The C library.
pub(crate) struct Libc;

/// Buffer for a number as C prints it.
type Buffer = [u8; 64];

impl Numbers for Libc {
    const DOES: Does = EVERYTHING;
    type Scratch = ();

    #[inline]
    fn parse_double(text: &[u8]) -> (f64, usize) {
        assert!(ends_outside_a_number(text));
        let start = text.as_ptr().cast::<c_char>();
        let mut end = std::ptr::null_mut();
        // SAFETY: `text` ends with a byte that is part of no number, so strtod stops inside it.
        let value = unsafe { libc::strtod(start, &raw mut end) };
        (value, end as usize - start as usize)
    }

    #[inline]
    fn parse_int(text: &[u8]) -> (i32, usize) {
        assert!(ends_outside_a_number(text));
        let start = text.as_ptr().cast::<c_char>();
        let mut end = std::ptr::null_mut();
        // SAFETY: `text` ends with a byte that is part of no number, so strtol stops inside it.
        let value = unsafe { libc::strtol(start, &raw mut end, 10) };
        (value as i32, end as usize - start as usize)
    }

    #[inline]
    fn format_double(value: f64, _: &mut (), out: &mut Vec<u8>) {
        let mut buffer: Buffer = [0; 64];
        // SAFETY: snprintf writes at most the size it is given; the format asks for one double.
        let length = unsafe {
            libc::snprintf(
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                c"%.17g".as_ptr(),
                value,
            )
        };
        append(&buffer, length, out);
    }

    #[inline]
    fn format_int(value: i32, _: &mut (), out: &mut Vec<u8>) {
        let mut buffer: Buffer = [0; 64];
        // SAFETY: snprintf writes at most the size it is given; the format asks for one int.
        let length = unsafe {
            libc::snprintf(
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                c"%d".as_ptr(),
                value,
            )
        };
        append(&buffer, length, out);
    }
}

/// Whether no number can reach past the end of the text.
#[inline]
fn ends_outside_a_number(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'>' | b'\n'))
}

#[inline]
fn append(buffer: &Buffer, length: c_int, out: &mut Vec<u8>) {
    out.extend_from_slice(&buffer[..usize::try_from(length).unwrap_or(0).min(buffer.len())]);
}
