//! What must be true of a template after every operation, for tests and fuzzing.

use std::cell::Cell;

use bsoap_codec::encode::{LeafForm, LeafRef, PadPlace, PieceEncoder, Places, State, Stuffing};
use bsoap_codec::{Encoder, Record};

use super::build::pad_place;
use super::chunk::Chunk;
use super::dut_table::Location;
use super::policy;
use super::template::Template;

/// Slot, offset, length and width of each value of a piece.
struct Values(Vec<[usize; 4]>);

impl Places for Values {
    fn value(&mut self, slot: usize, offset: usize, length: usize, width: usize, _: LeafRef) {
        self.0.push([slot, offset, length, width]);
    }
}

/// Widths for the values that may be padded, in the order of the text.
struct Widths {
    list: Vec<usize>,
    next: Cell<usize>,
    place: PadPlace,
}

impl Stuffing for Widths {
    fn width(&self, _: &LeafForm, length: usize) -> usize {
        let index = self.next.replace(self.next.get() + 1);
        self.list.get(index).copied().unwrap_or(length)
    }

    fn place(&self) -> PadPlace {
        self.place
    }
}

impl Template {
    /// Panics unless the text of each chunk is what encoding its values to the same widths gives, its DUT table is what the
    /// encoder reports then, and each chunk's state is the encoder's there. It costs many times what encoding does.
    #[doc(hidden)]
    pub fn assert_consistent(&self) {
        let Some(record) = self.record() else {
            assert_eq!((self.length(), self.chunks().len()), (0, 0), "empty");
            return;
        };
        let length: usize = self.chunks().map(<[u8]>::len).sum();
        assert_eq!(self.length(), length as u64, "the length is known");
        let chunks = &self.chunks;
        for (number, chunk) in chunks.iter().enumerate() {
            let next = chunks.get(number + 1).map(|next| &next.state);
            self.check_chunk(record, chunk, next);
        }
        if self.policy().stuffing == policy::Stuffing::None {
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
        let padded = locations(chunk).filter(|(_, location)| location.may_pad(location.length));
        let widths = Widths {
            list: padded.map(|(_, location)| location.width).collect(),
            next: Cell::new(0),
            place: pad_place(self.policy()),
        };
        let (mut values, mut text) = (Vec::new(), Vec::new());
        let mut run = |until: Option<&State>, size: usize| {
            let mut piece = Values(Vec::new());
            let begin = text.len();
            encoder
                .run(&mut text, size, until, &widths, &mut piece)
                .expect("it was encoded before");
            let piece = piece.0.into_iter();
            values.extend(
                piece.map(|[slot, offset, length, width]| [slot, begin + offset, length, width]),
            );
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
        }
        assert_eq!(first, chunk.slots, "segments have all slots");
        let mut values = values.into_iter();
        for (slot, location) in locations(chunk) {
            let value = values.next().expect("a value");
            assert_eq!(
                value,
                [slot, location.offset, location.length, location.width]
            );
        }
        assert!(values.next().is_none(), "all values have locations");
        assert!(
            text == chunk.text.bytes(),
            "the text of a chunk:\n{}\n{}",
            String::from_utf8_lossy(&text),
            String::from_utf8_lossy(chunk.text.bytes())
        );
    }
}

/// All slots that have locations; offsets count from the chunk's start.
fn locations(chunk: &Chunk) -> impl Iterator<Item = (usize, Location)> + '_ {
    chunk.segments.iter().flat_map(move |segment| {
        (0..segment.slots()).filter_map(move |index| {
            let mut location = segment.location(index)?;
            location.offset += segment.start;
            Some((chunk.state.slot() + segment.first + index, location))
        })
    })
}
