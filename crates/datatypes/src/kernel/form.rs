//! Messages of a known form: the same bytes between values, blanks where the values stand.
//!
//! ```text
//! …<station>Observatory 7</station><time>2006-01-02T15:04:05Z</time><value>12.5</value>…
//!  piece    ▪ string       piece   ▪ dateTime                piece  ▪ double  piece
//! ```
//!
//! How long each value is, is told. So where everything stands is known at once, and the values are read independently of
//! one another. Nothing told is believed: a value must be a lexical form of its type from end to end, and each piece be the
//! same.

use super::{Kernel, Number};
use crate::datetime::is_plain_date_time;

/// A blank, and what stands before it.
#[derive(Clone, Copy, Debug)]
pub struct Blank {
    /// Where among the bytes of all pieces its piece lies.
    pub piece: u32,
    /// How long the piece is.
    pub length: u32,
    /// The slot of its value.
    pub slot: u32,
    /// Of a string, where in the heap it goes, and how much room is there.
    pub room: u32,
    /// See [`room`](Self::room).
    pub width: u32,
    /// Which of the form's [fillings](Form::new) its values are.
    pub kind: u32,
}

/// What all messages of a form have in common. What it says of places has been seen to be so when it was made: it is not
/// looked at again with each value.
#[derive(Debug)]
pub struct Form {
    /// The bytes of all pieces, and some that can be read behind them.
    pub(super) pieces: Box<[u8]>,
    pub(super) blanks: Box<[Blank]>,
    /// What stands behind the last blank.
    pub(super) tail: (u32, u32),
    /// By kind, the bounds of integers.
    pub(super) bounds: Box<[(i64, i64)]>,
    /// How each blank is filled.
    pub(super) ways: Box<[Way]>,
    /// So many slots are needed,
    slots: usize,
    /// and so many octets of the heap.
    heap: usize,
}

/// How a blank is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Double,
    Float,
    Integer,
    Text,
    /// Between these: `"`.
    Quoted,
    /// `'`.
    Single,
    Uri,
    DateTime,
    Other,
}

impl Way {
    fn is_string(self) -> bool {
        use Way::{DateTime, Quoted, Single, Text, Uri};
        matches!(self, Text | Quoted | Single | Uri | DateTime)
    }
}

/// Bytes that can be read from the end of each piece on.
pub(super) const BEYOND: usize = 32;

impl Form {
    /// Forms of more blanks are not filled.
    pub const MOST: usize = 64;

    /// A form of these blanks, and a piece behind the last: where it lies, and how long it is. Nothing, if a piece lies
    /// elsewhere than among `pieces`, or a filling is none of `fillings`.
    pub fn new(
        mut pieces: Vec<u8>,
        blanks: Vec<Blank>,
        tail: (u32, u32),
        fillings: &[Filling],
    ) -> Option<Self> {
        let places = blanks.iter().map(|blank| (blank.piece, blank.length));
        for (at, length) in places.chain([tail]) {
            pieces.get(at as usize..)?.get(..length as usize)?;
        }
        let (mut slots, mut heap) = (0, 0);
        let mut ways = Vec::with_capacity(blanks.len());
        for blank in &blanks {
            let mut way = fillings.get(blank.kind as usize)?.way();
            if way.is_string() && (blank.width as usize) < WIDEST {
                way = Way::Other;
            }
            if way.is_string() {
                heap = heap.max(blank.room as usize + WIDEST);
            }
            slots = slots.max(blank.slot as usize + 1);
            ways.push(way);
        }
        pieces.extend_from_slice(&[0; BEYOND]);
        Some(Self {
            pieces: pieces.into(),
            blanks: blanks.into(),
            tail,
            bounds: fillings.iter().map(|filling| filling.bounds()).collect(),
            ways: ways.into(),
            slots,
            heap,
        })
    }

    /// The blanks, in the order of the text.
    pub fn blanks(&self) -> &[Blank] {
        &self.blanks
    }

    /// What stands before a blank of this form.
    #[inline]
    pub fn piece(&self, blank: &Blank) -> &[u8] {
        let (from, length) = (blank.piece as usize, blank.length as usize);
        self.pieces.get(from..from + length).unwrap_or_default()
    }

    /// What stands behind the last blank.
    #[inline]
    pub fn tail(&self) -> &[u8] {
        let (from, length) = (self.tail.0 as usize, self.tail.1 as usize);
        self.pieces.get(from..from + length).unwrap_or_default()
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.pieces.len()
            + size_of_val(&*self.blanks)
            + size_of_val(&*self.bounds)
            + size_of_val(&*self.ways)
    }
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

impl Filling {
    fn way(self) -> Way {
        match self {
            Self::Number(Number::Double) => Way::Double,
            Self::Number(Number::Float) => Way::Float,
            Self::Number(Number::Signed { .. } | Number::Unsigned { .. }) => Way::Integer,
            Self::Text => Way::Text,
            Self::Quoted(b'"') => Way::Quoted,
            Self::Quoted(b'\'') => Way::Single,
            Self::Uri => Way::Uri,
            Self::DateTime => Way::DateTime,
            Self::Quoted(_) | Self::Other => Way::Other,
        }
    }

    /// What of an integer's bounds fits. (What does not is in doubt.)
    fn bounds(self) -> (i64, i64) {
        match self {
            Self::Number(Number::Signed { min, max }) => (min, max),
            Self::Number(Number::Unsigned { max }) => (0, i64::try_from(max).unwrap_or(i64::MAX)),
            _ => (0, 0),
        }
    }
}

/// Strings that are filled in are shorter, and have that much room.
pub const WIDEST: usize = 64;

/// What became of the blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Whether the text is of the form, if the values are: all pieces are the same.
    pub is_same: bool,
    /// The blanks that are not filled, for their values are in doubt: a bit each, the first lowest.
    pub doubtful: u64,
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
    /// Fills the blanks of a form from `text[at..]`, where the piece of the first begins. `told` has a byte for each: its
    /// length, plus `zero`. Nothing, if they cannot be filled all at once: there are too many, or what is told is no length
    /// below [`WIDEST`].
    ///
    /// What is in any doubt is left to the caller: strings with anything but plain ASCII, values of [other](Filling::Other)
    /// types. If the text is not of the form, what is in the sheet is unspecified.
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
