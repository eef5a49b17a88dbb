//! Handles changes of structure: elements that are inserted or removed, optional elements that appear or disappear, and
//! choices that change. The text is encoded again from the start of the chunk with the change up to the start of a later
//! chunk; the chunks from there on are kept.
//!
//! ```text
//! old   │ A │ B │ C │ D │           state at the start of each chunk
//! new   │ A │ b+ins… │ C │ D │      the encoder goes on from B's state and stops in the state it
//!                    │             did before C: same instruction, same open elements, same declarations
//! ```
//!
//! Which chunk that is, and before which slot of the new message it goes, is estimated from the values: those behind an
//! insertion are the same, moved by a number of slots. A wrong estimate costs time but is never wrong in its result: the
//! encoder stops only where its state agrees, and a chunk is kept only if its markers are the same and its loops go on, or
//! end, as before. (A count whose loop ends in a later chunk changes no text of this one.)

use std::collections::VecDeque;

use bsoap_codec::encode::{PieceEncoder, State, Stop};

use super::chunk::{Chunk, ChunkText, encode_piece};
use super::compare::{Delta, Values};
use super::needle::{Needle, is_same};
use super::patch::Outcome;
use super::update::{Failure, Update, values};

/// This number of later chunks is tried one by one; further ones at growing distances.
const NEAR: usize = 8;
/// The number of slots of a chunk that are compared to estimate whether it is the same.
const SAMPLE: usize = 32;

/// How long to wait before values are searched at other slots again. The wait doubles each time nothing is found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BackOff {
    wait: u32,
    next: u32,
}

impl BackOff {
    const LONGEST: u32 = 1024;

    pub(crate) fn is_out(&mut self) -> bool {
        if self.wait == 0 {
            return true;
        }
        self.wait -= 1;
        false
    }

    pub(crate) fn note(&mut self, found: bool) {
        if found {
            *self = Self::default();
        } else {
            self.next = (self.next * 2).clamp(1, Self::LONGEST);
            self.wait = self.next;
        }
    }
}

/// Changes the chunks from number `from` on to those of the new message.
pub(crate) fn restructure(
    change: &mut Update<'_>,
    chunks: &mut Vec<Chunk>,
    from: usize,
) -> Result<(), Failure> {
    let todo: VecDeque<Chunk> = chunks.drain(from..).collect();
    let Some(here) = todo.front().map(|chunk| chunk.state.clone()) else {
        return Ok(());
    };
    let (old, new) = (values(change.old), values(change.new));
    let mut walk = Walk {
        change,
        old,
        new,
        shift: 0,
        dropped: ChunkText::default(),
        here: Some(here),
        todo,
        done: chunks,
        delta: 0,
    };
    walk.run()
}

/// Where to stop encoding: before the chunk at `index` of `todo`, at slot `slot` of the new message.
#[derive(Clone, Copy, Debug)]
struct StopBefore {
    index: usize,
    slot: usize,
}

/// Whether a chunk can be kept.
enum Verdict {
    Kept,
    /// No: its structure has changed.
    Changed,
    /// No: most of its values have changed, or it would be too long.
    Reencode,
    /// No: few of its values match here, but those of a later old chunk were found at another slot. The new text is
    /// encoded up to that slot.
    Moved(StopBefore),
}

struct Walk<'w, 'c> {
    change: &'w mut Update<'c>,
    old: Values<'c>,
    new: Values<'c>,
    /// The old chunks that have not been handled.
    todo: VecDeque<Chunk>,
    done: &'w mut Vec<Chunk>,
    /// The encoder's state in the new message; `None` at the end.
    here: Option<State>,
    /// By how many slots the values have moved, as last known.
    shift: isize,
    /// The text of a dropped chunk, kept to use its memory.
    dropped: ChunkText,
    delta: Delta,
}

