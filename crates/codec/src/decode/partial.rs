//! Partial copies of a decoder's state: what has changed since it was last copied completely.
//!
//! ```text
//! base copy      Envelope  Body  rows  row*(1)  row  seq(1)
//! now            Envelope  Body  rows  row*(4)  row  seq(2)
//!                └──── untouched ────┘ └ partial copy ────┘
//!                                    ▲ tracking pointer
//! ```
//!
//! The stack knows how many of its lowest levels have not been touched (`Frames::same`): these are the same as in the base
//! copy; others may be, too. Base copies are shared by `Arc`.

use std::sync::Arc;

use bsoap_xml::{State, Upper};

use crate::plan::Plan;
use crate::record::Record;

use super::Decoder;
use super::checkpoint::{Checkpoint, Loop, each_loop, same_frame};
use super::frame::{Frame, Frames, Machine};

/// A decoder's state, stored as its difference from a base copy.
#[derive(Clone, Debug)]
pub struct Partial {
    base: Arc<Checkpoint>,
    /// The number of levels that are the same as in the base copy.
    levels: u32,
    /// The number of elements among them.
    elements: u32,
    frames: Box<[Frame]>,
    open: Upper,
    seen: Box<[u64]>,
    offset: u64,
    /// The rest of the state, if it differs from the usual state between two tags.
    rest: Option<Box<(State, Machine)>>,
}

/// The base copy that a decoder's state is tracked against.
#[derive(Clone, Debug, Default)]
pub struct Tracked(Option<Arc<Checkpoint>>);

impl Tracked {
    /// Stops tracking.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

fn elements(frames: &[Frame]) -> usize {
    let is_element = |frame: &&Frame| matches!(frame, Frame::Element(_));
    frames.iter().filter(is_element).count()
}

impl Partial {
    /// Copies what differs from the tracked base copy. If too little is the same, a new base copy is made first.
    pub fn new(decoder: &mut Decoder, record: &Record, tracked: &mut Tracked) -> Self {
        let is_plain = decoder.reader.is_plain() && decoder.machine.is_between();
        let depth = decoder.machine.frames.len();
        let base = match &tracked.0 {
            Some(base) if 2 * decoder.machine.frames.same() >= depth => base.clone(),
            _ => {
                let base = Arc::new(decoder.checkpoint(record));
                decoder.machine.frames.watch();
                tracked.0 = Some(base.clone());
                base
            }
        };
        let machine = &decoder.machine;
        let levels = machine.frames.same().min(base.machine.frames.len());
        let shared = elements(&machine.frames[..levels]);
        let is_usual = is_plain && base.reader.is_plain() && base.machine.is_between();
        let rest = || {
            let mut reader = decoder.reader.clone();
            reader.replace_upper(0, &State::clone(&base.reader), 0, &Upper::default());
            let mut rest = machine.clone();
            rest.frames = Frames::default();
            Box::new((reader, rest))
        };
        Self {
            levels: levels as u32,
            elements: shared as u32,
            frames: machine.frames[levels..].into(),
            open: decoder.reader.upper(shared),
            seen: machine.seen.as_slice().into(),
            offset: decoder.offset(),
            rest: (!is_usual).then(rest),
            base,
        }
    }

    /// Its base copy.
    pub fn base(&self) -> &Arc<Checkpoint> {
        &self.base
    }

    /// About how many bytes it holds, without its base copy.
    pub fn memory(&self) -> usize {
        let rest = |rest: &(State, Machine)| {
            size_of::<(State, Machine)>() + rest.0.memory() + rest.1.memory()
        };
        size_of::<Self>()
            + size_of_val(&*self.frames)
            + size_of_val(&*self.seen)
            + self.open.memory()
            + self.rest.as_deref().map_or(0, rest)
    }

    /// How many levels are open.
    pub fn depth(&self) -> usize {
        self.levels as usize + self.frames.len()
    }

    fn frames(&self) -> impl Iterator<Item = &Frame> {
        let shared = self.base.machine.frames.get(..self.levels as usize);
        shared.unwrap_or_default().iter().chain(&*self.frames)
    }

