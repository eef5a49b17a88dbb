//! Messages of a known form: the same bytes between values, blanks where the values stand.
//!
//! ```text
//! …<station>Observatory 7</station><time>2006-01-02T15:04:05Z</time><value>12.5</value>…
//!  piece    ▪ string       piece   ▪ dateTime                piece  ▪ double  piece
//! ```
//!
//! How long each value is, is told. So where everything stands is known at once, and the values are read independently of one
//! another. Nothing told is believed: a value must be a lexical form of its type from end to end, and each piece be the same.

use super::{Kernel, Number};
use crate::datetime::is_plain_date_time;

/// A blank, and what stands before it.
#[derive(Clone, Copy, Debug)]
pub struct Blank {
    /// Where among the bytes of all pieces its piece lies. 32 bytes from there on can be read.
    pub piece: u32,
    /// How long the piece is.
    pub length: u32,
    /// The slot of its value.
    pub slot: u32,
    /// Of a string, where in the heap it goes, and how much room is there.
    pub room: u32,
    /// See [`room`](Self::room).
    pub width: u32,
    /// For the caller.
    pub tag: u32,
    /// What its values are.
    pub filling: Filling,
}

/// What a blank is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// A number.
    Number(Number),
    /// `xs:string` and its like: any text, as it stands.
    Text,
    /// The same between two such quotes.
    Quoted(u8),
    /// `xs:anyURI`.
    Uri,
    /// `xs:dateTime`.
    DateTime,
    /// Something else.
    Other,
}

/// The widest string that is filled in.
pub const WIDEST: usize = 64;

/// How far filling has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// So many blanks are filled.
    pub blanks: usize,
    /// Where the piece of the next begins.
    pub at: usize,
    /// Whether all pieces so far were the same.
    pub is_same: bool,
}

/// Where the values of a form go.
#[derive(Debug)]
pub struct Sheet<'s> {
    /// The slots of all values.
    pub slots: &'s mut [u64],
    /// The heap in which the strings have rooms.
    pub heap: &'s mut [u8],
}

impl Kernel {
    /// Fills blanks from `text[at..]`, where the piece of the first begins, as far as all is plain. `told` has a byte for each
    /// blank: its length, plus `zero`; lengths from [`WIDEST`] on are none. What is in any doubt is left to the caller: strings longer than [`WIDEST`] or with anything but
    /// plain ASCII, values of [other](Filling::Other) types, the last bytes of a text. It may stop before any blank.
    ///
    /// A string's slot is its place in the heap (low half) and its length (high half). Rooms before the blank at which it stops
    /// hold its strings; what that and other rooms hold is unspecified.
    #[inline]
    pub fn fill(
        self,
        (text, at): (&[u8], usize),
        (told, zero): (&[u8], u8),
        pieces: &[u8],
        blanks: &[Blank],
        sheet: Sheet<'_>,
    ) -> Filled {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if self != Self::PORTABLE {
            let is_wide = self.0 == super::Level::Avx512;
            return super::x86::fill(is_wide, (text, at), (told, zero), pieces, blanks, sheet);
        }
        portable((text, at), (told, zero), pieces, blanks, sheet)
    }
}

/// [`Kernel::fill`] in plain Rust.
fn portable(
    (text, mut at): (&[u8], usize),
    (told, zero): (&[u8], u8),
    pieces: &[u8],
    blanks: &[Blank],
    sheet: Sheet<'_>,
) -> Filled {
    let (mut count, mut is_same) = (0, true);
    for (blank, &told) in blanks.iter().zip(told) {
        let (length, begin) = (
            usize::from(told.wrapping_sub(zero)),
            at + blank.length as usize,
        );
        let piece = pieces.get(blank.piece as usize..).unwrap_or_default();
        let (Some(found), Some(own), Some(value), Some(slot)) = (
            text.get(at..begin),
            piece.get(..blank.length as usize),
            text.get(begin..begin + length),
            sheet.slots.get_mut(blank.slot as usize),
        ) else {
            break;
        };
        is_same &= found == own;
        let Some(filled) = slot_of(blank, value, sheet.heap) else {
            break;
        };
        *slot = filled;
        at = begin + length;
        count += 1;
    }
    Filled {
        blanks: count,
        at,
        is_same,
    }
}

/// The slot of a value, if it is plain.
fn slot_of(blank: &Blank, text: &[u8], heap: &mut [u8]) -> Option<u64> {
    let quote = match blank.filling {
        Filling::Number(number) => {
            let (slot, length) = super::portable::read(number, text)?;
            return (length == text.len()).then_some(slot);
        }
        Filling::Other => return None,
        Filling::Quoted(quote) => quote,
        Filling::Text | Filling::Uri | Filling::DateTime => b'<',
    };
    let is_plain = |&byte: &u8| {
        matches!(byte, 0x20..=0x7e) && !matches!(byte, b'<' | b'&' | b']') && byte != quote
    };
    let is_good = match blank.filling {
        Filling::DateTime => is_plain_date_time(text),
        Filling::Uri => {
            let is_odd = |byte: &u8| matches!(byte, b' ' | b'%' | b'#');
            !text.iter().any(is_odd)
                && text.first().is_some_and(u8::is_ascii_alphanumeric)
                && text.last() != Some(&b':')
        }
        _ => !text.is_empty(),
    };
    let fits = text.len() <= WIDEST.min(blank.width as usize);
    let room = heap.get_mut(blank.room as usize..)?.get_mut(..WIDEST)?;
    if !fits || !is_good || !text.iter().all(is_plain) {
        return None;
    }
    room[..text.len()].copy_from_slice(text);
    Some(u64::from(blank.room) | (text.len() as u64) << 32)
}
