//! Chunk overlay: an array larger than memory is written into a few chunks, which are used again and again.
//!
//! ```text
//! chunk    </item><item>1.5</item><item>2.25</item><item>…      written, sent, and when the transport releases it:
//!          </item><item>-3.75</item><item>4</item><item>…       the same chunk again
//! ```
//!
//! The text around the array is a [`Frame`]. Rows come from an iterator, or from a source that can say *not yet*. Some
//! hundred numbers are collected, never more than fill a chunk, and written at once. While a chunk is being sent, another
//! one is used, so there are as many chunks as the transport holds.
//!
//! Stuffed rows ([`Layout::Stuffed`]) all have the same length, so the length of the message follows from the number of
//! rows. For plain rows only an upper bound is known; the rest can be filled with white space behind the message. (Chiu,
//! Govindaraju, Bramley: Investigating the limits of SOAP performance)

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bsoap_codec::frame::Frame;
use bsoap_codec::plan::LeafKind;
use bytes::Bytes;

mod block;
mod number;
mod row;

use block::{Block, Ending};

pub use number::Number;
pub use row::{Cells, Row};

/// The approximate size of a chunk, in bytes.
const CHUNK: usize = 32 << 10;
/// White space for the end of a message.
static SPACES: [u8; CHUNK] = [b' '; CHUNK];

/// How rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Each number has the length of its lexical form.
    #[default]
    Plain,
    /// Each number is padded to the longest lexical form of its type.
    Stuffed,
}

/// Why rows cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverlayError {
    /// The array's rows are made of other numbers.
    Rows {
        /// How many numbers a row of the array has.
        expected: usize,
        /// How many the given rows have.
        found: usize,
    },
    /// A number outside the range of the array's type.
    Range {
        /// The number of the row, from 0.
        row: u64,
    },
    /// Another number of rows than was announced.
    Count {
        /// The number announced.
        expected: u64,
        /// The number of rows given; if there were more than announced, one more than that.
        found: u64,
    },
}

impl fmt::Display for OverlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { expected, found } if expected != found => {
                write!(
                    f,
                    "a row of the array has {expected} numbers, found {found}"
                )
            }
            Self::Rows { .. } => f.write_str("the array has numbers of other types"),
            Self::Range { row } => write!(
                f,
                "row {row} has a number out of the range of the array's type"
            ),
            Self::Count { expected, found } => {
                write!(f, "expected {expected} rows, found {found}")
            }
        }
    }
}

impl std::error::Error for OverlayError {}

/// What a source of rows returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Offer<R> {
    /// A row.
    Row(R),
    /// Nothing at the moment.
    Later,
    /// No more rows.
    End,
}

/// The next piece of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text to be sent.
    Text(Bytes),
    /// Nothing can be sent yet: the source returned [`Offer::Later`].
    Later,
    /// The message is complete.
    End,
}

/// A message with an array that is written while it is sent.
#[derive(Debug)]
pub struct Overlay {
    frame: Frame,
    layout: Layout,
    /// The rows collected for the next write.
    block: Block,
    /// The chunks, the one sent longest ago first.
    chunks: VecDeque<Arc<Vec<u8>>>,
    step: SendStep,
    rows: u64,
    /// The number of rows that must come.
    expected: Option<u64>,
    sent: u64,
    /// The length up to which white space is added.
    padded_to: u64,
}

/// The last part of the message that has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendStep {
    Nothing,
    Before,
    Rows,
    After,
}

impl Overlay {
    /// An overlay of the rows in this frame.
    pub fn new(frame: Frame, layout: Layout) -> Self {
        Self {
            block: Block::new(&frame, layout),
            layout,
            frame,
            chunks: VecDeque::new(),
            step: SendStep::Nothing,
            rows: 0,
            expected: None,
            sent: 0,
            padded_to: 0,
        }
    }

    /// The length of a message with this number of stuffed rows in bytes; for plain rows, the greatest length.
    pub fn upper_bound(&self, rows: u64) -> u64 {
        let ends = self.frame.before().len() + self.frame.after().len();
        (self.frame.row_width() as u64)
            .saturating_mul(rows)
            .saturating_add(ends as u64)
    }

    /// Announces the number of rows. Returns the length of the message in bytes. Stuffed rows must have exactly this
    /// number; plain rows at most this number, and white space behind the message fills up the length.
    pub fn announce(&mut self, rows: u64) -> u64 {
        let length = self.upper_bound(rows);
        self.expected = Some(rows);
        if self.layout == Layout::Plain {
            self.padded_to = length;
        }
        length
    }

