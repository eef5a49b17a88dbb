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

use super::number::Number;

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
    pub(super) slots: usize,
    /// and so many octets of the heap.
    pub(super) heap: usize,
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
