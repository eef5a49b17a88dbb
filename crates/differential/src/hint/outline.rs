//! The outline of a message: the lengths of its values, and a digest that identifies the text between them.
//!
//! ```text
//! slots   ABSENT │ PRESENT │ 2 │ value value │ BRANCH │ value │ …        all but values: what was decided on the way
//!         └────────── digested ┘  └ lengths ┘ └ digested ┘
//! ```
//!
//! With the same Plan, root, options and slots that are not values, the text between the values is the same. An outline is
//! therefore made from slots, not from text. Consecutive values add nothing to the digest.

use bsoap_codec::Record;
use bsoap_codec::encode::{LeafRef, Places, Rows};

use super::block::LengthWriter;

/// The outline of a message, recorded while the message is encoded.
#[derive(Debug, Default)]
pub(super) struct Outline {
    lengths: LengthWriter,
    /// The number of values written so far.
    pub(super) values: usize,
    /// A digest of all slots that are not values. If it is equal for two messages with the same Plan, root and options, the
    /// text between their values is equal too, unless somebody constructed a collision.
    pub(super) structure: u64,
}

impl Outline {
    /// The lengths of messages with more values are not recorded; the receiver searches for the ends of their values.
    pub(super) const MAX_LENGTHS: usize = 48;

    /// The lengths of all values in the form of the block; empty if there are more than [`MAX_LENGTHS`](Self::MAX_LENGTHS)
    /// values.
    pub(super) fn lengths(&self) -> &[u8] {
        match self.values <= Self::MAX_LENGTHS {
            true => self.lengths.text(),
            false => &[],
        }
    }

    /// Counts a value of this length.
    #[inline(always)]
    pub(super) fn push(&mut self, length: usize) {
        self.values += 1;
        if self.values <= Self::MAX_LENGTHS {
            self.lengths.push(length);
        }
    }

    /// Adds a word to the digest.
    fn digest(&mut self, word: u64) {
        let mixed = (self.structure ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.structure = mixed ^ mixed >> 32;
    }
}

/// Records the outline of a message from the values that the encoder reports.
pub(super) struct OutlineRecorder<'r> {
    record: &'r Record,
    /// The slot after the last value recorded.
    next: usize,
    outline: &'r mut Outline,
}

impl<'r> OutlineRecorder<'r> {
    pub(super) fn new(record: &'r Record, outline: &'r mut Outline) -> Self {
        outline.lengths.clear();
        (outline.values, outline.structure) = (0, 0);
        Self {
            record,
            next: 0,
            outline,
        }
    }

    /// Adds the slots between the last value and this slot to the digest.
    #[inline(always)]
    fn digest_before(&mut self, slot: usize) {
        if self.next < slot {
            self.digest(slot);
        }
    }

    /// Adds the slots up to this one to the digest.
    #[inline(never)]
    fn digest(&mut self, slot: usize) {
        let slots = self.record.slots().get(self.next..slot);
        for &value in slots.unwrap_or_default() {
            self.outline.digest(value);
        }
    }

    /// Adds the slots after the last value to the digest.
    pub(super) fn finish(mut self) {
        self.digest(self.record.slots().len());
    }
}

impl Places for OutlineRecorder<'_> {
    #[inline(always)]
    fn value(&mut self, slot: usize, _: usize, length: usize, _: usize, _: LeafRef) {
        self.digest_before(slot);
        self.next = slot + 1;
        self.outline.push(length);
    }

    /// The text of a kept fragment is part of the structure, but its place in the heap is not.
    #[cold]
    fn hidden(&mut self, slot: usize) {
        self.digest_before(slot);
        self.next = slot + 1;
        let slots = self.record.slots();
        let text = slots.get(slot).map(|&slot| self.record.octets(slot));
        let (words, rest) = text.unwrap_or_default().as_chunks();
        self.outline.digest(text.unwrap_or_default().len() as u64);
        words
            .iter()
            .for_each(|&word| self.outline.digest(u64::from_le_bytes(word)));
        rest.iter()
            .for_each(|&byte| self.outline.digest(byte.into()));
    }

    #[inline]
    fn wanted_numbers(&self) -> usize {
        Outline::MAX_LENGTHS.saturating_sub(self.outline.values)
    }

    #[inline]
    fn rows(&mut self, rows: Rows<'_>) {
        self.digest_before(rows.slot);
        self.next = rows.slot + rows.numbers;
        for &length in rows.lengths {
            self.outline.push(length.into());
        }
        self.outline.values += rows.numbers - rows.lengths.len();
    }
}

#[cfg(test)]
mod tests {
    use bsoap_codec::encode::Encoder;
    use bsoap_codec::{DecodeOptions, Decoder};
    use bsoap_testkit::message::{Style, message};
    use bsoap_testkit::plan::random_plan;
    use bsoap_testkit::random::Random;

    use super::super::block::Lengths;
    use super::super::writer::ValueLocations;
    use super::*;

    /// The text around values.
    fn around(text: &[u8], values: &[(usize, usize)]) -> Vec<Vec<u8>> {
        let mut from = 0;
        let mut around = Vec::new();
        for &(offset, length) in values {
            around.push(text[from..offset].to_vec());
            from = offset + length;
        }
        around.push(text[from..].to_vec());
        around
    }

    #[test]
    fn an_outline_has_the_lengths_that_values_have_and_distinguishes_structures() {
        let (mut same, mut other, mut given) = (0, 0, 0);
        for seed in 0..150 {
            let random = &mut Random::new(seed);
            let (plan, root) = random_plan(seed);
            let mut decoder = Decoder::new(plan.clone(), DecodeOptions::default());
            let mut outline = Outline::default();
            let mut known: Vec<(u64, usize, Vec<Vec<u8>>)> = Vec::new();
            for _ in 0..12 {
                let style = Style {
                    gap: "",
                    noise: 10,
                    size: *random.pick(&[3, 10, 60, 200]),
                };
                let message = message(&plan, root, random, style);
                let Ok(record) = decoder.decode(root, message.as_bytes()) else {
                    continue;
                };
                let (mut text, mut again) = (Vec::new(), Vec::new());
                let mut recorder = OutlineRecorder::new(&record, &mut outline);
                Encoder::default()
                    .encode_with(&record, &mut text, &mut recorder)
                    .unwrap_or_else(|error| panic!("{error}"));
                recorder.finish();
                let mut values = ValueLocations::default();
                Encoder::default()
                    .encode_with(&record, &mut again, &mut values)
                    .unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(text, again, "seed {seed}");
                assert_eq!(outline.values, values.0.len(), "seed {seed}");
                if values.0.len() <= Outline::MAX_LENGTHS {
                    let lengths = Lengths::new(outline.lengths());
                    assert!(
                        lengths.eq(values.0.iter().map(|value| value.1)),
                        "seed {seed}: {outline:?} {:?}",
                        values.0
                    );
                    given += 1;
                }
                let found = around(&text, &values.0);
                for (structure, slots, around) in &known {
                    if *structure == outline.structure && *slots == record.slots().len() {
                        assert_eq!(*around, found, "seed {seed}");
                        same += 1;
                    } else {
                        other += 1;
                    }
                }
                known.push((outline.structure, record.slots().len(), found));
            }
        }
        assert!(
            same > 100 && other > 100 && given > 100,
            "{same} {other} {given}"
        );
    }
}