    /// Checks that rows of this type fit the array.
    ///
    /// # Errors
    /// [`OverlayError::Rows`] if they are not.
    pub fn check<R: Row>(&self) -> Result<(), OverlayError> {
        let kinds: Vec<LeafKind> = self.frame.cells().iter().map(|cell| cell.kind).collect();
        if R::fits(&kinds) {
            return Ok(());
        }
        Err(OverlayError::Rows {
            expected: kinds.len(),
            found: R::NUMBERS,
        })
    }

    /// The next piece of the message. A chunk ends where it is full, and where the source has nothing at the moment.
    ///
    /// # Errors
    /// If a row does not fit, or there are more or fewer rows than announced. The message then remains incomplete.
    pub fn next<R: Row>(
        &mut self,
        mut source: impl FnMut() -> Offer<R>,
    ) -> Result<Piece, OverlayError> {
        let text = match self.step {
            SendStep::Nothing => {
                self.check::<R>()?;
                self.step = SendStep::Before;
                Bytes::copy_from_slice(self.frame.before())
            }
            SendStep::Before => match self.fill(&mut source)? {
                Piece::End => {
                    self.step = SendStep::Rows;
                    self.end()?
                }
                Piece::Later => return Ok(Piece::Later),
                Piece::Text(text) => text,
            },
            SendStep::Rows => self.end()?,
            SendStep::After if self.sent < self.padded_to => {
                let left = (self.padded_to - self.sent).min(SPACES.len() as u64);
                Bytes::from_static(&SPACES[..left as usize])
            }
            SendStep::After => return Ok(Piece::End),
        };
        self.sent += text.len() as u64;
        Ok(Piece::Text(text))
    }

    /// The pieces with the rows of an iterator.
    pub fn pieces<I>(mut self, rows: I) -> impl Iterator<Item = Result<Bytes, OverlayError>>
    where
        I: IntoIterator<Item: Row>,
    {
        let mut rows = rows.into_iter();
        let mut failed = false;
        std::iter::from_fn(move || {
            if failed {
                return None;
            }
            match self.next(|| rows.next().map_or(Offer::End, Offer::Row)) {
                Ok(Piece::Text(text)) => Some(Ok(text)),
                Ok(Piece::Later | Piece::End) => None,
                Err(error) => {
                    failed = true;
                    Some(Err(error))
                }
            }
        })
    }

    /// The number of rows written so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The memory of the chunks, in bytes.
    pub fn memory(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.capacity()).sum()
    }

    /// Writes rows until a chunk is full.
    fn fill<R: Row>(
        &mut self,
        source: &mut impl FnMut() -> Offer<R>,
    ) -> Result<Piece, OverlayError> {
        // The type of the rows may differ from that of the last call.
        self.check::<R>()?;
        let before = self.rows;
        let mut most = self.block.rows();
        let mut chunk = None;
        let ending = loop {
            let (rows, ending) = self.block.gather(most, source);
            self.rows += rows as u64;
            if ending == Ending::Bad {
                return Err(OverlayError::Range { row: self.rows });
            }
            if rows > 0 {
                let chunk = chunk.get_or_insert_with(|| free_chunk(&mut self.chunks, &self.block));
                let text = Arc::get_mut(chunk).expect("a free chunk is nobody else's");
                self.block.write(rows, text);
                most = self.block.fit(text);
            }
            if ending != Ending::Full || most == 0 {
                break ending;
            }
        };
        let Some(chunk) = chunk else {
            return Ok(match ending {
                Ending::Later => Piece::Later,
                _ => Piece::End,
            });
        };
        if ending == Ending::End {
            // The source is not asked again after it has said that there are no more rows.
            self.step = SendStep::Rows;
        }
        if let Some(expected) = self.expected.filter(|&expected| self.rows > expected) {
            let found = expected + 1;
            return Err(OverlayError::Count { expected, found });
        }
        self.chunks.push_back(Arc::clone(&chunk));
        // The first chunk does not begin with the end of a row.
        let begin = if before == 0 {
            self.frame.last().len()
        } else {
            0
        };
        Ok(Piece::Text(Bytes::from_owner(Chunk(chunk)).slice(begin..)))
    }

    /// Returns the end of the last row and the text behind the array.
    fn end(&mut self) -> Result<Bytes, OverlayError> {
        self.step = SendStep::After;
        if let Some(expected) = self.expected
            && self.layout == Layout::Stuffed
            && expected != self.rows
        {
            let found = self.rows;
            return Err(OverlayError::Count { expected, found });
        }
        let last = if self.rows == 0 {
            &[]
        } else {
            self.frame.last()
        };
        Ok([last, self.frame.after()].concat().into())
    }
}

