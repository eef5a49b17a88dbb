//! What must be true of a template after every operation.

use std::cell::Cell;

use bsoap_codec::encode::{LeafForm, LeafRef, PadPlace, PieceEncoder, Places, State, Stuffing};
use bsoap_codec::{Encoder, Record};
use bsoap_differential::send::{self, ChunkLayout, Pad, Template};

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

/// Panics unless the text of each chunk is what encoding its values to the same widths gives, its DUT table is what the
/// encoder reports then, and each chunk's state is the encoder's there. It costs many times what encoding does.
pub fn assert_consistent(template: &Template) {
    let Some(record) = template.record() else {
        assert_eq!(
            (template.length(), template.layout().count()),
            (0, 0),
            "empty"
        );
        return;
    };
    let length: usize = template.layout().map(|chunk| chunk.text.len()).sum();
    assert_eq!(template.length(), length as u64, "the length is known");
    let chunks: Vec<ChunkLayout<'_>> = template.layout().collect();
    for (number, chunk) in chunks.iter().enumerate() {
        let next = chunks.get(number + 1).map(|next| next.state);
        check_chunk(template, record, chunk, next);
    }
    if template.policy().stuffing == send::Stuffing::None {
        let mut fresh = Vec::new();
        Encoder::new(*template.options())
            .encode(record, &mut fresh)
            .expect("it was encoded before");
        assert!(
            fresh == template.text(),
            "not what a fresh encoding gives:\n{}\n{}",
            String::from_utf8_lossy(&fresh),
            String::from_utf8_lossy(&template.text())
        );
    }
}

fn check_chunk(
    template: &Template,
    record: &Record,
    chunk: &ChunkLayout<'_>,
    next: Option<&State>,
) {
    let mut encoder = PieceEncoder::resume(record, chunk.state.clone(), *template.options())
        .expect("a chunk's state is one of its message");
    let padded = chunk.values.iter().filter(|value| value.may_pad);
    let widths = Widths {
        list: padded.map(|value| value.width).collect(),
        next: Cell::new(0),
        place: match template.policy().pad {
            Pad::AfterTag => PadPlace::AfterTag,
            _ => PadPlace::Inside,
        },
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
    let mut values = values.into_iter();
    for value in &chunk.values {
        assert_eq!(
            values.next().expect("a value"),
            [value.slot, value.offset, value.length, value.width]
        );
    }
    assert!(values.next().is_none(), "all values have locations");
    assert!(
        text == chunk.text,
        "the text of a chunk:\n{}\n{}",
        String::from_utf8_lossy(&text),
        String::from_utf8_lossy(chunk.text)
    );
}