    /// The open loops, outermost first.
    pub fn loops(&self, plan: &Plan) -> Vec<Loop> {
        let mut loops = Vec::new();
        for frame in self.frames() {
            each_loop(&mut frame.clone(), plan, &mut |it| loops.push(*it));
        }
        loops
    }

    /// Sets a decoder to this state: first the part that is in the base copy, then the rest. The levels that the decoder
    /// still shares with the base copy are not restored. Returns `false`, without a change, if the namespaces of the state
    /// have been forgotten.
    #[must_use]
    pub fn resume(&self, decoder: &mut Decoder, tracked: &mut Tracked) -> bool {
        let (levels, shared) = (self.levels as usize, self.elements as usize);
        if !self
            .base
            .reader
            .is_known_upper(shared, &self.open, &decoder.scopes)
        {
            return false;
        }
        let is_tracked = tracked
            .0
            .as_ref()
            .is_some_and(|base| Arc::ptr_eq(base, &self.base));
        let same = match is_tracked {
            true => decoder.machine.frames.same().min(levels),
            false => 0,
        };
        let (reader, machine) = match &self.rest {
            Some(rest) => (&rest.0, Some(&rest.1)),
            None => (&self.base.reader, None),
        };
        let kept = elements(&decoder.machine.frames[..same]);
        decoder.reader.restore_plain(reader);
        decoder
            .reader
            .replace_upper(kept, &self.base.reader, shared, &self.open);
        let mut frames = std::mem::take(&mut decoder.machine.frames);
        frames.truncate(same);
        frames.extend_from_slice(&self.base.machine.frames[same..levels]);
        frames.watch();
        frames.extend_from_slice(&self.frames);
        decoder.machine.restart(self.base.machine.root);
        if let Some(machine) = machine {
            decoder.machine.clone_from(machine);
        }
        decoder.machine.frames = frames;
        decoder.machine.seen.clear();
        decoder.machine.seen.extend_from_slice(&self.seen);
        decoder.machine.tag_end = self.offset;
        decoder.move_to(self.offset);
        tracked.0 = Some(self.base.clone());
        true
    }

    /// Whether this state agrees with the current state of a decoder, apart from the counts of loops. What both share with
    /// one base copy is not compared.
    pub fn agree(&self, decoder: &Decoder, tracked: &Tracked) -> bool {
        let (levels, shared) = (self.levels as usize, self.elements as usize);
        let machine = &decoder.machine;
        if machine.frames.len() != self.depth() {
            return false;
        }
        let is_tracked = tracked
            .0
            .as_ref()
            .is_some_and(|base| Arc::ptr_eq(base, &self.base));
        let skip = match is_tracked {
            true => machine.frames.same().min(levels),
            false => 0,
        };
        let pairs = || machine.frames.iter().zip(self.frames()).skip(skip);
        let is_rest = match &self.rest {
            None => decoder.reader.is_plain() && machine.is_between(),
            Some(rest) => {
                decoder.reader.agrees_but_for_elements(&rest.0)
                    && machine.agrees_but_for_frames(&rest.1)
            }
        };
        is_rest
            && *machine.seen == *self.seen
            && pairs().all(|(one, other)| same_frame(one, other, &decoder.plan))
            && decoder.reader.agrees_upper(
                elements(&machine.frames[..skip]),
                &self.base.reader,
                shared,
                &self.open,
                &decoder.scopes,
            )
    }

    /// Changes the loops of this state; `base` is its base copy after the same change.
    pub fn renumber(
        &mut self,
        plan: &Plan,
        base: Arc<Checkpoint>,
        mut change: impl FnMut(&mut Loop),
    ) {
        let outer = self.base.machine.frames.get(..self.levels as usize);
        // The loops of the base copy come first; they have been changed with it.
        for frame in outer.unwrap_or_default() {
            each_loop(&mut frame.clone(), plan, &mut change);
        }
        for frame in &mut *self.frames {
            each_loop(frame, plan, &mut change);
        }
        self.base = base;
    }
}