impl Walk<'_, '_> {
    /// At the beginning of each round of the loop, the encoder's state agrees with that of the first chunk in `todo`.
    fn run(&mut self) -> Result<(), Failure> {
        while let Some(here) = self.here.take() {
            let Some(front) = self.todo.front() else {
                return self.encode(here, None);
            };
            self.shift = here.slot() as isize - front.state.slot() as isize;
            let target = match self.keep(&here)? {
                Verdict::Kept => {
                    if let Some(chunk) = self.done.last_mut() {
                        chunk.state = here;
                    }
                    continue;
                }
                Verdict::Moved(target) => Some(target),
                Verdict::Reencode => self.next_chunk(),
                Verdict::Changed => self.target(&here, 1),
            };
            let target = self.drop_first(target);
            self.encode(here, target)?;
        }
        // The rest of the old message is not in the new one.
        self.todo.clear();
        Ok(())
    }

    /// Keeps the first chunk in `todo`, if possible. Returns why not, otherwise.
    fn keep(&mut self, here: &State) -> Result<Verdict, Failure> {
        let Some(mut chunk) = self.todo.pop_front() else {
            return Ok(Verdict::Changed);
        };
        let verdict = self.judge(&mut chunk, here)?;
        match verdict {
            Verdict::Kept => self.done.push(chunk),
            _ => self.todo.push_front(chunk),
        }
        Ok(verdict)
    }

    /// Patches a chunk and moves behind it, if it can be kept. Its State is still the old one.
    fn judge(&mut self, chunk: &mut Chunk, here: &State) -> Result<Verdict, Failure> {
        let (old_first, first) = (chunk.state.slot(), here.slot());
        let next = self.todo.front().map(|next| &next.state);
        let (Some(old), Some(new)) = (
            self.old.part(old_first, chunk.slots),
            self.new.part(first, chunk.slots),
        ) else {
            return Ok(Verdict::Changed);
        };
        let moved = match next {
            Some(next) => match next.moved(&chunk.state, here) {
                Some(moved) if self.loops_hold(&chunk.state, here, next, &moved) => Some(moved),
                _ => return Ok(Verdict::Changed),
            },
            None if first + chunk.slots != self.new.slots.len() => return Ok(Verdict::Changed),
            None if !self.loops_end(&chunk.state, here) => return Ok(Verdict::Changed),
            None => None,
        };
        self.change.compare(chunk, &old, &new, &mut self.delta);
        let dirty = &self.change.work.tools.dirty;
        let is_open = |&marker: &u32| {
            let count = old_first + marker as usize;
            next.is_some_and(|next| next.loops().any(|open| open.count == count))
        };
        if !dirty.markers.iter().all(is_open) {
            return Ok(Verdict::Changed);
        }
        let before = chunk.text.bytes().len() as u64;
        if !dirty.has_no_values() {
            if let Some(target) = self.better(chunk, here) {
                return Ok(Verdict::Moved(target));
            }
            if self.change.patch(chunk, &new)? == Outcome::Reencode {
                return Ok(Verdict::Reencode);
            }
        } else {
            self.change.counts.unchanged_bytes += before;
        }
        self.change.counts.kept_chunks += 1;
        self.here = moved;
        Ok(Verdict::Kept)
    }

    /// Whether all loops that are open at the start or at the end of a chunk go on or end as before.
    fn loops_hold(&self, from: &State, here: &State, next: &State, moved: &State) -> bool {
        let count = |values: Values<'_>, slot: usize| values.slots.get(slot).copied();
        // Loops that are open at the end must have another occurrence in the new message.
        let go_on = moved
            .loops()
            .all(|open| count(self.new, open.count).is_some_and(|count| open.done < count));
        let same_ends = from.loops().zip(here.loops()).all(|(old, new)| {
            let is_open = next.loops().any(|open| open.count == old.count);
            is_open || self.same_rest(old.count, old.done, new.count, new.done)
        });
        go_on && same_ends
    }

    /// Whether all loops end in the last chunk as before.
    fn loops_end(&self, from: &State, here: &State) -> bool {
        from.loops()
            .zip(here.loops())
            .all(|(old, new)| self.same_rest(old.count, old.done, new.count, new.done))
    }

