//! Where the values of a template are, for tests and fuzzing.

use bsoap_codec::encode::State;

use super::template::Template;

/// A chunk of a template.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChunkLayout<'t> {
    /// The state of the encoder at its first byte.
    pub state: &'t State,
    /// Its text.
    pub text: &'t [u8],
    /// The number of its slots.
    pub slots: usize,
    /// Its values, in the order of the text.
    pub values: Vec<ValueLayout>,
}

/// A value of a chunk: `slot` counts from the first slot of the message, `offset` from the first byte of the chunk.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct ValueLayout {
    pub slot: usize,
    pub offset: usize,
    pub length: usize,
    pub width: usize,
    pub may_pad: bool,
}

impl Template {
    /// The chunks and the locations of their values.
    #[doc(hidden)]
    pub fn layout(&self) -> impl Iterator<Item = ChunkLayout<'_>> {
        self.chunks.iter().map(|chunk| {
            let (mut values, mut slots) = (Vec::new(), 0);
            for segment in &chunk.segments {
                debug_assert_eq!(segment.first, slots, "segments follow one another");
                let located = (0..segment.slots()).filter_map(|index| {
                    let location = segment.location(index)?;
                    Some(ValueLayout {
                        slot: chunk.state.slot() + slots + index,
                        offset: segment.start + location.offset,
                        length: location.length,
                        width: location.width,
                        may_pad: location.may_pad(location.length),
                    })
                });
                values.extend(located);
                slots += segment.slots();
            }
            debug_assert_eq!(slots, chunk.slots, "segments have all slots");
            ChunkLayout {
                state: &chunk.state,
                text: chunk.text.bytes(),
                slots,
                values,
            }
        })
    }
}
