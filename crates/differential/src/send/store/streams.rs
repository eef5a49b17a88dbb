//! The streams of a store. Most messages are of the stream of the one before, or go back to it: that is asked first, and
//! costs a compare.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::Stream;
use super::known::Known;
use super::mix::Mix;

/// What is known of streams.
#[derive(Debug, Default)]
pub(super) struct Streams {
    all: Vec<Known>,
    /// Which of them a stream is.
    numbers: HashMap<Stream, usize, BuildHasherDefault<Mix>>,
    /// The one asked for last.
    recent: usize,
}

impl Streams {
    /// What is known of a stream.
    #[inline]
    pub(super) fn of(&mut self, stream: Stream) -> Option<&mut Known> {
        let number = self.number(stream)?;
        self.all.get_mut(number)
    }

    /// The same. Of so many streams at most something is known: if this one is new the one used longest ago is forgotten,
    /// and returned.
    #[inline]
    pub(super) fn of_or_new(
        &mut self,
        stream: Stream,
        most: usize,
        structures: usize,
    ) -> (&mut Known, Option<Known>) {
        let mut forgotten = None;
        let number = match self.number(stream) {
            Some(number) => number,
            None => {
                forgotten = self.bound(most);
                self.add(Known::new(stream, structures))
            }
        };
        (&mut self.all[number], forgotten)
    }

    #[inline]
    fn number(&mut self, stream: Stream) -> Option<usize> {
        let is_recent = |known: &Known| known.stream == stream;
        if !self.all.get(self.recent).is_some_and(is_recent) {
            self.recent = *self.numbers.get(&stream)?;
        }
        Some(self.recent)
    }

    fn add(&mut self, known: Known) -> usize {
        self.recent = self.all.len();
        self.numbers.insert(known.stream, self.recent);
        self.all.push(known);
        self.recent
    }

    /// Forgets the stream used longest ago if there is no room for one more.
    fn bound(&mut self, most: usize) -> Option<Known> {
        if self.all.len() < most.max(1) {
            return None;
        }
        let by_age = self.all.iter().enumerate();
        let oldest = by_age.min_by_key(|(_, known)| known.last_used)?.0;
        let forgotten = self.all.swap_remove(oldest);
        self.numbers.remove(&forgotten.stream);
        if let Some(moved) = self.all.get(oldest) {
            self.numbers.insert(moved.stream, oldest);
        }
        Some(forgotten)
    }

    /// All that are known.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Known> {
        self.all.iter()
    }

    /// The same, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Known> {
        self.all.iter_mut()
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Bytes held, without templates and what was looked at.
    pub(super) fn memory(&self) -> usize {
        self.all.capacity() * size_of::<Known>()
            + self.numbers.capacity() * size_of::<(Stream, usize)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(operation: u32) -> Stream {
        Stream {
            endpoint: 0,
            root: bsoap_codec::plan::ElementId(0),
            operation,
        }
    }

    #[test]
    fn the_stream_used_longest_ago_goes_and_all_others_are_found() {
        let mut streams = Streams::default();
        let mut gone = Vec::new();
        for operation in 0..10 {
            let (known, forgotten) = streams.of_or_new(stream(operation), 4, 1);
            known.last_used = operation.into();
            gone.extend(forgotten.map(|known| known.stream.operation));
            if let Some(known) = streams.of(stream(2)) {
                known.last_used = 100;
            }
        }
        assert_eq!(gone, [0, 1, 3, 4, 5, 6]);
        let left: Vec<u32> = (0..10)
            .filter(|&at| streams.of(stream(at)).is_some())
            .collect();
        assert_eq!(left, [2, 7, 8, 9]);
        for at in left {
            assert_eq!(
                streams.of(stream(at)).map(|known| known.stream.operation),
                Some(at)
            );
        }
        assert_eq!(streams.len(), 4);
    }
}