    /// Whether two loops have the same number of occurrences left.
    fn same_rest(&self, old: usize, old_done: u64, new: usize, new_done: u64) -> bool {
        let left = |values: Values<'_>, slot: usize, done: u64| {
            values
                .slots
                .get(slot)
                .and_then(|count| count.checked_sub(done))
        };
        let old = left(self.old, old, old_done);
        old.is_some() && old == left(self.new, new, new_done)
    }

    /// Where to stop if only values have changed: before the second chunk in `todo`.
    fn next_chunk(&self) -> Option<StopBefore> {
        let next = self.todo.get(1)?;
        let slot = next.state.slot().checked_add_signed(self.shift)?;
        Some(StopBefore { index: 1, slot })
    }

    /// Adds an encoded chunk.
    fn push(&mut self, chunk: Chunk) {
        // Absent elements have slots but no text.
        if chunk.slots > 0 || !chunk.text.bytes().is_empty() {
            self.done.push(chunk);
            self.change.counts.encoded_chunks += 1;
        }
    }

    /// Encodes chunks of the new message from `here` on, up to the target or the end.
    fn encode(&mut self, here: State, target: Option<StopBefore>) -> Result<(), Failure> {
        let (record, policy) = (self.change.new, self.change.policy);
        let mut target = target;
        let mut encoder = PieceEncoder::resume(record, here, self.change.options)?;
        loop {
            let until = target.and_then(|target| {
                let chunk = self.todo.get(target.index)?;
                Some(chunk.state.before_slot(target.slot))
            });
            let end = (self.size(target), until.as_ref());
            let text = std::mem::take(&mut self.dropped);
            let specs = &mut self.change.work.specs;
            let (chunk, stop) = encode_piece(&mut encoder, record, policy, specs, end, text)?;
            self.push(chunk);
            match (stop, target) {
                (Stop::End, _) => return Ok(()),
                (Stop::Until, Some(target)) => {
                    self.todo.drain(..target.index);
                    self.here = Some(encoder.into_state());
                    return Ok(());
                }
                (Stop::Size, Some(StopBefore { slot, .. })) if encoder.state().slot() < slot => {}
                _ => {
                    self.pass(encoder.state().slot());
                    target = self.target(encoder.state(), 0);
                }
            }
        }
    }

    /// Drops the first chunk in `todo`, which is encoded again, and keeps its buffers.
    fn drop_first(&mut self, target: Option<StopBefore>) -> Option<StopBefore> {
        if let Some(front) = self.todo.pop_front() {
            self.dropped = front.text;
            self.change.work.specs.recycle(front.segments);
        }
        target.map(|target| StopBefore {
            index: target.index.saturating_sub(1),
            ..target
        })
    }

    /// The size of the next chunk, in bytes.
    fn size(&self, target: Option<StopBefore>) -> usize {
        let chunks = self.change.policy.chunks;
        let Some(target) = target else {
            return chunks.initial;
        };
        let skipped = self.todo.iter().take(target.index);
        let skipped = skipped.map(|chunk| chunk.text.bytes().len());
        chunks.size_for(self.dropped.bytes().len() + skipped.sum::<usize>())
    }

    /// Drops the chunks that the encoder has passed.
    fn pass(&mut self, slot: usize) {
        let end = self.end_shift();
        while let Some(front) = self.todo.front() {
            let last = (front.state.slot() as isize + self.shift.max(end)).max(0) as usize;
            if last + front.slots >= slot {
                return;
            }
            self.todo.pop_front();
        }
    }

    /// By how many slots the values may have moved: as far as known here, as the end of the message, or as a window slides.
    fn shifts(&self) -> [isize; 3] {
        [self.shift, self.end_shift(), self.change.work.slide]
    }

    /// By how many slots the end of the message has moved.
    fn end_shift(&self) -> isize {
        self.new.slots.len() as isize - self.old.slots.len() as isize
    }

    /// Finds the first chunk from `index` on that occurs in the new message, and where.
    fn target(&mut self, here: &State, index: usize) -> Option<StopBefore> {
        let shifts = self.shifts();
        let mut index = index;
        let mut tried = 0;
        while index < self.todo.len() {
            if !self.is_small(index) {
                for shift in shifts {
                    if let Some(target) = self.at_shift(here, index, shift) {
                        return Some(target);
                    }
                }
                if tried < 2 && self.change.work.back_off.is_out() {
                    let found = self.search(here, index);
                    self.change.work.back_off.note(found.is_some());
                    if found.is_some() {
                        return found;
                    }
                }
            }
            tried += 1;
            index += 1 + tried / NEAR * tried;
        }
        None
    }

    /// Whether a chunk is too small to be worth keeping; the last one never is.
    fn is_small(&self, index: usize) -> bool {
        let length = self.todo[index].text.bytes().len();
        index + 1 < self.todo.len() && length < self.change.policy.chunks.initial / 4
    }

    /// The later old chunk whose values are here in the new message; `None` if there is none.
    fn better(&mut self, chunk: &Chunk, here: &State) -> Option<StopBefore> {
        let [_, others @ ..] = self.shifts();
        let others = others.into_iter().filter(|&shift| shift != self.shift);
        if others.clone().next().is_none() && !self.change.work.back_off.is_out() {
            return None;
        }
        let (_, same) = self.count_same(chunk, here.slot(), SAMPLE);
        if same * 2 > SAMPLE.min(chunk.slots) {
            return None;
        }
        // `chunk` has been taken out of `todo` meanwhile, but the index of a target counts it.
        let near = 0..self.todo.len().min(2);
        let mut found = others
            .flat_map(|shift| near.clone().map(move |index| (index, shift)))
            .find_map(|(index, shift)| self.at_shift(here, index, shift));
        if found.is_none() && !self.todo.is_empty() {
            found = self.search(here, 0);
            self.change.work.back_off.note(found.is_some());
        }
        let found = found?;
        let is_here =
            found.slot as isize - self.todo[found.index].state.slot() as isize == self.shift;
        (!is_here).then_some(StopBefore {
            index: found.index + 1,
            ..found
        })
    }

    /// The chunk at `index` as a target, if its values are the same when moved by `shift` slots.
    fn at_shift(&self, here: &State, index: usize, shift: isize) -> Option<StopBefore> {
        let chunk = &self.todo[index];
        let slot = chunk.state.slot().checked_add_signed(shift)?;
        if slot < here.slot() || slot + chunk.slots > self.new.slots.len() {
            return None;
        }
        if slot == here.slot() && !chunk.state.agrees(here) {
            return None;
        }
        let (seen, same) = self.count_same(chunk, slot, SAMPLE);
        (same * 4 >= seen).then_some(StopBefore { index, slot })
    }

    /// Compares about `sample` slots of a chunk with the new message from `slot` on. Returns how many were compared and how
    /// many are the same.
    fn count_same(&self, chunk: &Chunk, slot: usize, sample: usize) -> (usize, usize) {
        let step = chunk.slots.div_ceil(sample).max(1);
        let (mut seen, mut same) = (0, 0);
        for segment in &chunk.segments {
            let skip = (step - segment.first % step) % step;
            for index in (skip..segment.slots()).step_by(step) {
                let at = segment.first + index;
                let old = (self.old, chunk.state.slot() + at);
                seen += 1;
                same += usize::from(is_same(segment, index, old, (self.new, slot + at)));
            }
        }
        (seen, same)
    }

    /// Searches for the first values of the chunk at `index` in the new message, not far from here.
    fn search(&self, here: &State, index: usize) -> Option<StopBefore> {
        let chunk = &self.todo[index];
        let needle = Needle::of(chunk, self.old)?;
        let slots = self.todo.iter().take(index + 2).map(|it| it.slots);
        let near: usize = slots.sum();
        let before = needle.slot() - chunk.state.slot();
        let from = here.slot() + before;
        let to = (from + 2 * near + 64).min(self.new.slots.len());
        let slot = needle.find(self.new, from..to)? - before;
        let fits = slot > here.slot() || slot == here.slot() && chunk.state.agrees(here);
        fits.then_some(StopBefore { index, slot })
    }
}