/// An empty chunk: the oldest one if it is no longer being sent, otherwise a new one.
fn free_chunk(chunks: &mut VecDeque<Arc<Vec<u8>>>, block: &Block) -> Arc<Vec<u8>> {
    if let Some(mut chunk) = chunks.pop_front() {
        if let Some(text) = Arc::get_mut(&mut chunk) {
            text.clear();
            return chunk;
        }
        chunks.push_front(chunk);
    }
    Arc::new(Vec::with_capacity(block.chunk()))
}

/// A chunk that is being sent; it can be used again when the transport has dropped it.
struct Chunk(Arc<Vec<u8>>);

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bsoap_codec::plan::{
        Content, ElementDef, ElementId, ParticleDef, PlanBuilder, Role, TermDef, TypeDef, TypeId,
        UNBOUNDED,
    };
    use bsoap_codec::{Plan, Record, Value, build, encode};
    use bsoap_datatypes::{Datatype, SimpleType};

    use super::*;

    /// `{double item*}` or `{{int x, int y, double v} item*}`.
    fn plan(is_struct: bool) -> (Arc<Plan>, ElementId) {
        let mut builder = PlanBuilder::default();
        let ty = |builder: &mut PlanBuilder, content: Content| {
            let id = builder.reserve_type();
            let def = TypeDef {
                name: None,
                attributes: Vec::new(),
                any_attribute: None,
                content,
                alternatives: Vec::new(),
                base: None,
                is_abstract: false,
            };
            builder.define_type(id, def);
            id
        };
        let element = |builder: &mut PlanBuilder, name: &str, ty: TypeId| {
            let name = builder.name("", name);
            builder.element(ElementDef {
                name,
                ty,
                nillable: false,
                is_abstract: false,
                default: None,
                fixed: None,
                role: Role::Application,
            })
        };
        let sequence = |builder: &mut PlanBuilder, max: u32, elements: &[ElementId]| {
            let children = elements.iter().map(|&element| {
                let term = TermDef::Element(element);
                let min = u32::from(max == 1);
                builder.particle(ParticleDef { min, max, term })
            });
            let term = TermDef::Sequence(children.collect());
            let (min, max) = (1, 1);
            Content::Particle(builder.particle(ParticleDef { min, max, term }))
        };
        let simple = |builder: &mut PlanBuilder, datatype| {
            let leaf = builder.leaf(&SimpleType::builtin(datatype));
            ty(builder, Content::Simple(leaf))
        };
        let (int, double) = (
            simple(&mut builder, Datatype::Int),
            simple(&mut builder, Datatype::Double),
        );
        let row = if is_struct {
            let fields = [("x", int), ("y", int), ("v", double)]
                .map(|(name, ty)| element(&mut builder, name, ty));
            let content = sequence(&mut builder, 1, &fields);
            ty(&mut builder, content)
        } else {
            double
        };
        let item = element(&mut builder, "item", row);
        let content = sequence(&mut builder, UNBOUNDED, &[item]);
        let root = ty(&mut builder, content);
        let root = element(&mut builder, "array", root);
        (Arc::new(builder.finish().expect("a plan")), root)
    }

    fn frame(is_struct: bool) -> Frame {
        let (plan, root) = plan(is_struct);
        let record = build(
            &plan,
            root,
            &Value::object([("item", Value::Array(vec![]))]),
        );
        Frame::around(&record.expect("a record"), "item").expect("a frame")
    }

    fn doubles(count: usize) -> Vec<f64> {
        (0..count).map(|i| (i * i) as f64 / 7.0 - 3.0).collect()
    }

    fn encoded(values: &[f64]) -> Vec<u8> {
        let (plan, root) = plan(false);
        let value = Value::object([("item", Value::from(values.to_vec()))]);
        let record: Record = build(&plan, root, &value).expect("a record");
        let mut text = Vec::new();
        encode(&record, &mut text).expect("written");
        text
    }

    fn joined(overlay: Overlay, rows: impl IntoIterator<Item: Row>) -> Vec<u8> {
        let pieces: Result<Vec<Bytes>, _> = overlay.pieces(rows).collect();
        pieces.expect("written").concat()
    }

    /// The text without the spaces that stuffing left.
    fn unstuffed(text: &[u8]) -> Vec<u8> {
        let text = String::from_utf8(text.to_vec()).expect("UTF-8");
        let (prolog, rest) = text.split_once("?>").expect("a declaration");
        format!("{prolog}?>{}", rest.replace(' ', "")).into_bytes()
    }

    #[test]
    fn rows_laid_over_one_another_are_the_text_of_the_whole_array() {
        for count in [0, 1, 2, 3, 800, 5000] {
            let values = doubles(count);
            let text = encoded(&values);
            let plain = Overlay::new(frame(false), Layout::Plain);
            assert!(joined(plain, &values) == text, "{count} plain");
            let stuffed = Overlay::new(frame(false), Layout::Stuffed);
            let length = stuffed.upper_bound(count as u64);
            let found = joined(stuffed, values.iter().copied());
            assert_eq!(found.len() as u64, length);
            assert!(unstuffed(&found) == text, "{count} stuffed");
        }
    }

    #[test]
    fn an_announced_length_is_kept_by_white_space_behind_the_message() {
        for (announced, count) in [(0, 0), (10, 3), (3000, 3000), (9000, 1)] {
            let values = doubles(count);
            let mut overlay = Overlay::new(frame(false), Layout::Plain);
            let length = overlay.announce(announced);
            let found = joined(overlay, &values);
            assert_eq!(found.len() as u64, length);
            assert_eq!(found.trim_ascii_end(), encoded(&values));
        }
    }

    #[test]
    fn rows_of_structs_keep_their_numbers_apart() {
        let rows = [(1, -2, 0.5), (i32::MIN, i32::MAX, -f64::MIN_POSITIVE)];
        let text = joined(Overlay::new(frame(true), Layout::Plain), rows);
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(
            text.ends_with(
                "<array><item><x>1</x><y>-2</y><v>0.5</v></item><item><x>-2147483648</x>\
                 <y>2147483647</y><v>-2.2250738585072014e-308</v></item></array>"
            ),
            "{text}"
        );
        let stuffed = joined(Overlay::new(frame(true), Layout::Stuffed), rows);
        assert_eq!(unstuffed(&stuffed), unstuffed(text.as_bytes()));
    }

    #[test]
    fn chunks_that_have_left_are_written_over_and_others_are_not() {
        let values = doubles(100_000);
        let text = encoded(&values);
        for held in [0, 5] {
            let mut overlay = Overlay::new(frame(false), Layout::Plain);
            let mut rows = values.iter();
            let mut sending = VecDeque::new();
            let mut sent = Vec::new();
            while let Piece::Text(piece) = overlay
                .next(|| rows.next().map_or(Offer::End, Offer::Row))
                .expect("written")
            {
                sending.push_back(piece);
                if sending.len() > held {
                    sent.extend_from_slice(&sending.pop_front().expect("one"));
                }
            }
            assert!(overlay.memory() <= (held + 1) * (CHUNK + 1024), "{held}");
            sending
                .iter()
                .for_each(|piece| sent.extend_from_slice(piece));
            assert!(sent == text, "{held} held");
        }
    }

    #[test]
    fn a_source_that_has_nothing_yet_is_asked_again() {
        let values = doubles(10);
        let mut offers: Vec<Offer<f64>> = vec![Offer::Later];
        for &value in &values {
            offers.extend([Offer::Row(value), Offer::Later, Offer::Later]);
        }
        offers.push(Offer::End);
        let mut offers = offers.into_iter();
        let mut overlay = Overlay::new(frame(false), Layout::Plain);
        let mut text = Vec::new();
        loop {
            match overlay.next(|| offers.next().expect("nobody asks after the end")) {
                Ok(Piece::Text(piece)) => text.extend_from_slice(&piece),
                Ok(Piece::Later) => {}
                Ok(Piece::End) => break,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(text == encoded(&values));
    }

    #[test]
    fn rows_of_another_kind_number_or_range_are_refused() {
        let error = |mut pieces: &mut dyn Iterator<Item = Result<Bytes, OverlayError>>| {
            (&mut pieces)
                .find_map(Result::err)
                .expect("an error")
                .to_string()
        };
        let overlay = || Overlay::new(frame(true), Layout::Plain);
        assert_eq!(
            error(&mut overlay().pieces([1.5])),
            "a row of the array has 3 numbers, found 1"
        );
        assert_eq!(
            error(&mut overlay().pieces([(1, 2.5, 3)])),
            "the array has numbers of other types"
        );
        assert_eq!(
            error(&mut overlay().pieces([(1_i64, 2_i64, 0.5), (1, 1 << 31, 0.5)])),
            "row 1 has a number out of the range of the array's type"
        );
        for layout in [Layout::Plain, Layout::Stuffed] {
            let mut short = Overlay::new(frame(false), layout);
            short.announce(1);
            assert_eq!(
                error(&mut short.pieces([1.5, 2.5])),
                "expected 1 rows, found 2"
            );
        }
        let mut long = Overlay::new(frame(false), Layout::Stuffed);
        long.announce(3);
        assert_eq!(error(&mut long.pieces([1.5])), "expected 3 rows, found 1");
    }
}
