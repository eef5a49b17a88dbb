//! Messages of a known form: fixed text between the values, blanks where the values are.
//!
//! ```text
//! …<station>Observatory 7</station><time>2006-01-02T15:04:05Z</time><value>12.5</value>…
//!  piece    ▪ string       piece   ▪ dateTime                piece  ▪ double  piece
//! ```
//!
//! The length of each value is given. So every location is known in advance, and values are read independently of one
//! another. Given lengths are not trusted: each value must be a lexical form of its type from end to end, and each piece of
//! text between them must be the expected one.

use super::number::Number;

/// A blank and the text before it.
#[derive(Clone, Copy, Debug)]
pub struct Blank {
    /// The offset of the text before it among the bytes of all pieces.
    pub piece: u32,
    /// The length of that text.
    pub length: u32,
    /// The slot of its value.
    pub slot: u32,
    /// The offset of a string in the heap.
    pub heap: u32,
    /// The bytes that a string may take there.
    pub width: u32,
    /// The index of its [filling](Form::new).
    pub kind: u32,
}

/// What all messages of one form have in common. Offsets are checked when it is made, not with each message.
#[derive(Debug)]
pub struct Form {
    /// The bytes of all pieces, and padding for wide loads.
    pub(super) pieces: Box<[u8]>,
    pub(super) blanks: Box<[Blank]>,
    /// Offset and length of the text after the last blank.
    pub(super) tail: (u32, u32),
    /// The bounds of integers, per kind.
    pub(super) bounds: Box<[(i64, i64)]>,
    /// How each blank is read.
    pub(super) readers: Box<[BlankReader]>,
    /// The number of slots needed.
    pub(super) slots: usize,
    /// The bytes of heap needed.
    pub(super) heap: usize,
}

/// How a blank is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlankReader {
    Double,
    Float,
    Integer,
    Text,
    /// Between `"`.
    Quoted,
    /// Between `'`.
    Single,
    Uri,
    DateTime,
    Other,
}

impl BlankReader {
    fn is_string(self) -> bool {
        use BlankReader::{DateTime, Quoted, Single, Text, Uri};
        matches!(self, Text | Quoted | Single | Uri | DateTime)
    }
}

/// How many bytes can be read after the end of each piece.
pub(super) const BEYOND: usize = 32;

impl Form {
    /// The most blanks of a form that can be filled.
    pub const MAX_BLANKS: usize = 64;

    /// A form with these blanks and, after the last, the text at this offset and of this length. `None` if a piece is not
    /// within `pieces`, or a filling is not among `fillings`.
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
        let mut readers = Vec::with_capacity(blanks.len());
        for blank in &blanks {
            let mut reader = fillings.get(blank.kind as usize)?.reader();
            if reader.is_string() && (blank.width as usize) < WIDEST {
                reader = BlankReader::Other;
            }
            if reader.is_string() {
                heap = heap.max(blank.heap as usize + WIDEST);
            }
            slots = slots.max(blank.slot as usize + 1);
            readers.push(reader);
        }
        pieces.extend_from_slice(&[0; BEYOND]);
        Some(Self {
            pieces: pieces.into(),
            blanks: blanks.into(),
            tail,
            bounds: fillings.iter().map(|filling| filling.bounds()).collect(),
            readers: readers.into(),
            slots,
            heap,
        })
    }

    /// The blanks, in document order.
    pub fn blanks(&self) -> &[Blank] {
        &self.blanks
    }

    /// The text before a blank of this form.
    #[inline]
    pub fn piece(&self, blank: &Blank) -> &[u8] {
        self.bytes_at((blank.piece, blank.length))
    }

    /// The text after the last blank.
    #[inline]
    pub fn tail(&self) -> &[u8] {
        self.bytes_at(self.tail)
    }

    #[inline]
    fn bytes_at(&self, (from, length): (u32, u32)) -> &[u8] {
        let from = from as usize;
        self.pieces
            .get(from..from + length as usize)
            .unwrap_or_default()
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.pieces.len()
            + size_of_val(&*self.blanks)
            + size_of_val(&*self.bounds)
            + size_of_val(&*self.readers)
    }
}

/// The kind of value that fills a blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// A number.
    Number(Number),
    /// `xs:string` and similar types: any text, unchanged.
    Text,
    /// The same, as an attribute value in these quotes.
    Quoted(u8),
    /// `xs:anyURI`.
    Uri,
    /// `xs:dateTime`.
    DateTime,
    /// Any other kind.
    Other,
}

impl Filling {
    fn reader(self) -> BlankReader {
        match self {
            Self::Number(Number::Double) => BlankReader::Double,
            Self::Number(Number::Float) => BlankReader::Float,
            Self::Number(Number::Signed { .. } | Number::Unsigned { .. }) => BlankReader::Integer,
            Self::Text => BlankReader::Text,
            Self::Quoted(b'"') => BlankReader::Quoted,
            Self::Quoted(b'\'') => BlankReader::Single,
            Self::Uri => BlankReader::Uri,
            Self::DateTime => BlankReader::DateTime,
            Self::Quoted(_) | Self::Other => BlankReader::Other,
        }
    }

    /// The bounds of an integer.
    fn bounds(self) -> (i64, i64) {
        match self {
            Self::Number(number) => number.bounds(),
            _ => (0, 0),
        }
    }
}

/// Strings that are filled in have at most this many bytes, and have this much space in the heap.
pub const WIDEST: usize = 64;

/// The result of filling the blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Whether all pieces of text are the expected ones: the text has the form if the values are valid.
    pub is_same: bool,
    /// The blanks that were not filled because the slow path must decide: a bit each, the first lowest.
    pub undecided: u64,
}

/// Given lengths of values, one byte each.
#[derive(Clone, Copy, Debug)]
pub struct LengthBytes<'l> {
    /// The length of each value, plus `zero`.
    pub bytes: &'l [u8],
    /// The byte that means a length of 0.
    pub zero: u8,
}

/// Where the values of a form go.
#[derive(Debug)]
pub struct FillTarget<'t> {
    /// The slots of all values.
    pub slots: &'t mut [u64],
    /// The heap for the strings.
    pub heap: &'t mut [u8],
}
