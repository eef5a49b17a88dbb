//! What must be true of a template after every operation, for tests and fuzzing.

use bsoap_codec::encode::{LeafRef, PieceEncoder, Places, State};
use bsoap_codec::{Encoder, Record};

use super::leaves::{Columns, Leaves, Place, Segment};
use super::policy::Stuffing;
use super::template::{Chunk, Template};

/// Where the values of a piece stand when it is encoded afresh without pads.
#[derive(Default)]
struct Fresh(Vec<(usize, usize, usize)>);

impl Places for Fresh {
    fn value(&mut self, slot: usize, offset: usize, length: usize, _: usize, _: LeafRef) {
        self.0.push((slot, offset, length));
    }
}

impl Template {
    /// Panics unless every entry of the Index points exactly at the lexical form of its value, pads are
    /// white space, all else is the markup that a fresh encoding of the values gives, and each chunk's
    /// state is the encoder's there. It costs many times what encoding does.
    #[doc(hidden)]
    pub fn assert_consistent(&self) {
        let Some(record) = self.record() else {
            assert_eq!((self.length(), self.chunks().len()), (0, 0), "empty");
            return;
        };
        let length: usize = self.chunks().map(<[u8]>::len).sum();
        assert_eq!(self.length(), length as u64, "the length is known");
        let chunks = self.chunks_for_check();
        for (number, chunk) in chunks.iter().enumerate() {
            let next = chunks.get(number + 1).map(|next| &next.state);
            self.check_chunk(record, chunk, next);
        }
        if self.policy().stuffing == Stuffing::None {
            let mut fresh = Vec::new();
            Encoder::new(*self.options())
                .encode(record, &mut fresh)
                .expect("it was encoded before");
            assert!(
                fresh == self.text(),
                "not what a fresh encoding gives:\n{}\n{}",
                String::from_utf8_lossy(&fresh),
                String::from_utf8_lossy(&self.text())
            );
        }
    }

    fn check_chunk(&self, record: &Record, chunk: &Chunk, next: Option<&State>) {
        let mut encoder = PieceEncoder::resume(record, chunk.state.clone(), *self.options())
            .expect("a chunk's state is one of its message");
        let (mut fresh, mut text) = (Fresh::default(), Vec::new());
        let mut run = |until: Option<&State>, size: usize| {
            let mut told = Fresh::default();
            let begin = text.len();
            encoder
                .run(&mut text, size, until, &(), &mut told)
                .expect("it was encoded before");
            let told = told.0.into_iter();
            fresh
                .0
                .extend(told.map(|(slot, offset, length)| (slot, begin + offset, length)));
            encoder.state().clone()
        };
        // Among occurrences without slots the encoder stops at none in particular.
        let state = match next {
            Some(next) if !next.agrees(next) => loop {
                let state = run(None, 1);
                if state == *next || state.slot() > next.slot() || state.is_end() {
                    break state;
                }
            },
            _ => run(next, usize::MAX),
        };
        assert_eq!(state, *encoder.state());
        match next {
            Some(next) => assert_eq!(encoder.state(), next, "the next chunk's state"),
            None => assert!(encoder.state().is_end()),
        }
        assert_eq!(
            chunk.state.slot() + chunk.slots,
            encoder.state().slot(),
            "slots of the chunk"
        );
        let mut first = 0;
        for segment in &chunk.segments {
            assert_eq!(segment.first, first, "segments follow one another");
            first += segment.slots();
            check_table(segment);
        }
        assert_eq!(first, chunk.slots, "segments have all slots");
        let mut placed = fresh.0.iter();
        let mut expected = Vec::new();
        let mut copied = 0;
        for (slot, place) in places(chunk) {
            let &(fresh_slot, offset, length) = placed.next().expect("a value");
            assert_eq!(slot, fresh_slot, "slots with a place");
            expected.extend_from_slice(&text[copied..offset]);
            assert_eq!(expected.len(), place.offset, "offset of slot {slot}");
            let is_strided = place.length == usize::MAX;
            assert!(
                is_strided || place.length == length,
                "length of slot {slot}"
            );
            assert!(place.width >= length, "width of slot {slot}");
            copied = offset + length + place.close;
            expected.extend_from_slice(&text[offset..copied]);
            expected.resize(expected.len() + place.width - length, b' ');
        }
        assert!(placed.next().is_none(), "all values have places");
        expected.extend_from_slice(&text[copied..]);
        assert!(
            expected == chunk.text.bytes(),
            "the text of a chunk:\n{}\n{}",
            String::from_utf8_lossy(&expected),
            String::from_utf8_lossy(chunk.text.bytes())
        );
    }
}

fn check_table(segment: &Segment) {
    if let Leaves::Table(table) = &segment.leaves
        && let Columns::Dense {
            offsets,
            lengths,
            widths,
        } = &table.columns
    {
        assert_eq!(offsets.len(), lengths.len());
        assert!(widths.is_empty() || widths.len() == offsets.len());
        assert_eq!(offsets.len() % table.cells.len(), 0);
    }
}

/// All slots that have places; offsets count from the chunk's start. Where the length is not known it
/// is the largest number.
fn places(chunk: &Chunk) -> impl Iterator<Item = (usize, Place)> + '_ {
    chunk.segments.iter().flat_map(move |segment| {
        let is_strided = matches!(&segment.leaves, Leaves::Table(table) if table.is_strided());
        (0..segment.slots()).filter_map(move |index| {
            let mut place = segment.place(index)?;
            place.offset += segment.start;
            if is_strided {
                place.length = usize::MAX;
            }
            Some((chunk.state.slot() + segment.first + index, place))
        })
    })
}
